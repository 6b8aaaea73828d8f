//! The script of the page in a real browser: charts read out by keys and pointer, series hidden,
//! tables sorted and filtered, the document saved. Skipped where there is no Chromium.

use std::path::PathBuf;
use std::process::Command;

use report::html::page;
use results::Document;

use crate::models;
use crate::sample;

/// What is done in the page; each line of what it says is `name: what was seen`.
const DEEDS: &str = r##"
(async function () {
  var said = [];
  var say = function (name, what) { said.push(name + ": " + what); };
  var key = function (e, k) { e.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true })); };
  var figure = document.querySelector("figure.chart");
  var svg = Array.from(figure.querySelectorAll("svg.plot")).find(function (s) { return s.getBoundingClientRect().width > 0; });
  var readout = function () { return figure.querySelector(".readout").textContent; };
  say("focusable", svg.tabIndex);
  svg.focus();
  key(svg, "ArrowRight"); say("first", readout());
  key(svg, "ArrowRight"); say("second", readout());
  key(svg, "End"); say("last", readout());
  key(svg, "ArrowLeft"); say("before", readout());
  say("aloud", figure.querySelector("[aria-live]").textContent);
  key(svg, "Escape"); say("hidden", figure.querySelector(".readout").hidden);
  var box = svg.getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width - 40, clientY: box.top + 50, bubbles: true }));
  say("pointer", readout());
  var button = figure.querySelector(".legend button");
  button.click();
  say("pressed", button.getAttribute("aria-pressed"));
  say("line", getComputedStyle(svg.querySelector("[data-series='0']")).display);
  key(svg, "Home"); say("without", readout());
  var table = document.querySelector(".table.long"), heads = table.querySelectorAll("thead th");
  var column = function (i) {
    return Array.from(table.querySelectorAll("tbody tr")).filter(function (r) { return !r.hidden; })
      .slice(0, 3).map(function (r) { return r.cells[i].textContent; }).join(" | ");
  };
  heads[5].querySelector("button").click();
  say("falling", heads[5].getAttribute("aria-sort") + " " + column(5));
  heads[5].querySelector("button").click();
  say("rising", heads[5].getAttribute("aria-sort") + " " + column(5));
  heads[0].querySelector("button").click();
  say("words", heads[0].getAttribute("aria-sort") + " " + column(0) + " " + heads[5].hasAttribute("aria-sort"));
  var input = table.querySelector("input");
  input.value = "RANDOM 2026-01-19"; input.dispatchEvent(new Event("input"));
  say("filtered", table.querySelector("[role=status]").textContent + " " + column(0));
  var saved = new Promise(function (resolve) { URL.createObjectURL = function (blob) { resolve(blob); return "#"; }; });
  document.querySelector("button.save").click();
  say("saved", (await (await saved).text()).slice(0, 40));
  document.body.innerHTML = "<pre id='said'></pre>";
  document.getElementById("said").textContent = said.join("\n");
}()).catch(function (e) { document.body.innerHTML = "<pre id='said'></pre>"; document.getElementById("said").textContent = "failed: " + e; });
"##;

/// The page after its scripts ran; `None` if there is no Chromium.
fn browsed(name: &str, html: &str, width: u32) -> Option<String> {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (file, profile) =
        (directory.join(format!("{name}.html")), directory.join(format!("{name}-profile")));
    std::fs::write(&file, html).unwrap();
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--virtual-time-budget=20000", "--dump-dom"])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", file.display()))
        .output();
    std::fs::remove_dir_all(&profile).ok();
    let Ok(output) = output else {
        testing::skip(&format!("report::{name}"), "chromium is not there");
        return None;
    };
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn report_page() -> String {
    let document = Document::Assessment(Box::new(sample::assessment()));
    page(&models::report(vec![document], 60)).unwrap()
}

/// The page without its policy, which would rightly refuse what the test adds to it.
fn with_deeds() -> String {
    let page = report_page();
    let (head, rest) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let (_, rest) = rest.split_once("/>").unwrap();
    format!("{head}{}", rest.replace("</body>", &format!("<script>{DEEDS}</script></body>")))
}

#[test]
fn charts_and_tables_answer_to_keys_and_pointer() {
    for (name, width) in [("deeds_wide", 1200), ("deeds_narrow", 520)] {
        let Some(mut dom) = browsed(name, &with_deeds(), width) else { return };
        // On a busy machine, Chromium's virtual time may end before the script does.
        for _ in 0..4 {
            if dom.contains("id=\"said\">") {
                break;
            }
            dom = browsed(name, &with_deeds(), width).unwrap_or_default();
        }
        let said = dom.split_once("id=\"said\">").map_or(dom.as_str(), |(_, said)| said);
        for wanted in [
            "focusable: 0",
            "first: 1IOPS (left)10 000 IOPS (9 700 IOPS to 10 300 IOPS)mean latency (right)100 \
             µsp99 latency (right)176 µs",
            "second: 2IOPS (left)20 000 IOPS",
            "last: 32IOPS (left)80 000 IOPS",
            "before: 16",
            "aloud: 16: IOPS (left) 80 000 IOPS (77 600 IOPS to 82 400 IOPS), mean latency \
             (right) 200 µs",
            "hidden: true",
            "pointer: 32",
            "pressed: false",
            "line: none",
            "without: 1mean latency (right)100 µs",
            "falling: descending 1 162 s | 1 162 s | 387 s",
            "rising: ascending 1 µs | ",
            "words: ascending 4 KiB random read 0 | 4 KiB random read 6 | 4 KiB random read 12 \
             false",
            "filtered: 1 of 60 128 KiB random read 59",
            "saved: {\"schema\":\"iosonde.assessment/1\"",
        ] {
            assert!(
                said.contains(wanted),
                "`{wanted}` was not seen at {width}:\n{}",
                said.chars().take(4000).collect::<String>()
            );
        }
    }
}

#[test]
fn the_policy_lets_the_script_of_the_page_run() {
    let Some(dom) = browsed("policy", &report_page(), 1200) else { return };
    assert!(dom.contains("aria-pressed=\"true\""), "the legend has buttons");
    assert!(dom.contains("Filter rows"), "the long table has a filter");
}
