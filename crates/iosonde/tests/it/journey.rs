//! The whole path with the program itself, on real files: sweep, history, comparison, report in
//! every format, export and import.

use std::fs;
use std::path::Path;

use serde_json::Value;
use testing::Place;

/// A sweep of eight cells in a directory, kept under a tag.
fn sweep(place: &Place, tag: &str) -> Value {
    let data = place.path("data");
    fs::create_dir_all(&data).unwrap();
    let lists =
        ["--writes", "0,100", "--patterns", "random", "--blocks", "8K,64K", "--depths", "1,2"];
    let short =
        ["--threads", "1", "--seconds", "0.3", "--warmup", "0", "--settle", "0", "--size", "16M"];
    let named = ["sweep", data.to_str().unwrap(), "--tag", tag, "--buffered", "--quiet"];
    place.json(&[&named[..], &lists, &short].concat())
}

#[test]
fn from_a_sweep_to_its_reports() {
    let place = Place::new(env!("CARGO_BIN_EXE_iosonde"));
    let first = sweep(&place, "before");
    let second = sweep(&place, "after");
    let (a, b) = (first["id"].as_str().unwrap(), second["id"].as_str().unwrap());
    assert_eq!(first["measurements"].as_array().unwrap().len(), 8);

    // The history has both, and gives back what was printed.
    let list = place.says(&["history", "list"]);
    assert!(list.contains(&a[..8]) && list.contains(&b[..8]), "{list}");
    assert_eq!(place.json(&["history", "show", "@before"]), first);

    // Two sweeps on a busy machine differ by what they differ; that they are alike in kind is sure.
    let compared = place.says(&["history", "compare", a, b]);
    assert!(compared.contains("8 KiB random read"), "{compared}");

    reports(&place, a, b);
    moved(&place, a, &first);
    assert_eq!(fs::read_dir(place.path("data")).unwrap().count(), 0, "test files are gone");
}

/// Writes the report in every format.
fn reports(place: &Place, a: &str, b: &str) {
    for (format, name) in
        [("html", "r.html"), ("xlsx", "r.xlsx"), ("csv", "r.csv"), ("markdown", "r.md")]
    {
        place.says(&["report", "@before", b, "--format", format, "--output", name]);
    }
    let html = place.text("r.html");
    assert!(
        html.starts_with("<!DOCTYPE html>") && html.contains("<svg") && html.contains("</html>")
    );
    assert!(
        html.contains("8 KiB random read") && html.contains("16 MiB"),
        "the load and the file size"
    );
    assert!(place.bytes("r.xlsx").starts_with(b"PK\x03\x04"));
    let csv = place.text("r.csv");
    assert_eq!(csv.lines().count(), 1 + 16, "a heading, and a line for each load of both: {csv}");
    let markdown = place.text("r.md");
    assert!(
        markdown.contains("\n# 2 results of iosonde\n") && markdown.contains("| 8 KiB random read")
    );

    place.says(&["report", a, "--output", "one.html", "--charts", "pictures", "--redact"]);
    let data = place.path("data");
    let data = data.to_str().unwrap();
    assert!(
        !place.text("one.html").contains(data),
        "the vendor's copy does not name the directory"
    );
    assert!(html.contains(data), "the other one does");
    let mut pictures: Vec<String> = fs::read_dir(place.path("pictures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pictures.sort();
    let of = |end: &str| pictures.iter().filter(|name| name.ends_with(end)).count();
    assert!(of(".svg") > 0 && of(".svg") == of(".png"), "{pictures:?}");
    for name in &pictures {
        let path = Path::new(&place.path("pictures")).join(name);
        let sign: &[u8] = match path.extension().and_then(|end| end.to_str()) {
            Some("svg") => b"<svg",
            Some("png") => b"\x89PNG",
            _ => continue,
        };
        assert!(fs::read(&path).unwrap().starts_with(sign), "{name}");
    }
}

/// Takes the result to another history, and finds it whole there.
fn moved(place: &Place, id: &str, document: &Value) {
    place.says(&["history", "export", "--output", "all.jsonl"]);
    place.says(&["history", "import", "--history", "other.db", "all.jsonl"]);
    let there = place.json(&["history", "show", "--history", "other.db", id]);
    assert_eq!(&there, document, "import loses nothing");
    let tagged = place.json(&["history", "show", "--history", "other.db", "@before"]);
    assert_eq!(&tagged, document, "tags go with it");
    place.says(&["history", "check", "--history", "other.db"]);
}
