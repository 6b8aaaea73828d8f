//! A history that is a PostgreSQL database.

use serde_json::{Value, json};
use testing::program::{code, stderr, stdout};

use super::server::server;
use super::{NULL, Site};

/// The result of a fleet is in the database, with what every host measured, and everybody reads it
/// from there.
#[test]
fn the_result_of_a_fleet_is_in_a_database() {
    let site = Site::new();
    let database = server().database();
    let url = server().url("127.0.0.1", &database);
    let history = ["--history", url.as_str()];
    let run = [&NULL[..], &["--seconds", "1", "--json"], &history].concat();
    let output = site.run("a,b", &run);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let id = document["id"].as_str().unwrap();
    let said = |args: &[&str]| site.place.json(&[args, &history].concat());
    assert_eq!(said(&["history", "show", id]), document);
    let knee = ["/x", "--engine", "null", "--threads", "1", "--from", "2", "--to", "2"];
    let short = ["--seconds", "0.5", "--settle", "0", "--think", "1ms"];
    let found = site.search("knee", "a,b", &[&knee[..], &short, &history].concat());
    assert_eq!(said(&["history", "show", found["id"].as_str().unwrap()]), found);
    let listed = said(&["history", "list"]);
    let listed = listed["results"].as_array().unwrap();
    let kinds: Vec<&Value> = listed.iter().map(|entry| &entry["kind"]).collect();
    assert_eq!(kinds, [&json!("knee"), &json!("fleet")]);
    assert_eq!(listed[1]["best_in_flight"], 2);
    // Other programs read it as well, and the password is nowhere in it.
    let count =
        server().psql(&database, "SELECT count(*) FROM iosonde.experiments WHERE kind = 'fleet'");
    assert_eq!(count, "1");
    assert!(!document.to_string().contains("word"), "{document}");
}
