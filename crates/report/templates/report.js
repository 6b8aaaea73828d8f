(function () {
  "use strict";
  var save = document.getElementById("save");
  save.hidden = false;
  save.addEventListener("click", function () {
    var text = document.getElementById("iosonde-assessment").textContent;
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    link.download = save.dataset.name;
    link.click();
    URL.revokeObjectURL(link.href);
  });

  function compare(a, b) {
    var x = a === undefined ? NaN : Number(a), y = b === undefined ? NaN : Number(b);
    if (isNaN(x)) { return isNaN(y) ? 0 : 1; }
    return isNaN(y) ? -1 : y - x;
  }

  function sort(table, column, heading) {
    var rising = heading.getAttribute("aria-sort") === "descending";
    var body = table.tBodies[0], rows = Array.from(body.rows);
    var numbers = heading.classList.contains("n");
    rows.sort(function (a, b) {
      var x = a.cells[column], y = b.cells[column];
      if (numbers) {
        var order = compare(x.dataset.key, y.dataset.key);
        return rising ? -order : order;
      }
      var words = x.textContent.localeCompare(y.textContent, "en", { numeric: true });
      return rising ? words : -words;
    });
    Array.from(heading.parentNode.cells).forEach(function (h) { h.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
    rows.forEach(function (row) { body.appendChild(row); });
  }

  Array.from(document.querySelectorAll("table.sortable")).forEach(function (table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (heading, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      button.title = "Sort by this column";
      heading.textContent = "";
      heading.appendChild(button);
      button.addEventListener("click", function () { sort(table, column, heading); });
    });
  });
}());
