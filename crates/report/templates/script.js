(function () {
  "use strict";
  var SVG = "http://www.w3.org/2000/svg";

  // Figures as the rest of the page writes them.
  function grouped(text) { return text.replace(/\B(?=(\d{3})+$)/g, " "); }
  function number(v) {
    var size = Math.abs(v);
    if (!isFinite(v)) { return "–"; }
    if (size >= 1e15) { return v.toExponential(3); }
    if (size >= 99.95) { return (v > 0 ? "" : "-") + grouped(size.toFixed(0)); }
    if (size >= 9.995) { return String(Number(v.toFixed(1))); }
    if (size >= 0.005 || v === 0) { return String(Number(v.toFixed(2))); }
    return String(Number(v.toPrecision(2)));
  }
  function scaled(v, steps) {
    var size = Math.abs(v), i = 0;
    while (steps.length - 1 > i && size >= steps[i][0]) { i += 1; }
    return number(v / steps[i][1]) + " " + steps[i][2];
  }
  var TIME = [[999.5, 1, "ns"], [999500, 1e3, "µs"], [999500000, 1e6, "ms"], [0, 1e9, "s"]];
  var SIZE = [[1024, 1, "B"], [1048576, 1024, "KiB"], [1073741824, 1048576, "MiB"],
    [1099511627776, 1073741824, "GiB"], [0, 1099511627776, "TiB"]];
  function show(unit, v) {
    if (!isFinite(v)) { return "–"; }
    switch (unit) {
      case "iops": return number(v) + " IOPS";
      case "mib": return number(v) + " MiB/s";
      case "percent": return number(v) + " %";
      case "ns": return scaled(v, TIME);
      case "bytes": return scaled(v, SIZE);
      case "s": return number(v) + " s";
      case "moment":
        var date = new Date(v * 1000);
        return isNaN(date) ? "–" : date.toISOString().slice(0, 19).replace("T", " ") + " UTC";
      default: return number(v);
    }
  }

  function make(name, attributes, parent) {
    var element = document.createElementNS(SVG, name);
    Object.keys(attributes).forEach(function (key) { element.setAttribute(key, attributes[key]); });
    parent.appendChild(element);
    return element;
  }
  function html(name, parent, className, text) {
    var element = document.createElement(name);
    if (className) { element.className = className; }
    if (text !== undefined) { element.textContent = text; }
    parent.appendChild(element);
    return element;
  }
  function figures(text) {
    return text ? text.split(" ").map(function (t) { return t === "-" ? NaN : Number(t); }) : [];
  }

  // A function from a figure to its share of an axis, of "linear 0 100" or "log 1 64".
  function ruler(text) {
    var words = text.split(" "), log = words[0] === "log";
    var turned = function (v) { return log ? Math.log(v) : v; };
    var from = turned(Number(words[1])), to = turned(Number(words[2]));
    return function (v) { return (turned(v) - from) / (to - from); };
  }

  function readSeries(figure) {
    var items = Array.from(figure.querySelectorAll(".legend > li")), first = null;
    return items.map(function (item) {
      var x = item.hasAttribute("data-x") ? figures(item.dataset.x) : first;
      first = first || x;
      return {
        item: item, name: item.querySelector("span").textContent, unit: item.dataset.unit,
        side: Number(item.dataset.side), x: x, y: figures(item.dataset.y),
        low: figures(item.dataset.low), high: figures(item.dataset.high), on: true
      };
    });
  }

  function legend(figure, series) {
    series.forEach(function (s, index) {
      var button = document.createElement("button");
      button.type = "button";
      button.title = "Show or hide";
      button.setAttribute("aria-pressed", "true");
      while (s.item.firstChild) { button.appendChild(s.item.firstChild); }
      s.item.appendChild(button);
      button.addEventListener("click", function () {
        s.on = !s.on;
        button.setAttribute("aria-pressed", String(s.on));
        figure.querySelectorAll("[data-series=\"" + index + "\"]").forEach(function (group) {
          group.classList.toggle("off", !s.on);
        });
      });
    });
  }

  // Figures at a place of the horizontal axis: read by pointer, touch and arrow keys.
  function chart(figure) {
    var box = figure.querySelector(".plots"), series = readSeries(figure);
    if (!box || !series.length) { return; }
    var names = box.hasAttribute("data-names") ? box.dataset.names.split("¦") : null;
    var readout = null, said = null, at = -1;
    legend(figure, series);

    function places() {
      var all = [];
      series.forEach(function (s) {
        if (s.on) { s.x.forEach(function (x, i) { if (isFinite(x) && isFinite(s.y[i])) { all.push(x); } }); }
      });
      all.sort(function (a, b) { return a - b; });
      return all.filter(function (x, i) { return !i || x !== all[i - 1]; });
    }
    function label(x) { return names ? names[Math.round(x)] || number(x) : show(box.dataset.unit, x); }
    function hide() {
      at = -1;
      if (readout) { readout.hidden = true; }
      box.querySelectorAll(".cursor, .hit").forEach(function (e) { e.remove(); });
    }
    function lines(x) {
      var found = [];
      series.forEach(function (s, index) {
        var i = s.on ? s.x.indexOf(x) : -1;
        if (i >= 0 && isFinite(s.y[i])) {
          var between = s.low.length && isFinite(s.low[i]) ?
            " (" + show(s.unit, s.low[i]) + " to " + show(s.unit, s.high[i]) + ")" : "";
          found.push({ s: s, index: index, y: s.y[i], text: show(s.unit, s.y[i]) + between });
        }
      });
      return found;
    }
    function point(svg, x, found) {
      var plot = svg.dataset.plot.split(" ").map(Number), across = ruler(svg.dataset.x)(x);
      var up = svg.dataset.y.split("|").map(ruler), px = plot[0] + across * plot[2];
      make("path", { "class": "cursor", d: "M" + px + " " + plot[1] + "v" + plot[3] }, svg);
      found.forEach(function (f) {
        var share = up[f.s.side](f.y), group = svg.querySelector("[data-series=\"" + f.index + "\"]");
        if (!isFinite(share) || !group || group.querySelector(".column")) { return; }
        make("circle", { "class": "hit " + group.getAttribute("class").replace("series ", ""),
          cx: px, cy: plot[1] + (1 - share) * plot[3], r: 4.5 }, svg);
      });
      return px * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    }
    function table(x, found) {
      readout.textContent = "";
      html("strong", readout, "", label(x));
      var body = html("tbody", html("table", readout));
      found.slice(0, 16).forEach(function (f) {
        var row = html("tr", body);
        html("th", row, "", f.s.name);
        html("td", row, "", f.text);
      });
    }
    function show_at(x, aloud) {
      hide();
      var svg = visible(), found = lines(x);
      if (!svg || !found.length) { return; }
      if (!readout) {
        readout = html("div", box, "readout");
        readout.setAttribute("aria-hidden", "true");
        said = html("p", box, "sr");
        said.setAttribute("aria-live", "polite");
      }
      at = x;
      var left = point(svg, x, found);
      table(x, found);
      readout.hidden = false;
      var room = box.clientWidth, wide = readout.offsetWidth;
      var beside = left + 14 + wide > room ? left - 14 - wide : left + 14;
      readout.style.left = Math.max(0, Math.min(beside, room - wide)) + "px";
      readout.style.top = Number(svg.dataset.plot.split(" ")[1]) + "px";
      if (aloud) {
        said.textContent = label(x) + ": " + found.map(function (f) { return f.s.name + " " + f.text; }).join(", ");
      }
    }
    function visible() {
      return Array.from(box.querySelectorAll("svg.plot")).find(function (s) {
        return s.getBoundingClientRect().width > 0;
      });
    }
    function nearest(svg, event) {
      var rect = svg.getBoundingClientRect(), plot = svg.dataset.plot.split(" ").map(Number);
      var px = (event.clientX - rect.left) * svg.viewBox.baseVal.width / rect.width;
      var share = ruler(svg.dataset.x), best = null, distance = Infinity;
      places().forEach(function (x) {
        var d = Math.abs(plot[0] + share(x) * plot[2] - px);
        if (d < distance) { distance = d; best = x; }
      });
      return best;
    }
    box.querySelectorAll("svg.plot").forEach(function (svg) {
      svg.setAttribute("tabindex", "0");
      svg.setAttribute("aria-description", "Arrow keys read the figures out.");
      function moved(event) {
        var x = nearest(svg, event);
        if (x !== null && x !== at) { show_at(x, false); }
      }
      svg.addEventListener("pointermove", moved);
      svg.addEventListener("pointerdown", moved);
      svg.addEventListener("pointerleave", function (event) { if (event.pointerType === "mouse") { hide(); } });
      svg.addEventListener("blur", hide);
      svg.addEventListener("keydown", function (event) {
        var all = places(), now = all.indexOf(at), next = -1;
        switch (event.key) {
          case "ArrowRight": next = Math.min(now + 1, all.length - 1); break;
          case "ArrowLeft": next = now > 0 ? now - 1 : 0; break;
          case "Home": next = 0; break;
          case "End": next = all.length - 1; break;
          case "Escape": hide(); return;
          default: return;
        }
        event.preventDefault();
        if (all.length) { show_at(all[next], true); }
      });
    });
  }

  // Tables: sorted by a click on a heading, filtered by words.
  function key(cell) {
    if (!cell) { return NaN; }
    var text = cell.hasAttribute("data-key") ? cell.getAttribute("data-key") :
      cell.textContent.replace(/[\s%]/g, "").replace("−", "-");
    return text === "" ? NaN : Number(text);
  }
  function sort(table, column, heading) {
    var rising = heading.getAttribute("aria-sort") === "descending";
    var numbers = heading.classList.contains("n");
    if (!numbers) { rising = heading.getAttribute("aria-sort") !== "ascending"; }
    var body = table.tBodies[0];
    var rows = Array.from(body.rows).map(function (row) {
      var cell = row.cells[column];
      return { row: row, key: numbers ? key(cell) : cell ? cell.textContent : "" };
    });
    rows.sort(function (a, b) {
      if (!numbers) {
        var words = a.key.localeCompare(b.key, "en", { numeric: true });
        return rising ? words : -words;
      }
      // What is no figure stands at the end either way.
      if (isNaN(a.key) || isNaN(b.key)) { return isNaN(a.key) - isNaN(b.key); }
      return rising ? a.key - b.key : b.key - a.key;
    });
    Array.from(heading.parentNode.cells).forEach(function (h) { h.removeAttribute("aria-sort"); });
    heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
    rows.forEach(function (r) { body.appendChild(r.row); });
  }
  function sortable(table) {
    if (table.tBodies[0].rows.length > 1) {
      Array.from(table.tHead.rows[0].cells).forEach(function (heading, column) {
        var button = document.createElement("button");
        button.type = "button";
        button.title = "Sort by this column";
        while (heading.firstChild) { button.appendChild(heading.firstChild); }
        heading.appendChild(button);
        button.addEventListener("click", function () { sort(table, column, heading); });
      });
    }
  }
  function filter(holder) {
    var table = holder.querySelector("table"), line = document.createElement("p");
    line.className = "filter";
    var name = html("label", line, "", "Filter rows "), input = html("input", name);
    input.type = "search";
    input.placeholder = "words, all of them";
    var count = html("span", line, "note");
    count.setAttribute("role", "status");
    holder.insertBefore(line, holder.querySelector(".scroll"));
    var rows = Array.from(table.tBodies[0].rows);
    rows.forEach(function (row) {
      row.words = Array.from(row.cells).map(function (c) { return c.textContent; }).join(" ").toLowerCase();
    });
    input.addEventListener("input", function () {
      var words = input.value.toLowerCase().split(/\s+/), shown = 0;
      rows.forEach(function (row) {
        row.hidden = !words.every(function (word) { return row.words.includes(word); });
        shown += row.hidden ? 0 : 1;
      });
      count.textContent = input.value.trim() ? shown + " of " + rows.length : "";
    });
  }

  function save(button) {
    button.hidden = false;
    button.addEventListener("click", function () {
      var packed = atob(document.getElementById(button.dataset.document).textContent.trim());
      var bytes = Uint8Array.from(packed, function (c) { return c.charCodeAt(0); });
      var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      new Response(stream).blob().then(function (blob) {
        var link = document.createElement("a");
        link.href = URL.createObjectURL(new Blob([blob], { type: "application/json" }));
        link.download = button.dataset.name;
        link.click();
        setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
      });
    });
  }

  function enhance(root) {
    root.querySelectorAll("figure.chart").forEach(chart);
    root.querySelectorAll(".table table").forEach(sortable);
    root.querySelectorAll(".table.long").forEach(filter);
    if (window.DecompressionStream) { root.querySelectorAll("button.save").forEach(save); }
  }
  window.iosonde = { enhance: enhance, show: show };
  enhance(document);
}());
