//! The vendor's copy names nobody, and its figures are those of the original.

use std::sync::OnceLock;

use inspect::{Finding, Severity};
use proptest::prelude::*;
use results::{Assessment, Document};
use serde_json::Value;
use workload::{
    Arrival, Buffers, Bytes, Content, DiskspdAccess, DiskspdOrder, DiskspdSlices, Mode,
    Nanoseconds, Pool, PoolShare, Rate, RateLimit, Stream, Think, ThinkFrom,
};

use crate::documents;
use crate::sample;

/// Every string under a value with the keys that lead to it.
fn strings(value: &Value, path: &str, out: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => out.push((path.to_owned(), text.clone())),
        Value::Array(values) => values.iter().for_each(|v| strings(v, path, out)),
        Value::Object(fields) => {
            fields.iter().for_each(|(k, v)| strings(v, &format!("{path}.{k}"), out));
        }
        _ => {}
    }
}

fn numbers(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Number(number) => out.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|v| numbers(v, out)),
        Value::Object(fields) => fields.values().for_each(|v| numbers(v, out)),
        _ => {}
    }
}

fn figures(document: &Document) -> Vec<String> {
    let mut out = Vec::new();
    numbers(&serde_json::to_value(document).unwrap(), &mut out);
    out
}

/// An assessment of a named host, with its names in sentences too.
fn named(host: &str, serial: &str, target: &str, export: &str) -> Document {
    static SAMPLE: OnceLock<Assessment> = OnceLock::new();
    let mut a = SAMPLE.get_or_init(sample::assessment_with_findings).clone();
    a.target = target.into();
    host.clone_into(&mut a.environment.host.as_mut().unwrap().hostname);
    let storage = &mut a.environment.storage[0];
    storage.target = target.into();
    storage.path = target.into();
    storage.devices[0].serial = Some(serial.to_owned());
    export.clone_into(&mut storage.file_system.as_mut().unwrap().source);
    let message = format!("{export} is mounted on {target}/below by {host}, disk {serial}.");
    storage.findings.push(
        Finding::new(Severity::Warning, "made-up", message)
            .remedy(&format!("Ask {host}."))
            .command(format!("mount {target}"))
            .evidence(format!("statvfs of {target}"), serial),
    );
    a.warnings.push(format!("While {host} read `{target}/iosonde.test`, another wrote there."));
    a.method.push(format!("The file is {target}/iosonde.test."));
    for pattern in &mut a.patterns {
        pattern.measurement.workload.targets[0].path = target.into();
        pattern.measurement.targets[0].path = format!("{target}/iosonde.test").into();
    }
    for m in a.ramps.iter_mut().flat_map(|r| &mut r.points) {
        m.workload.targets[0].path = target.into();
        m.targets[0].path = format!("{target}/iosonde.test").into();
    }
    Document::Assessment(Box::new(a))
}

#[track_caller]
fn is_without(document: &Document, secrets: &[&str]) {
    let mut texts = Vec::new();
    strings(&serde_json::to_value(document).unwrap(), "", &mut texts);
    for (path, text) in texts.iter().filter(|(path, _)| !path.ends_with(".histogram")) {
        for secret in secrets {
            assert!(!text.contains(secret), "`{secret}` in {path}: {text}");
        }
    }
}

#[test]
fn names_go_and_figures_stay() {
    let secrets = [
        "erp-db07.acme.example",
        "S4EVNX0R",
        "/srv/acme-erp/pgdata",
        "filer3.acme.example:/vol/erp",
    ];
    let [host, serial, target, export] = secrets;
    let original = named(host, serial, target, export);
    let mut documents = vec![original.clone(), original.clone()];
    report::redact::redact(&mut documents).unwrap();
    for document in &documents {
        is_without(document, &secrets);
        is_without(document, &["acme", "erp-db07", "filer3", "pgdata", "/vol/erp"]);
        assert_eq!(figures(document), figures(&original));
    }
    assert_eq!(documents[0], documents[1], "the same name has the same word");
    let report = report::markdown::text(&report::build(&documents));
    assert!(!report.contains("acme") && !report.contains("S4EVNX0R"));
    assert!(report.contains("host-1") && report.contains("target-1"), "{report}");
}

#[test]
fn a_document_of_every_kind_can_be_redacted() {
    let original = documents::all();
    let mut documents = original.clone();
    report::redact::redact(&mut documents).unwrap();
    for (document, original) in documents.iter().zip(&original) {
        assert_eq!(document.kind(), original.kind());
        assert_eq!(figures(document), figures(original));
    }
    let hidden = documents.iter().find(|d| d.kind() == "scale").unwrap();
    is_without(hidden, &["volume-a", "volume-b", "volume-c"]);
}

/// Every word that a document may hold as one of a few must be among those that redaction leaves
/// alone.
#[test]
fn names_that_are_words_of_ours_do_not_break_a_document() {
    let words = [
        "random",
        "read",
        "write",
        "measured",
        "complete",
        "saturated",
        "device",
        "uring",
        "sync",
        "sim",
        "generic",
        "excellent",
        "met",
        "direct",
        "normal",
        "mean",
        "block",
        "stop",
        "log",
        "nothing",
        "lru",
        "directory",
        "tsc",
        "fast_share",
        "iosonde",
    ];
    for word in words {
        let mut documents = documents_with(word);
        report::redact::redact(&mut documents).unwrap_or_else(|e| panic!("{word}: {e}"));
    }
}

/// The same of the words for what other tools do; the file that is written from has no name any
/// more.
#[test]
fn orders_of_other_tools_stay_readable() {
    let words = [
        "mapped",
        "capped",
        "submission",
        "counting",
        "sequential",
        "interlocked",
        "parallel",
        "each",
        "in_turn",
        "scattered",
        "source",
        "percent",
        "diskspd",
    ];
    let mut base = documents::measured();
    base.environment = sample::assessment_with_findings().environment;
    for word in words {
        let mut measured = base.clone();
        measured.environment.host.as_mut().unwrap().hostname = word.to_owned();
        let file = format!("/home/jane/{word}.bin");
        let order = |access| DiskspdOrder {
            access,
            step_bytes: Bytes(4096),
            thread_stride_bytes: Bytes(0),
            slices: DiskspdSlices::Percent(vec![(100, 100)]),
        };
        let rate = Rate { limit: RateLimit::Iops(5.0), arrival: Arrival::Capped };
        let from = ThinkFrom::Submission;
        measured.workload.mode = Mode::Mapped;
        measured.workload.streams = vec![
            Stream {
                diskspd: Some(order(DiskspdAccess::Interlocked)),
                pool: Some(Pool { share: PoolShare::Each }),
                rate: Some(rate),
                content: Content::Source { bytes: Bytes(1 << 20) },
                content_file: Some(file.clone().into()),
                ..Stream::default()
            },
            Stream {
                diskspd: Some(order(DiskspdAccess::Parallel)),
                pool: Some(Pool { share: PoolShare::InTurn }),
                think: Some(Think { pause_ns: Nanoseconds(1), burst_ios: 2, from }),
                content: Content::Counting,
                buffers: Buffers::Scattered { pieces: 4 },
                ..Stream::default()
            },
        ];
        let original = Document::Measurement(Box::new(measured));
        let mut documents = vec![original.clone()];
        report::redact::redact(&mut documents).unwrap_or_else(|e| panic!("{word}: {e}"));
        assert_eq!(figures(&documents[0]), figures(&original));
        is_without(&documents[0], &["jane", &file]);
    }
}

fn documents_with(host: &str) -> Vec<Document> {
    vec![named(host, &format!("{host}1"), &format!("/srv/{host}"), "/dev/nvme0n1p1")]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_secret_survives_and_the_document_still_parses(
        host in "[a-z]{3,8}-[a-z0-9]{2,6}", serial in "[A-Z0-9]{4,6}Z[0-9]{4}",
        target in "/(x[a-z]{2,7}/){1,3}x[a-z0-9]{3,9}",
            export in "[a-z]{4,8}[0-9]:/q[a-z0-9/]{4,12}7",
    ) {
        let original = named(&host, &serial, &target, &export);
        let mut documents = vec![original.clone()];
        report::redact::redact(&mut documents).unwrap();
        is_without(&documents[0], &[&host, &serial, &target, &export]);
        prop_assert_eq!(figures(&documents[0]), figures(&original));
        let text = serde_json::to_string(&documents[0]).unwrap();
        prop_assert!(Document::parse(&text).is_ok());
    }
}
