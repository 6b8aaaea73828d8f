//! `iosonde validate --durability` on a device whose power fails: storage that keeps its word is
//! not accused, and storage that does not is found out.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use results::{Durability, DurabilityVerdict, Loss, LossCount, WrittenRole};
use truth::{Cache, Fault, FaultPlan, Lost, Truth, When};
use workload::{Nanoseconds, SimDevice};

use crate::cli::durability::{report, wait_for_marks, writer_of};
use crate::cli::program::{Running, code, kill, stderr};

const SIZE: u64 = 16 << 20;

/// Lets it write, kills the writer, lets the power fail, and checks; gives the exit code, the
/// result, and what the device knows it lost.
fn crash(
    test: &str,
    mode: [&str; 2],
    cache: Cache,
    fault: Option<Fault>,
) -> Option<(i32, Durability, Vec<Lost>)> {
    let time = Nanoseconds(500_000);
    let model = SimDevice { servers: 64, read_ns: time, write_ns: time, ..SimDevice::default() };
    let truth = Truth::mount(model, &[SIZE, SIZE])
        .inspect_err(|reason| testing::skip(&format!("iosonde::cli::{test}"), reason))
        .ok()?;
    let directory = tempfile::tempdir().unwrap();
    let witness = directory.path().join("witness.txt");
    let [sync, order] = mode;
    let args = [
        "validate",
        truth.directory().to_str().unwrap(),
        "--durability",
        "--size",
        "4M",
        "--depth",
        "4",
    ];
    let also =
        ["--seconds", "600", "--witness-file", witness.to_str().unwrap(), "--json", "--keep"];
    let mut running =
        Running::start(&[&args[..], &also, &["--sync", sync, "--order", order]].concat());
    running.wait_for("writing\n");
    wait_for_marks(&witness, 100);
    truth.begin_cache(cache);
    truth.inject(fault.iter().map(|f| FaultPlan::new(*f, When::Every(1))).collect());
    wait_for_marks(&witness, 400);
    // Who checks waits until the power is back.
    let writer = writer_of(running.id());
    kill("STOP", running.id());
    kill("KILL", writer);
    let gone = || {
        let stat = fs::read_to_string(format!("/proc/{writer}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
    };
    while !gone() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let lost = truth.crash().unwrap();
    kill("CONT", running.id());
    let output = running.end();
    let code = code(&output);
    assert!(code == 0 || code == 3, "{}", stderr(&output));
    Some((code, report(&output).conclusion, lost))
}

/// A finding is where the device has lost what it had acknowledged, and nowhere else.
fn assert_true(report: &Durability, lost: &[Lost]) {
    for finding in report.findings.iter().filter(|f| f.loss != Loss::AheadOfLog) {
        let name = finding.path.file_name().unwrap().to_str().unwrap();
        let range = finding.offset..finding.offset + finding.bytes;
        let is = |l: &Lost| l.acknowledged.is_some() && l.file == name && l.span.touches(&range);
        assert!(lost.iter().any(is), "nothing is lost there: {finding:?}");
    }
}

#[test]
fn a_device_that_keeps_its_word_is_not_accused() {
    let test = "a_device_that_keeps_its_word_is_not_accused";
    for (number, mode) in (0..).zip([
        ["fsync", "page"],
        ["fdatasync", "log-then-page"],
        ["o-dsync", "page"],
        ["o-dsync", "log-then-page"],
        ["fua", "page"],
        ["fua", "log-then-page"],
    ]) {
        let unit_bytes = [512, 4096, u64::MAX][number % 3];
        let cache = Cache { unit_bytes, survives: 0.3, seed: number as u64, ..Cache::default() };
        let Some((code, report, lost)) = crash(test, mode, cache, None) else { return };
        assert_eq!(
            (code, report.verdict),
            (0, DurabilityVerdict::Kept),
            "{mode:?}: {:?}",
            report.findings
        );
        assert!(report.promised_operations > 0 && lost.iter().all(|l| l.acknowledged.is_none()));
    }
}

#[test]
fn a_device_that_lies_about_flushes_is_found_out() {
    let test = "a_device_that_lies_about_flushes_is_found_out";
    let mut kinds = BTreeSet::new();
    for (mode, fault) in [
        (["fdatasync", "page"], Fault::FsyncLies),
        (["fua", "page"], Fault::FsyncLies),
        (["o-dsync", "log-then-page"], Fault::FsyncLies),
        (["fsync", "page"], Fault::ReorderAcrossFlush),
        (["fdatasync", "log-then-page"], Fault::ReorderAcrossFlush),
    ] {
        let cache = Cache { survives: 0.3, ..Cache::default() };
        let Some((code, report, lost)) = crash(test, mode, cache, Some(fault)) else { return };
        assert!(lost.iter().any(|l| l.acknowledged.is_some()), "the device has lost something");
        assert_eq!((code, report.verdict), (3, DurabilityVerdict::Lost), "{mode:?} {fault:?}");
        assert_true(&report, &lost);
        assert!(!report.advice.is_empty() && report.oldest_loss_seconds.is_some());
        let named = |l: &LossCount| {
            matches!(l.loss, Loss::Older | Loss::Torn | Loss::AheadOfLog | Loss::Foreign)
        };
        assert!(report.losses.iter().all(named), "{:?}", report.losses);
        eprintln!("{mode:?} {fault:?}: {:?}", report.losses);
        kinds.extend(report.losses.iter().map(|l| l.loss));
        let logged = report.files.iter().any(|f| f.role == WrittenRole::Log);
        assert_eq!(logged, mode[1] == "log-then-page");
    }
    assert!(kinds.contains(&Loss::Older) && kinds.contains(&Loss::AheadOfLog), "{kinds:?}");
}
