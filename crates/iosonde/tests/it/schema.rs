//! The published schemas are those of the code, and what the program prints keeps them.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Output;

use jsonschema::Uri;
use serde_json::Value;
use testing::program::{DISKS, program};

fn iosonde(args: &[&str]) -> Output {
    let history = Path::new(env!("CARGO_TARGET_TMPDIR")).join("history-of-schema-tests.db");
    program(env!("CARGO_BIN_EXE_iosonde"), &history).args(args).output().unwrap()
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema")
}

fn read(document: &str) -> Value {
    let path = directory().join(format!("{document}.json"));
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// Finds the file that a published schema refers to, next to it.
struct Published;

impl jsonschema::Retrieve for Published {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        let name = uri.path().as_str().strip_prefix("/docs/schema/");
        Ok(read(name.and_then(|name| name.strip_suffix(".json")).ok_or("not a schema")?))
    }
}

/// What in a document is against its published schema.
fn faults(document: &str, instance: &Value) -> Vec<String> {
    let base = format!("file:///docs/schema/{document}.json");
    let options = jsonschema::options().with_base_uri(base).with_retriever(Published);
    let validator = options.build(&read(document)).unwrap();
    validator.iter_errors(instance).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

fn assert_keeps(document: &str, instance: &Value) {
    let faults = faults(document, instance);
    assert!(faults.is_empty(), "{document}: {faults:#?}");
}

/// What `iosonde schema` offers as JSON Schema, in its order.
fn printed_schemas() -> Vec<(String, Value)> {
    let help = iosonde(&["schema", "--help"]).stdout;
    let help = String::from_utf8(help).unwrap();
    let names = help.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split_once(':'));
    let names: Vec<_> = names.map(|(name, _)| name).filter(|n| *n != "diskspd-profile").collect();
    for kind in results::KINDS {
        assert!(names.contains(&kind.name()), "{} is missing: {names:?}", kind.name());
    }
    let printed = names.into_iter().map(|name| {
        let output = iosonde(&["schema", name]);
        assert!(output.status.success());
        (name.to_owned(), serde_json::from_slice(&output.stdout).unwrap())
    });
    printed.collect()
}

/// Every JSON Schema, as the types of the code say it.
fn schemas_of_the_code() -> Vec<(String, Value)> {
    use results::schema_of;
    let others = [
        ("comparison", schema_of::<results::Comparison>()),
        ("trend", schema_of::<results::Trend>()),
        ("drift", schema_of::<results::Drift>()),
        ("inspection", schema_of::<inspect::Inspection>()),
    ];
    let all = results::json_schemas().into_iter().chain(others);
    all.map(|(name, schema)| (name.to_owned(), schema.to_value())).collect()
}

/// A page that promises a form which the program does not write promises nothing.
#[test]
fn the_page_on_what_later_versions_keep_has_every_schema() {
    let page = directory().parent().unwrap().join("formats.md");
    let page = std::fs::read_to_string(page).unwrap();
    let promised: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split('`').nth(1)?.strip_prefix("iosonde."))
        .map(|schema| schema.split('/').next().unwrap_or_default().to_owned())
        .collect();
    let written: BTreeSet<String> = printed_schemas().into_iter().map(|(name, _)| name).collect();
    assert_eq!(promised, written);
}

/// Help, the table of the documentation and the list of the code offer the same kinds. The
/// browser's form is compared in its own tests.
#[test]
fn help_and_documentation_offer_the_kinds_of_the_list() {
    let row = |kind: &results::Kind| {
        let name = kind.name();
        format!("| [{name}]({name}.json) | `{}` | {} |", kind.word, kind.printed_by)
    };
    let page = std::fs::read_to_string(directory().join("README.md")).unwrap();
    let documented: Vec<&str> = page.lines().filter(|line| line.contains(".json) | ")).collect();
    assert_eq!(documented, results::KINDS.iter().map(row).collect::<Vec<_>>());
    let help = String::from_utf8(iosonde(&["history", "list", "--help"]).stdout).unwrap();
    let (_, of_kind) = help.split_once("--kind <").unwrap();
    let (_, values) = of_kind.split_once("[possible values: ").unwrap();
    let (values, _) = values.split_once(']').unwrap();
    let values = values.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(values, results::kind_words().join(", "));
}

/// A definition, the file that has it, and what the other files call it.
struct Definition {
    file: String,
    reference: String,
    says: Value,
}

/// Every definition by its name. The first schema that needs one has it.
fn definitions(schemas: &[(String, Value)]) -> BTreeMap<String, Definition> {
    let mut all = BTreeMap::new();
    for (file, schema) in schemas {
        let mut root = schema.as_object().unwrap().clone();
        let own = root.remove("$defs").unwrap_or_default();
        root.remove("$schema");
        let title = root.remove("title").unwrap();
        let (file, reference) = (file.clone(), format!("{file}.json"));
        let whole = Definition { file: file.clone(), reference, says: root.into() };
        all.entry(title.as_str().unwrap().to_owned()).or_insert(whole);
        for (name, says) in own.as_object().unwrap() {
            let reference = format!("{file}.json#/$defs/{name}");
            let here = Definition { file: file.clone(), reference, says: says.clone() };
            let first = all.entry(name.clone()).or_insert(here);
            assert_eq!(&first.says, says, "two things called {name}: rename one for its schema");
        }
    }
    all
}

/// The schemas as files next to each other, each definition in one of them, to which the others
/// refer.
fn as_files(mut schemas: Vec<(String, Value)>) -> Vec<(String, Value)> {
    fn refer(value: &mut Value, place: &dyn Fn(&str) -> Option<String>) {
        match value {
            Value::Object(fields) => {
                let name = fields.get("$ref").and_then(|r| r.as_str()?.strip_prefix("#/$defs/"));
                if let Some(place) = name.and_then(place) {
                    fields.insert("$ref".to_owned(), place.into());
                }
                fields.values_mut().for_each(|value| refer(value, place));
            }
            Value::Array(values) => values.iter_mut().for_each(|value| refer(value, place)),
            _ => {}
        }
    }
    let definitions = definitions(&schemas);
    for (file, schema) in &mut schemas {
        let fields = schema.as_object_mut().unwrap();
        if let Some(own) = fields.get_mut("$defs").and_then(Value::as_object_mut) {
            own.retain(|name, _| definitions[name].file == *file);
            if own.is_empty() {
                fields.remove("$defs");
            }
        }
        refer(schema, &|name| {
            let definition = &definitions[name];
            (definition.file != *file).then(|| definition.reference.clone())
        });
    }
    schemas
}

/// Run with `IOSONDE_UPDATE=1` to write the schemas anew after a change of the documents.
#[test]
fn the_published_schemas_are_those_of_the_code() {
    for (name, schema) in as_files(schemas_of_the_code()) {
        if std::env::var_os("IOSONDE_UPDATE").is_some() {
            let ordered = results::Schema::try_from(schema.clone()).unwrap();
            let text = serde_json::to_string_pretty(&ordered).unwrap() + "\n";
            std::fs::write(directory().join(format!("{name}.json")), text).unwrap();
        }
        assert_eq!(schema, read(&name), "docs/schema/{name}.json is stale");
    }
}

/// What is printed is put together from the published files, and says what the code says.
#[test]
fn the_printed_schemas_are_whole() {
    let of_the_code = schemas_of_the_code();
    let printed = printed_schemas();
    assert_eq!(printed.len(), of_the_code.len());
    for (name, schema) in &printed {
        let valid = jsonschema::validator_for(schema);
        assert!(valid.is_ok(), "`iosonde schema {name}` is not whole: {valid:?}");
        let (_, expected) = of_the_code.iter().find(|(kind, _)| kind == name).unwrap();
        assert!(schema == expected, "`iosonde schema {name}` differs, or its file is stale");
    }
}

#[test]
fn measurements_keep_their_schema() {
    let sim = ["--sim", "servers = 4, fail_every = 1000", "--on-error", "continue"];
    let closed =
        ["run", "--engine", "sim", "--json", "--depth", "8", "--write", "30", "--sync-every", "10"];
    let open = ["run", "--engine", "sim", "--json", "--depth", "8", "--rate", "5000"];
    let short = ["--seconds", "2", "--warmup", "0", "--quiet"];
    for run in [&closed[..], &open[..]] {
        let output = iosonde(&[run, &sim[..], &short[..]].concat());
        assert_eq!(output.status.code(), Some(1), "some I/Os failed");
        assert_keeps("measurement", &serde_json::from_slice(&output.stdout).unwrap());
    }
    let null = ["run", "--engine", "null", "--json", "--seconds", "0.1", "--warmup", "0"];
    for (repeat, document) in [(&[][..], "measurement"), (&["--repeat", "2"], "runs")] {
        let output = iosonde(&[&null[..], repeat].concat());
        assert_eq!(output.status.code(), Some(0));
        assert_keeps(document, &serde_json::from_slice(&output.stdout).unwrap());
    }
}

#[test]
fn inspections_keep_their_schema() {
    for target in [&["inspect", "--json"][..], &["inspect", "--json", "."]] {
        let output = iosonde(target);
        assert_eq!(output.status.code(), Some(0));
        assert_keeps("inspection", &serde_json::from_slice(&output.stdout).unwrap());
    }
}

#[test]
fn assessments_keep_their_schema() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("r.html");
    let report = report.to_str().unwrap();
    let args = ["assess", "--pace", "quick", "--json", "--quiet", "--report", report];
    let output = iosonde(&[&args[..], &DISKS].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("assessment", &serde_json::from_slice(&output.stdout).unwrap());
    assert!(std::fs::read_to_string(report).unwrap().starts_with("<!DOCTYPE html>"));
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 1, "the journal is gone when the report is there");
}

#[test]
fn sweeps_keep_their_schema() {
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join("h.db");
    let history = history.to_str().unwrap();
    let lists = ["--depths", "1,8,16", "--writes", "0,100", "--blocks", "8K,64K"];
    let short = ["--seconds", "0.1", "--warmup", "0", "--json", "--quiet", "--history", history];
    let output = iosonde(&[&["sweep", "--engine", "sim"], &lists[..], &short[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("sweep", &serde_json::from_slice(&output.stdout).unwrap());
}

#[test]
fn knees_keep_their_schema() {
    let sim = ["--sim", "servers = 4", "--latency-target", "1ms@p99", "--link", "PCIe3x4"];
    let short = ["--seconds", "1", "--precision", "0", "--quiet"];
    let output = iosonde(&[&["knee", "--engine", "sim", "--json"], &sim[..], &short[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    let mut document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_keeps("knee", &document);
    // Another file says what a measurement is, and it is read.
    document["measurements"][0]["total"]["iops"] = "many".into();
    assert_eq!(faults("knee", &document).len(), 1);
}

#[test]
fn validations_keep_their_schema() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap();
    let small = ["--size", "8M", "--log-size", "8M", "--seconds", "0.5", "--json", "--quiet"];
    let output = iosonde(&[&["validate", place, "--no-history"], &small[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_keeps("validation", &document);
    assert_eq!(document["conclusion"]["verdict"], "right");
}

#[test]
fn checks_behind_a_crash_keep_their_schema() {
    let directory = tempfile::tempdir().unwrap();
    let (place, witness) = (directory.path().to_str().unwrap(), directory.path().join("w"));
    let small = ["--size", "8M", "--depth", "4", "--kill-after", "0.3", "--json", "--quiet"];
    let witness = ["--witness-file", witness.to_str().unwrap(), "--no-history"];
    let durability = ["validate", place, "--durability", "--order", "log-then-page"];
    let output = iosonde(&[&durability[..], &small, &witness].concat());
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_keeps("durability", &document);
    assert_eq!(document["conclusion"]["verdict"], "kept");
}

#[test]
fn a_measurement_reads_back_as_it_was_written() {
    let output =
        iosonde(&["run", "--engine", "sim", "--json", "--seconds", "1", "--warmup", "0", "-q"]);
    let read: results::Measurement = serde_json::from_slice(&output.stdout).unwrap();
    let again = serde_json::to_value(&read).unwrap();
    assert_eq!(again, serde_json::from_slice::<Value>(&output.stdout).unwrap());
}

#[test]
fn experiments_over_sizes_and_targets_keep_their_schemas() {
    let sim = ["--engine", "sim", "--json", "--quiet", "--seconds", "4", "--at-least", "2"];
    let cache = ["--sim", r#"cache = { size_bytes = "1G", hit_ns = "10us" }"#];
    let output = iosonde(&[&["sizes", "--sizes", "512M,2G,4G"], &sim[..], &cache[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("sizes", &serde_json::from_slice(&output.stdout).unwrap());
    let output =
        iosonde(&[&["scale", "a", "b", "--size", "1G", "--depth", "4"], &sim[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("scale", &serde_json::from_slice(&output.stdout).unwrap());
}

#[test]
fn configurations_of_iometer_keep_their_schema() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("t.icf");
    let text = include_str!("../../../dialects/tests/it/iometer/v1.1.0.icf");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let sim = ["--engine", "sim", "--seconds", "1", "--json", "--quiet", "--no-history"];
    let output = iosonde(&[&["iometer", "-c", file], &sim[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_keeps("cycle", &serde_json::from_slice(&output.stdout).unwrap());
}
