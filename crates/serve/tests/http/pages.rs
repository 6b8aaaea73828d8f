//! What the pages show, as far as it can be seen without a browser; and what they say when the
//! history cannot be read.

use std::fs;

use results::Document;

use crate::served::{Served, measurement, run, saturation};

#[test]
fn the_list_is_searched_filtered_and_sorted() {
    let served = Served::sample();
    let all = served.get("/");
    for target in ["vol7", "vol8", "vol9"] {
        all.is(200, target);
    }
    let only = served.get("/?target=vol8");
    only.is(200, "vol8");
    assert!(!only.text().contains("vol7"));
    served.get("/?text=vol9").is(200, "vol9");
    served.get("/?kind=knee").is(200, "vol9");
    assert!(!served.get("/?kind=knee").text().contains("vol8"));
    assert!(!served.get("/?block=64K").text().contains("vol7"));
    assert!(served.get("/?block=64K").text().contains("vol8"));
    served.get("/?target=nowhere").is(200, "No result");
    let place = |text: &str, word: &str| text[text.find("<tbody>").unwrap()..].find(word).unwrap();
    let (up, down) = (served.get("/?order=target").text(), served.get("/?order=-target").text());
    assert!(place(&up, "vol7") < place(&up, "vol8") && place(&up, "vol8") < place(&up, "vol9"));
    assert!(
        place(&down, "vol9") < place(&down, "vol8") && place(&down, "vol8") < place(&down, "vol7")
    );
    assert!(up.contains("aria-sort=\"ascending\"") && down.contains("aria-sort=\"descending\""));
}

#[test]
fn an_empty_history_says_how_results_get_into_it() {
    let served = Served::with(None, |_| ());
    served.get("/").is(200, "iosonde assess");
    served.get("/trends").is(200, "");
    served.get("/compare").is(200, "");
    assert_eq!(served.get("/result/latest").status, 404);
}

#[test]
fn a_result_is_shown_and_saved_in_every_format() {
    let document = saturation();
    let served = Served::with(None, |history| {
        history.add(&document).unwrap();
        history.tag(document.id(), "before-move").unwrap();
        history.note(document.id(), "new <controller>\nsecond line").unwrap();
    });
    let page = served.get(&format!("/result/{}", document.id()));
    page.is(200, "before-move");
    page.is(200, "new &#60;controller&#62;");
    page.is(200, "<svg");
    assert!(
        !page.text().contains(" style=\"") && !page.text().contains("<style"),
        "the policy forbids it"
    );
    let json = served.get(&format!("/result/{}.json", document.id()));
    assert_eq!(Document::parse(&json.text()).unwrap(), document, "lossless");
    let starts: [(&str, &[u8]); 4] =
        [("html", b"<!doctype html"), ("xlsx", b"PK"), ("csv", b""), ("md", b"<!--")];
    for (extension, start) in starts {
        let file = served.get(&format!("/result/{}.{extension}", document.id()));
        assert_eq!(file.status, 200, "{extension}");
        assert!(
            file.body.to_ascii_lowercase().starts_with(&start.to_ascii_lowercase()),
            "{extension}"
        );
        let name = file.header("content-disposition").unwrap();
        assert!(
            name.starts_with("attachment; filename=\"iosonde-") && name.contains(extension),
            "{name}"
        );
    }
    let short: String = document.id().chars().take(13).collect();
    let whole = format!("/result/{}", document.id());
    for name in [short.as_str(), "latest"] {
        assert_eq!(served.get(&format!("/result/{name}")).header("location"), Some(whole.as_str()));
    }
    served.get(&format!("/result/{}x", document.id())).is(404, "");
}

#[test]
fn what_never_came_to_its_end_shows_what_was_measured() {
    let (first, second) = (measurement("vol7", 8192), measurement("vol7", 65_536));
    let served = Served::with(None, |history| {
        let new = history::NewExperiment {
            id: "unfinished-1",
            schema: "iosonde.sweep/1",
            kind: "sweep",
            title: "two sizes",
            started: &first.started,
            plan_id: "plan",
            plan: "{}",
        };
        history.begin(&new).unwrap();
        history.keep("unfinished-1", 0, &first).unwrap();
        history.keep("unfinished-1", 1, &second).unwrap();
    });
    served.get("/").is(200, "unfinished");
    let page = served.get("/result/unfinished-1");
    page.is(200, "64 KiB random read");
    page.is(200, "never came to its end");
    served.get("/result/unfinished-1.json").is(200, "iosonde.measurement/1");
}

#[test]
fn names_from_elsewhere_are_shown_as_text() {
    let served = Served::with(None, |history| {
        history.add(&run("<img src=x onerror=alert(1)>\u{202e}&\"'", 8192)).unwrap();
    });
    for target in ["/", "/result/latest", "/compare?a=latest&b=latest", "/trends"] {
        let text = served.get(target).text();
        assert!(!text.contains("<img src=x"), "{target}");
        assert!(!text.contains('\u{202e}'), "{target}");
    }
}

#[test]
fn a_history_that_went_away_or_broke_is_named_with_its_remedy() {
    let served = Served::sample();
    served.get("/").is(200, "vol7");
    let kept = served.history.with_extension("away");
    fs::rename(&served.history, &kept).unwrap();
    until(&served, 503, "history");
    fs::write(&served.history, "not a database at all").unwrap();
    until(&served, 503, "not a history of iosonde");
    fs::rename(&kept, &served.history).unwrap();
    until(&served, 200, "vol7");
}

/// Asks until it is answered so: an open connection is good for some seconds.
#[track_caller]
fn until(served: &Served, status: u16, words: &str) {
    for _ in 0..600 {
        if served.get("/").status == status {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    served.get("/").is(status, words);
}

/// To compare results, one had to type their ids.
#[test]
fn results_are_chosen_from_a_list() {
    let (first, second, third) = (run("vol7", 8192), run("vol7", 8192), run("vol7", 8192));
    let served = Served::with(None, |history| {
        for document in [&first, &second, &third] {
            history.add(document).unwrap();
        }
        history.tag(first.id(), "before").unwrap();
    });
    let form = served.get("/compare");
    for document in [&first, &second, &third] {
        form.is(200, &format!("name=\"a\" value=\"{}\"", document.id()));
        form.is(200, &format!("name=\"b\" value=\"{}\"", document.id()));
    }
    form.is(200, "<option value=\"@before\">before, 1 result</option>");
    assert!(!served.get("/compare?find=nothing-like-it").text().contains(first.id()));
    served.get(&format!("/compare?a={}", first.id())).is(200, "Choose a second result");
    served.get(&format!("/compare?b={}", first.id())).is(200, "Choose the baseline");
    // A tag counts before the ticked baseline, which the form sends after it.
    let both = served.get(&format!("/compare?a=@before&a={}&b={}", second.id(), third.id()));
    both.is(200, "B against A");
    both.is(200, "A: @before");
    both.is(200, "<option value=\"@before\" selected>");
    // Three: the oldest is what the others are compared with.
    let ids = [third.id(), second.id(), first.id()];
    let three = served.get(&format!("/compare?with={}&with={}&with={}", ids[0], ids[1], ids[2]));
    three.is(200, "Change of C");
    three.is(200, "IOPS of each result");
    let many = (0..26).map(|n| format!("&b=x{n}")).collect::<Vec<_>>().concat();
    served.get(&format!("/compare?a={}{many}", first.id())).is(400, "at most");
}

#[test]
fn the_list_has_depth_and_latency_of_the_best_load() {
    let document = run("vol7", 8192);
    let served = Served::with(None, |history| history.add(&document).map(drop).unwrap());
    let page = served.get("/").text();
    let Document::Measurement(m) = &document else { panic!("a run") };
    let latency = m.total.latency_ns.unwrap();
    let cell = |label: &str, value: String| {
        let cell = format!("<td class=\"n\" data-label=\"{label}\">{value}</td>");
        assert!(page.contains(&cell), "{cell} in {page}");
    };
    cell("In flight", m.in_flight.to_string());
    cell("Mean", workload::show_ns(latency.mean));
    cell("p99", workload::show_ns(latency.p99.unwrap() as f64));
}
