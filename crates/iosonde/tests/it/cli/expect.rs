//! `iosonde assess --expect` and `--for` on a simulated device: exit codes, and the sentences in
//! every output.

use std::fs;
use std::path::Path;
use std::process::Output;

use results::Assessment;
use results::claims::Outcome;

use crate::cli::program::{code, command, fails, names, stderr};

/// Eight servers of 2 ms: 4 000 IOPS.
const SIM: &str = r#"servers = 8, read_ns = "2ms", write_ns = "2ms""#;

fn assess(directory: &Path, expectations: &str, more: &[&str]) -> Output {
    let file = directory.join("expect.toml");
    fs::write(&file, expectations).unwrap();
    let (file, report) = (file.to_str().unwrap(), directory.join("r.html"));
    let sim = ["assess", "--engine", "sim", "--sim", SIM, "--size", "1G", "--pace", "quick"];
    let files = ["--quiet", "--expect", file, "--report", report.to_str().unwrap()];
    command(&[&sim[..], &files[..], more].concat()).output().unwrap()
}

const VENDOR: &str =
    "[[claim]]\nname = \"vendor\"\nload = \"random_read_8k\"\nexpect = \"iops >= 8000\"\n";

/// 4 000 IOPS in a closed loop; commits that take 2 ms.
#[test]
fn a_need_that_is_not_met_ends_in_4_and_one_that_is_in_0() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("r.html");
    let assess = |need: &str| {
        let sim = ["assess", "--engine", "sim", "--sim", SIM, "--size", "1G", "--pace", "quick"];
        let rest = ["--quiet", "--need", need, "--report", report.to_str().unwrap()];
        command(&[&sim[..], &rest[..]].concat()).output().unwrap()
    };
    for (need, exit, word) in [
        ("oltp=2000iops,log=100/s", 0, "EXCELLENT"),
        ("oltp=9000iops", 4, "UNFIT"),
        ("medium", 4, "UNFIT"),
    ] {
        let output = assess(need);
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        assert_eq!(code(&output), exit, "{need}: {text}{}", stderr(&output));
        assert!(text.contains(word), "{need}: {text}");
    }
    let wrong = assess("oltp=5ms");
    assert_eq!(code(&wrong), 2);
    assert!(stderr(&wrong).contains("such as oltp=5000iops"), "{}", stderr(&wrong));
}

#[test]
fn a_claim_that_is_not_met_ends_in_4_with_the_sentence_in_text_and_report() {
    let directory = tempfile::tempdir().unwrap();
    let output = assess(directory.path(), VENDOR, &[]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("NOT MET") && text.contains("vendor: claimed 8 000 IOPS"), "{text}");
    let report = fs::read_to_string(directory.path().join("r.html")).unwrap();
    assert!(report.contains("vendor: claimed 8 000 IOPS, best of"));
    assert!(report.contains("</span> not met</p>"), "as a card");
}

/// Too few I/Os at each depth for a p99.9: the claim was "not measured", although 4 000 IOPS are
/// not 8 000.
#[test]
fn a_condition_that_failed_is_not_met_beside_one_that_could_not_be_judged() {
    let directory = tempfile::tempdir().unwrap();
    let both = "[[claim]]\nload = \"log_write_4k\"\nexpect = [\"iops >= 8000\", \"latency_p99_9 <= \
        1s\"]\n\
                [[claim]]\nload = \"log_write_4k\"\nexpect = [\"iops >= 1\", \"latency_p99_9 <= \
                1s\"]\n";
    let output = assess(directory.path(), both, &["--json"]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    let assessment: Assessment = serde_json::from_slice(&output.stdout).unwrap();
    let [failed, open] = assessment.claims.as_slice() else { panic!("two claims") };
    let missing = "to judge the 99.9th percentile of latency";
    assert_eq!(failed.outcome, Outcome::NotMet, "{}", failed.sentence);
    assert!(failed.sentence.contains(missing), "{}", failed.sentence);
    assert_eq!(open.outcome, Outcome::NotMeasured, "{}", open.sentence);
    assert!(open.sentence.contains(missing), "{}", open.sentence);
}

#[test]
fn a_claim_that_is_met_ends_in_0_and_the_document_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let met =
        "[[claim]]\nblock = \"8K\"\npattern = \"random\"\nwrite = 0\nexpect = \"iops >= 3900\"\n";
    let output = assess(directory.path(), met, &["--json", "--for", "postgres"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let assessment: Assessment = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(assessment.claims[0].outcome, Outcome::Met);
    assert!(assessment.claims[0].sentence.contains("claimed 3 900 IOPS"));
    assert!(assessment.patterns.iter().any(|p| p.name == "log_write_8k"), "a page of the WAL");
}

#[test]
fn what_no_load_can_answer_is_refused_before_anything_is_measured() {
    let directory = tempfile::tempdir().unwrap();
    let other = "[[claim]]\nload = \"random_read_16k\"\nexpect = \"iops >= 1\"\n";
    let output = assess(directory.path(), other, &[]);
    fails(&output, 2, "there are random_read_8k");
    assert_eq!(names(directory.path()), ["expect.toml"]);
    let typing = assess(directory.path(), "[[claim]]\nexpect = \"iops = 8000\"\n", &[]);
    fails(&typing, 2, "as in `iops >= 8000`");
    let missing =
        command(&["assess", "--engine", "sim", "--expect", "/nowhere.toml", "-q"]).output();
    fails(&missing.unwrap(), 2, "/nowhere.toml");
}

fn held_against(volume: &str, sim: &str, more: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("r.html");
    let sim = ["assess", "--engine", "sim", "--sim", sim, "--size", "1G", "--pace", "quick"];
    let rest = ["--quiet", "--expect", volume, "--report", report.to_str().unwrap()];
    command(&[&sim[..], &rest[..], more].concat()).output().unwrap()
}

/// 4 000 IOPS are more than a gp3 volume includes, and less than 6 000.
#[test]
fn a_cloud_volume_is_claimed_by_its_name() {
    let output = held_against("aws:gp3", SIM, &[]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("claimed 3 000 IOPS") && text.contains("docs.aws"), "{text}");
    let output = held_against("aws:gp3,iops=6000,mbps=250", SIM, &["--json"]);
    assert_eq!(code(&output), 4, "{}", stderr(&output));
    let assessment: Assessment = serde_json::from_slice(&output.stdout).unwrap();
    let reads = &assessment.claims[0];
    assert_eq!(reads.outcome, Outcome::NotMet, "{}", reads.sentence);
    assert!((60.0..70.0).contains(&reads.attained_percent.unwrap()), "{}", reads.sentence);
    for (wrong, words) in [
        ("aws:gp9", "there are aws:gp3"),
        ("aws:gp2", "add `,size=500G`"),
        ("azure:P30,iops=1", "cannot be chosen"),
    ] {
        fails(&held_against(wrong, SIM, &[]), 2, words);
    }
}

/// What a volume does for half an hour is not what it sustains.
#[test]
fn the_report_says_that_a_burst_may_outlast_the_test() {
    let output = held_against("aws:gp2,size=100G", SIM, &["--json"]);
    let assessment: Assessment = serde_json::from_slice(&output.stdout).unwrap();
    let open = assessment.claims;
    assert!(open[0].sentence.contains("whether it lasts is not known"), "{}", open[0].sentence);
    assert!(open[0].sentence.contains("33 min 20 s at 3 000 IOPS"), "{}", open[0].sentence);
}

/// Rows of one's own are looked at first.
#[test]
fn volumes_of_ones_own_are_rows_of_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("volumes.toml");
    fs::write(&file, "[[volume]]\nname = \"dc1:fast\"\niops = 3900\nsource = \"contract\"\n")
        .unwrap();
    let output = held_against("dc1:fast", SIM, &["--volumes", file.to_str().unwrap(), "--json"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let assessment: Assessment = serde_json::from_slice(&output.stdout).unwrap();
    assert!(
        assessment.claims[0].sentence.contains("contract"),
        "{}",
        assessment.claims[0].sentence
    );
    fails(&held_against("dc1:fast", SIM, &[]), 2, "`--volumes FILE`");
}
