//! `iosonde baseline`, on simulated devices. What the unit of systemd starts is in `units.rs`.

use testing::Place;
use testing::program::DISKS;

use crate::cli::program::{fails, place, stdout, succeeds};

const SHORT: [&str; 4] = ["--pace", "quick", "--size", "1G"];

fn baseline(place: &Place, more: &[&str]) -> String {
    let output = place.run(&[&["baseline", "--quiet"], &SHORT[..], &DISKS, more].concat());
    succeeds(&output);
    stdout(&output)
}

#[test]
fn each_target_has_a_baseline_of_its_own() {
    let place = place();
    assert!(baseline(&place, &["/a"]).contains("/a: 5 results are the baseline"));
    assert!(baseline(&place, &["/b"]).contains("/b: 5 results are the baseline"));
    assert!(baseline(&place, &["/a"]).starts_with("/a: "));
    assert_eq!(place.list(&["--tag", "baseline"]).len(), 10);
    assert_eq!(place.list(&[]).len(), 11, "what is compared is recorded, without the tag");
    let compared = place.json(&[&["baseline", "--quiet"], &SHORT[..], &DISKS, &["/b"]].concat());
    assert_eq!(compared["schema"], "iosonde.comparison/1");
    assert_eq!(compared["a"]["results"].as_array().unwrap().len(), 5);
    assert_eq!(compared["b"]["targets"][0], "/b");
}

#[test]
fn a_new_baseline_replaces_the_one_of_its_target() {
    let place = place();
    baseline(&place, &["/a", "--tag", "weekly"]);
    baseline(&place, &["/b", "--tag", "weekly"]);
    let ids = |target: &str| -> Vec<String> {
        let tagged = place.list(&["--tag", "weekly", "--target", target]);
        tagged.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
    };
    let (a, b) = (ids("/a"), ids("/b"));
    assert!(baseline(&place, &["/a", "--tag", "weekly", "--renew"]).contains("@weekly"));
    assert!(ids("/a").len() == 5 && ids("/a").iter().all(|id| !a.contains(id)));
    assert_eq!(ids("/b"), b, "the other target keeps its baseline");
}

#[test]
fn a_baseline_that_cannot_be_used_is_not_compared_in_silence() {
    let place = place();
    fails(&place.run(&["baseline"]), 2, "name a directory");
    fails(&place.run(&["baseline", "/a", "--tag", ""]), 2, "tag");
    let dry = place.run(&[&["baseline", "/a", "--dry-run"], &SHORT[..], &DISKS].concat());
    succeeds(&dry);
    assert!(stdout(&dry).contains("no real target is touched"));
}
