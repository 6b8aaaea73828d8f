// Keeps "Compare" for two ticks or more. Without this, the server says so.
"use strict";
const form = document.getElementById("two");
if (form) {
  const button = form.querySelector("button");
  const boxes = [...document.querySelectorAll('input[name="with"]')];
  const look = () => { button.disabled = boxes.filter((box) => box.checked).length < 2; };
  // A page that comes back from the browser's memory keeps its ticks.
  addEventListener("pageshow", look);
  for (const box of boxes) box.addEventListener("change", look);
  look();
}
// Rows that do not have the words are hidden while one types; ticked ones stay. "Find" asks the
// server, which knows older results too.
const choose = document.getElementById("choose");
if (choose) {
  const search = choose.querySelector('[name="find"]');
  const rows = [...choose.querySelectorAll("tbody tr")];
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const ticked = row.querySelector("input:checked");
      row.hidden = !ticked && !words.every((word) => text.includes(word));
    }
  });
}
for (const form of document.querySelectorAll("form")) {
  // Addresses without empty fields are easier to read and to keep.
  form.addEventListener("submit", () => {
    const fields = [...form.querySelectorAll("input, select")].filter((field) => field.name && !field.value);
    for (const field of fields) field.disabled = true;
    setTimeout(() => { for (const field of fields) field.disabled = false; });
  });
}
