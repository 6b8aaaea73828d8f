//! The pages of `iosonde serve` in a real browser: opened, filtered, sorted, compared, and a run
//! watched to its end.

mod chromium;
mod command;
mod program;
mod reports;

use chromium::Browser;
use program::Served;

/// Widths of a desk and of a phone.
const DESK: (u32, u32) = (1200, 900);
const PHONE: (u32, u32) = (390, 844);

/// The page on a desk and on a phone, light and dark.
#[track_caller]
fn look_everywhere(browser: &mut Browser, name: &str) {
    for (size, (width, height)) in [("desk", DESK), ("phone", PHONE)] {
        for (colours, dark) in [("light", false), ("dark", true)] {
            browser.show_as(width, height, dark);
            browser.look(&format!("{name}-{size}-{colours}"));
        }
    }
    browser.show_as(DESK.0, DESK.1, false);
}

/// The words of a column of the list.
fn column(browser: &mut Browser, label: &str) -> Vec<String> {
    let script = format!(
        "[...document.querySelectorAll('.list td[data-label=\"{label}\"]')].map(td => \
         td.innerText.trim())"
    );
    let values = browser.eval(&script);
    values.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

#[test]
fn results_are_found_sorted_shown_and_compared() {
    if !chromium::is_there("results_are_found_sorted_shown_and_compared") {
        return;
    }
    let served = Served::with_samples();
    let mut browser = Browser::start();
    browser.open(&served.url);
    look_everywhere(&mut browser, "list");
    let all = column(&mut browser, "Load").len();
    assert!(all >= 4, "{all} results");

    // Filter by the form, as a user does.
    browser.eval("document.querySelector('summary').click()");
    browser.follow(
        "document.querySelector('[name=kind]').value = 'knee'; document.querySelector('.search \
         button').click()",
    );
    assert!(browser.text("location.search").starts_with("?kind=knee"), "empty fields are left out");
    assert_eq!(column(&mut browser, "Kind"), ["knee"]);
    look_everywhere(&mut browser, "filtered");
    browser.follow("document.querySelector('.search .quiet').click()");
    assert_eq!(column(&mut browser, "Load").len(), all);

    // Sort by a column, both ways.
    let sort = "[...document.querySelectorAll('.list thead a')].find(a => a.textContent === 'Best \
                IOPS').click()";
    let figures = "[...document.querySelectorAll('.list td[data-label=\"Best IOPS\"]')].map(td => \
                   Number(td.textContent.replace(/[^0-9.]/g, '')))";
    for (way, sign) in [("descending", -1.0), ("ascending", 1.0)] {
        browser.follow(sort);
        let iops: Vec<f64> = serde_json::from_value(browser.eval(figures)).unwrap();
        assert!(iops.windows(2).all(|w| sign * (w[1] - w[0]) >= 0.0), "{way}: {iops:?}");
        let said =
            browser.text("document.querySelector('.list th[aria-sort]').getAttribute('aria-sort')");
        assert_eq!(said, way);
    }

    // One result.
    browser.open(&format!("{}?kind=knee", served.url));
    browser.follow("document.querySelector('.when a').click()");
    browser.until("document.querySelectorAll('main svg').length > 0");
    look_everywhere(&mut browser, "result");

    // Two compared, by their ticks.
    browser.open(&format!("{}?kind=run", served.url));
    assert_eq!(browser.eval("document.querySelector('#two button').disabled"), true);
    browser.eval(
        "[...document.querySelectorAll('.tick input')].slice(0, 2).forEach(box => box.click())",
    );
    assert_eq!(browser.eval("document.querySelector('#two button').disabled"), false);
    browser.follow("document.querySelector('#two button').click()");
    look_everywhere(&mut browser, "compared");
    assert!(browser.text("document.querySelector('main').innerText").contains("IOPS"));
    browser.is_content();
}

#[test]
fn every_kind_of_result_is_shown() {
    if !chromium::is_there("every_kind_of_result_is_shown") {
        return;
    }
    let served = Served::with_samples();
    let mut browser = Browser::start();
    browser.open(&served.url);
    let offered = "Array.from(document.querySelector('select[name=kind]').options, o => o.value)";
    let offered = browser.eval(offered);
    let offered: Vec<&str> =
        offered.as_array().unwrap().iter().filter_map(|o| o.as_str()).collect();
    assert_eq!(offered.join(" ").trim(), results::kind_words().join(" "));
    for kind in ["run", "assess", "knee", "sweep", "sizes", "scale"] {
        browser.open(&format!("{}?kind={kind}", served.url));
        assert!(!column(&mut browser, "Kind").is_empty(), "no {kind}");
        browser.follow("document.querySelector('.when a').click()");
        assert!(
            browser.eval("document.querySelectorAll('main table, main svg').length") != 0,
            "{kind}"
        );
        browser.show_as(PHONE.0, PHONE.1, false);
        browser.look(&format!("kind-{kind}-phone"));
        browser.show_as(DESK.0, DESK.1, false);
        browser.look(&format!("kind-{kind}-desk"));
    }
    browser.open(&format!("{}trends", served.url));
    look_everywhere(&mut browser, "trends");
    browser.is_content();
}

#[test]
fn the_pages_work_without_script() {
    if !chromium::is_there("the_pages_work_without_script") {
        return;
    }
    let served = Served::with_samples();
    let mut browser = Browser::start();
    browser.call("Emulation.setScriptExecutionDisabled", &serde_json::json!({ "value": true }));
    browser.open(&format!("{}?kind=run", served.url));
    assert!(column(&mut browser, "Load").len() >= 2);
    browser.follow("document.querySelector('.when a').click()");
    assert!(browser.text("document.querySelector('main').innerText").contains("IOPS"));
    browser.is_content();
}

#[test]
fn a_run_is_watched_to_its_end_by_two() {
    if !chromium::is_there("a_run_is_watched_to_its_end_by_two") {
        return;
    }
    let served = Served::with_samples();
    let (mut one, mut other) = (Browser::start(), Browser::start());
    let mut run = served.start_run();
    one.open(&served.url);
    while one.eval("document.querySelectorAll('.running a').length") == 0 {
        assert!(run.goes_on(), "the run is over and was never seen");
        std::thread::sleep(std::time::Duration::from_millis(100));
        one.open(&served.url);
    }
    look_everywhere(&mut one, "list-running");
    one.follow("document.querySelector('.running a').click()");
    let address = one.text("location.href");
    other.open(&address);
    for browser in [&mut one, &mut other] {
        browser.until("document.querySelectorAll('#throughput path.reads').length > 0");
        browser.until("document.querySelector('#now-iops').textContent !== '–'");
    }
    one.until(
        "document.querySelector('#throughput path.reads').getAttribute('d').split('L').length > 2",
    );
    look_everywhere(&mut one, "live");
    // However long all of that took: the run ends when it was seen.
    run.interrupt();
    for browser in [&mut one, &mut other] {
        browser.until("document.querySelector('#result') !== null");
    }
    assert_eq!(run.exit_code(), Some(130));
    look_everywhere(&mut one, "live-over");
    one.follow("document.querySelector('#result').click()");
    assert!(one.text("location.pathname").starts_with("/result/"));
    assert!(one.text("document.querySelector('main').innerText").contains("IOPS"));
    one.is_content();
    other.is_content();
}

#[test]
fn with_a_token_the_browser_gets_in_by_the_address_or_the_form() {
    if !chromium::is_there("with_a_token_the_browser_gets_in_by_the_address_or_the_form") {
        return;
    }
    let served = Served::with_token("a-token-of-22-letters!");
    let mut browser = Browser::start();
    browser.open(&served.url);
    look_everywhere(&mut browser, "token");
    let refused = browser.complaints();
    assert!(refused.iter().all(|c| c.contains("401")), "{refused:?}");
    browser.follow(
        "document.querySelector('[name=token]').value = 'a-token-of-22-letters!'; \
         document.querySelector('form button').click()",
    );
    assert_eq!(browser.text("location.search"), "", "the token leaves the address");
    assert!(column(&mut browser, "Load").len() >= 4);
    assert_eq!(browser.text("document.cookie"), "", "no script sees the cookie");
    browser.open(&format!("{}result/latest", served.url));
    browser.is_content();
}
