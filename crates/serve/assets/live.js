// Draws a run as it goes: one line of text, two pictures, what happened. Events come from the server by themselves; the
// browser connects again, from the last one it got, when the connection breaks.
"use strict";
const view = document.getElementById("live");
const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 230, LEFT = 66, RIGHT = 12, TOP = 12, BOTTOM = 26;
/** Points that a picture holds; the oldest go first. */
const KEPT = 1200;
const NONE = "–";

const run = { hosts: new Map(), points: [], steps: [], time: 0, base: 0, begins: false, phase: "", left: null, step: "", of: "" };

// ------------------------------------------------------------------ figures as people read them

function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  if (size >= 99.95) return Math.round(value).toLocaleString("en").replaceAll(",", "\u2009");
  return String(Number(value.toPrecision(3)));
}
function time(ns) {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return NONE;
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) if (ns >= size) return `${number(ns / size)} ${unit}`;
  return `${number(ns)} ns`;
}
function duration(seconds) {
  const s = Math.max(0, Math.round(seconds));
  const two = (n) => String(n).padStart(2, "0");
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

// ------------------------------------------------------------------ pictures

function element(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Round figures from 0 to a little more than `top`. */
function linear(top) {
  const rough = Math.max(top, 1e-9) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough);
  const ticks = [];
  for (let i = 0; i === 0 || ticks[i - 1] < top; i++) ticks.push(i * step);
  const end = ticks[ticks.length - 1];
  return { ticks, at: (v) => v / end };
}
/** Powers of ten around all figures: latencies differ by orders of magnitude. */
function decades(figures) {
  const from = Math.floor(Math.log10(Math.max(1, Math.min(...figures))));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(1, Math.max(...figures)))));
  const ticks = [];
  for (let i = from; i <= to; i++) ticks.push(10 ** i);
  return { ticks, at: (v) => (Math.log10(Math.max(1, v)) - from) / (to - from) };
}

/** Draws the lines of `named` ([key, class]) into the picture `id`. */
function draw(id, named, scaleOf, show) {
  const svg = document.getElementById(id);
  // One unit is one pixel, so that words are as large on a phone as on a desk.
  const width = Math.max(200, svg.clientWidth);
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  const figures = named.flatMap(([key]) => run.points.map((p) => p[key])).filter((v) => Number.isFinite(v));
  if (!figures.length) return;
  const scale = scaleOf(figures);
  const first = run.points[0].from, last = run.points[run.points.length - 1].t;
  const x = (t) => LEFT + ((t - first) / Math.max(last - first, 1)) * (width - LEFT - RIGHT);
  const y = (v) => HEIGHT - BOTTOM - scale.at(v) * (HEIGHT - TOP - BOTTOM);
  const parts = [];
  for (const tick of scale.ticks) {
    parts.push(element("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick) }));
    parts.push(element("text", { class: "tick", x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, show(tick)));
  }
  for (const step of run.steps.filter((s) => s >= first)) {
    parts.push(element("line", { class: "step", x1: x(step), x2: x(step), y1: TOP, y2: HEIGHT - BOTTOM }));
  }
  for (const [t, anchor] of [[first, "start"], [last, "end"]]) {
    parts.push(element("text", { class: "tick", x: x(t), y: HEIGHT - 6, "text-anchor": anchor }, duration(t)));
  }
  for (const [key, kind] of named) {
    let path = "", open = false;
    for (const p of run.points) {
      const seen = Number.isFinite(p[key]);
      if (seen) path += `${open && !p.first ? "L" : "M"}${x(p.t).toFixed(1)} ${y(p[key]).toFixed(1)}`;
      open = seen;
    }
    parts.push(element("path", { class: kind, d: path }));
    // A single point makes no line.
    const end = run.points[run.points.length - 1];
    if (Number.isFinite(end[key])) parts.push(element("circle", { class: kind, cx: x(end.t), cy: y(end[key]), r: 3 }));
  }
  svg.replaceChildren(...parts);
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    draw("throughput", [["read_iops", "reads"], ["write_iops", "writes"]], (f) => linear(Math.max(...f)), number);
    draw("latency", [["mean_ns", "mean"], ["p99_ns", "tail"]], decades, time);
    const now = run.points[run.points.length - 1];
    const say = (id, text) => { document.getElementById(id).textContent = text; };
    say("step", run.step);
    say("of", run.of);
    say("left", run.left === null ? "" : `${duration(run.left)} left of this measurement`);
    if (!now) return;
    say("now-iops", number((now.read_iops || 0) + (now.write_iops || 0)));
    say("now-mib", number(now.mib));
    say("now-mean", time(now.mean_ns));
    say("now-p99", time(now.p99_ns));
    say("now-errors", number(run.points.reduce((sum, p) => sum + p.errors, 0)));
  });
}

// ------------------------------------------------------------------ events

const MIB = 1048576;
/** Steps that the list of what happened holds. */
const LOGGED = 200;

function log(text, kind, link) {
  const item = document.createElement("li");
  if (kind) item.className = kind;
  if (link) {
    const a = document.createElement("a");
    [a.href, a.textContent] = [link, text];
    item.append(a);
  } else item.textContent = text;
  const list = document.getElementById("log");
  list.prepend(item);
  while (list.children.length > LOGGED) list.lastChild.remove();
}
function phase(text, share) {
  if (run.phase !== text) document.getElementById("phase").textContent = run.phase = text;
  const bar = document.getElementById("progress");
  bar.hidden = share === undefined;
  if (share !== undefined) bar.value = Math.min(1, Math.max(0, share));
}
/** The mean over reads and writes, each by its rate. */
function mean(p) {
  const parts = [[p.read_iops, p.read_mean_ns], [p.write_iops, p.write_mean_ns]].filter(([rate, ns]) => rate > 0 && ns !== null);
  const rate = parts.reduce((sum, [r]) => sum + r, 0);
  return rate > 0 ? parts.reduce((sum, [r, ns]) => sum + r * ns, 0) / rate : null;
}

const told = {
  step(e) {
    run.step = `Step ${e.number} of ${e.of}:`;
    run.of = e.title;
    log(`Step ${e.number} of ${e.of}: ${e.title}`);
  },
  filling(e) {
    run.left = null;
    phase(`Writing the test file: ${number(e.done_bytes / MIB)} of ${number(e.total_bytes / MIB)} MiB`, e.done_bytes / e.total_bytes);
  },
  warming_up(e) {
    run.left = null;
    phase(`Warming up for ${number(e.seconds)} s`);
  },
  window_began(e) {
    run.base = run.time;
    run.length = run.left = e.seconds;
    if (run.time > 0) run.steps.push(run.time);
    run.begins = true;
    phase("Measuring", 0);
  },
  interval(e) {
    const p = e.point, t = (run.base || 0) + p.t;
    run.time = Math.max(run.time, t);
    run.left = e.seconds_left;
    const p99 = Math.max(p.read_p99_ns || 0, p.write_p99_ns || 0);
    run.points.push({
      t, from: t - p.seconds, first: run.begins, read_iops: p.read_iops, write_iops: p.write_iops, errors: p.errors,
      mib: p.read_mib_per_s + p.write_mib_per_s, mean_ns: mean(p), p99_ns: p99 > 0 ? p99 : null,
    });
    run.begins = false;
    if (run.points.length > KEPT) run.points.splice(0, run.points.length - KEPT);
    const all = p.t + e.seconds_left;
    phase("Measuring", all > 0 ? p.t / all : 0);
  },
  hosts(e) {
    for (const host of e.hosts) run.hosts.set(host.name, { ...host, errors: (run.hosts.get(host.name)?.errors || 0) + host.errors });
    const rows = [...run.hosts.values()].map((host) => {
      const row = document.createElement("tr");
      const figures = [number(host.iops), number(host.mib_per_s), time(host.mean_ns), time(host.max_ns), number(host.errors)];
      for (const [at, text] of [host.name, ...figures].entries()) {
        const cell = document.createElement(at ? "td" : "th");
        cell.textContent = text;
        row.append(cell);
      }
      return row;
    });
    document.querySelector("#hosts tbody").replaceChildren(...rows);
    document.getElementById("hosts").hidden = false;
  },
  window_ended() {
    run.left = null;
    phase("Measured");
  },
  measured(e) {
    log(`${e.title}: ${number(e.iops)} IOPS, ${number(e.mib_per_s)} MiB/s`);
  },
  warning(e) {
    log(e.text, "warned");
  },
};

addEventListener("resize", redraw);

const source = new EventSource(view.dataset.events);
source.onmessage = (message) => {
  const event = JSON.parse(message.data);
  // What a newer program tells and this page does not know is left out.
  if (Object.hasOwn(told, event.event)) told[event.event](event);
  redraw();
};
source.addEventListener("over", (message) => {
  source.close();
  const { sentence, link } = JSON.parse(message.data);
  run.left = null;
  phase(sentence);
  redraw();
  document.querySelector(".kicker").textContent = "Over";
  if (link) {
    log("The result", "", link);
    const a = document.createElement("a");
    [a.href, a.textContent, a.id] = [link, "Show the result", "result"];
    document.getElementById("phase").after(" ", a);
  }
});
source.onerror = () => phase(source.readyState === EventSource.CLOSED ? "The server gives no more figures; load the page again" : "The connection broke; trying again");
