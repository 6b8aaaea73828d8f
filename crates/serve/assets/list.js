// Keeps "Compare" for exactly two ticks. Without this, the server says so.
"use strict";
const form = document.getElementById("two");
if (form) {
  const button = form.querySelector("button");
  const boxes = [...document.querySelectorAll('input[name="with"]')];
  const look = () => {
    const ticked = boxes.filter((box) => box.checked);
    button.disabled = ticked.length !== 2;
    for (const box of boxes) box.disabled = ticked.length >= 2 && !box.checked;
  };
  // A page that comes back from the browser's memory keeps its ticks.
  addEventListener("pageshow", look);
  for (const box of boxes) box.addEventListener("change", look);
  look();
}
for (const form of document.querySelectorAll("form")) {
  // Addresses without empty fields are easier to read and to keep.
  form.addEventListener("submit", () => {
    const fields = [...form.querySelectorAll("input, select")].filter((field) => field.name && !field.value);
    for (const field of fields) field.disabled = true;
    setTimeout(() => { for (const field of fields) field.disabled = false; });
  });
}
