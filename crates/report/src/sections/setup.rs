//! Findings about the set-up, next to the figures that they may explain.

use inspect::{Device, Finding};
use results::Environment;
use workload::show_number;

use crate::language::{count, say};
use crate::model::Block;
use crate::words;

/// A saturation point is called the end of a queue if it is no farther than this from the queue's
/// depth.
const NEAR: f64 = 0.15;

/// Findings about the set-up that can limit throughput, by their codes.
const THROUGHPUT: [&str; 26] = [
    "alignment-offset",
    "cache-volume",
    "compressing-device",
    "compression",
    "cpu-governor",
    "encryption",
    "interrupts-on-one-cpu",
    "io-split",
    "link-below-capability",
    "link-lowered",
    "loop-device",
    "network-file-system",
    "partition-misaligned",
    "path-failed",
    "path-single",
    "paths-unequal",
    "queue-depth-below-asked",
    "queue-depth-small",
    "raid-degraded",
    "raid-rebuilding",
    "scheduler",
    "scheduler-rotating",
    "snapshot",
    "stripe-misaligned",
    "thin-storage",
    "user-space-file-system",
];
/// What makes writes slow, or fast at the price of safety.
const WRITES: [&str; 9] = [
    "copy-on-write",
    "data-journal",
    "emulated-sectors",
    "flush-disabled",
    "no-write-barrier",
    "online-discard",
    "raid-parity",
    "raid-write-hole",
    "volatile-write-cache",
];

/// How many findings there are about an environment, and the most severe.
pub(super) fn in_short(environment: &Environment) -> Option<String> {
    let mut all: Vec<&Finding> = environment.storage.iter().flat_map(|s| &s.findings).collect();
    all.extend(environment.host.iter().flat_map(|host| &host.findings));
    all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut seen: Vec<&str> = Vec::new();
    all.retain(|finding| {
        let is_new = !seen.contains(&finding.message.as_str());
        seen.push(&finding.message);
        is_new
    });
    let first = all.first()?;
    let first = words::clean(&first.message);
    Some(say!("setup-findings", findings = count(all.len()), first = first))
}

/// What of the set-up may explain a saturation point at so many I/Os in flight; nothing where
/// nothing does.
pub(super) fn of_knee(environment: &Environment, in_flight: f64) -> Vec<Block> {
    let devices = environment.storage.iter().flat_map(|storage| &storage.devices);
    let mut sentences: Vec<String> = Vec::new();
    for device in devices {
        sentences.extend(queues(device, in_flight));
    }
    sentences.extend(found(environment, &THROUGHPUT));
    block(say!("setup-of-knee"), sentences)
}

/// What of the set-up may explain the figures of writes.
pub(super) fn of_writes(environment: &Environment) -> Vec<Block> {
    block(say!("setup-of-writes"), found(environment, &WRITES))
}

fn block(lead: String, mut sentences: Vec<String>) -> Vec<Block> {
    let mut seen = Vec::new();
    sentences.retain(|sentence| {
        let new = !seen.contains(sentence);
        seen.push(sentence.clone());
        new
    });
    if sentences.is_empty() {
        return Vec::new();
    }
    vec![Block::Paragraph(lead), Block::List(sentences)]
}

fn queues(device: &Device, in_flight: f64) -> Vec<String> {
    let limits = [
        ("nr_requests".to_owned(), device.nr_requests),
        (say!("setup-queue-depth"), device.queue_depth),
    ];
    let near = |limit: u64| {
        let limit = limit as f64;
        limit > 0.0 && (in_flight - limit).abs() <= NEAR * limit
    };
    let name = words::clean(&device.name);
    let sentence = |(what, limit): (String, u64)| {
        say!(
            "setup-queue-ends",
            in_flight = show_number(in_flight),
            queue = what,
            device = &name,
            limit = limit.to_string()
        )
    };
    let known = limits.into_iter().filter_map(|(what, limit)| Some((what, limit?)));
    known.filter(|(_, limit)| near(*limit)).map(sentence).collect()
}

fn found(environment: &Environment, codes: &[&str]) -> Vec<String> {
    let of_storage = environment.storage.iter().flat_map(|storage| &storage.findings);
    let of_host = environment.host.iter().flat_map(|host| &host.findings);
    let fits = |finding: &&Finding| codes.contains(&finding.code.as_str());
    let sentence =
        |f: &Finding| format!("{} ({})", words::clean(&f.message), words::clean(&f.code));
    of_storage.chain(of_host).filter(fits).map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use inspect::{Severity, Storage};

    fn environment(nr_requests: u64) -> Environment {
        let device =
            Device { name: "sda".into(), nr_requests: Some(nr_requests), ..Device::default() };
        let finding = |code: &str| Finding::new(Severity::Info, code, format!("About {code}."));
        let findings = vec![finding("io-split"), finding("raid-parity"), finding("swappiness")];
        let storage = Storage { devices: vec![device], findings, ..Storage::default() };
        Environment { host: None, storage: vec![storage.clone(), storage] }
    }

    #[test]
    fn a_knee_at_the_end_of_a_queue_is_told_and_one_elsewhere_is_not() {
        let list =
            |nr_requests, in_flight| match of_knee(&environment(nr_requests), in_flight).pop() {
                Some(Block::List(sentences)) => sentences,
                other => panic!("{other:?}"),
            };
        let at = list(32, 31.0);
        assert_eq!(at.len(), 2, "{at:?}");
        assert!(at[0].contains("31 in flight is close to nr_requests of sda (32)"), "{at:?}");
        assert_eq!(list(32, 8.0), ["About io-split. (io-split)"]);
        assert!(of_knee(&Environment { host: None, storage: Vec::new() }, 32.0).is_empty());
    }

    #[test]
    fn in_short_the_most_severe_finding_is_named_once() {
        let mut environment = environment(1);
        let finding = |text: &str| Finding::new(Severity::Serious, "raid-degraded", text.into());
        for storage in &mut environment.storage {
            storage.findings.push(finding("md0 at /srv/acme lacks one."));
        }
        assert_eq!(
            in_short(&environment).as_deref(),
            Some("4 findings on the set-up, first: md0 at /srv/acme lacks one.")
        );
        assert_eq!(in_short(&Environment { host: None, storage: Vec::new() }), None);
    }

    #[test]
    fn writes_have_findings_of_their_own() {
        let Some(Block::List(sentences)) = of_writes(&environment(1)).pop() else {
            panic!("a list is expected")
        };
        assert_eq!(sentences, ["About raid-parity. (raid-parity)"]);
    }

    #[test]
    fn every_name_is_that_of_a_rule() {
        for code in THROUGHPUT.iter().chain(&WRITES) {
            assert!(inspect::rule(code).is_some(), "{code}");
        }
    }
}
