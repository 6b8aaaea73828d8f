//! What we depend on: licences that may be passed on, one version of each crate where one serves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Crates of which two versions are in `Cargo.lock`, because others that we use ask for different
/// ones, some of them only for features that are off. Take a name out when there is one version
/// again.
const TWICE: [&str; 23] = [
    "base64",
    "bit-vec",
    "bitflags",
    "block-buffer",
    "const-oid",
    "cpufeatures",
    "crypto-common",
    "digest",
    "fallible-iterator",
    "getrandom",
    "itertools",
    "miniz_oxide",
    "nom",
    "num-bigint",
    "r-efi",
    "rand",
    "rand_chacha",
    "rand_core",
    "sha2",
    "syn",
    "wasi",
    "webpki-roots",
    "windows-sys",
];

/// Crates that have their licence in a file only, and what it says.
const IN_A_FILE: [(&str, &str); 1] = [("webpki", "ISC")];

/// Everything that `Cargo.lock` names, without asking a network.
fn packages() -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let metadata: Value = serde_json::from_slice(&out.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Licences whose code may be part of a program under MIT or Apache-2.0, from `deny.toml`. An
/// exception only permits more.
fn licences() -> BTreeSet<String> {
    let deny =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml"));
    let deny: toml::Table = deny.unwrap().parse().unwrap();
    let names = deny["licenses"]["allow"].as_array().unwrap().iter().filter_map(|l| l.as_str());
    names.map(|name| name.split(" WITH ").next().unwrap_or(name).to_owned()).collect()
}

/// Whether one of the licences that an SPDX expression offers may be passed on. Parentheses are
/// only around alternatives, as crates write them.
fn may_be_passed_on(expression: &str) -> bool {
    let licences = licences();
    let known = |name: &str| {
        let name = name.trim().trim_matches(['(', ')']);
        licences.contains(name.split(" WITH ").next().unwrap_or(name))
    };
    let all_of = |part: &str| part.split(" AND ").all(|part| part.split(" OR ").any(known));
    let spdx = expression.replace('/', " OR ");
    if spdx.contains('(') { all_of(&spdx) } else { spdx.split(" OR ").any(all_of) }
}

#[test]
fn expressions_of_licences_are_understood() {
    for (expression, fine) in [
        ("MIT", true),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("MIT AND GPL-3.0-only", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR GPL-3.0-only) AND LGPL-2.1", false),
        ("Apache-2.0 WITH LLVM-exception OR MIT", true),
    ] {
        assert_eq!(may_be_passed_on(expression), fine, "{expression}");
    }
}

#[test]
fn every_licence_may_be_passed_on() {
    let licence = |package: &Value| {
        let file = IN_A_FILE.iter().find(|(name, _)| package["name"] == *name);
        package["license"].as_str().or(file.map(|(_, licence)| *licence)).map(str::to_owned)
    };
    let refused: Vec<String> = packages()
        .iter()
        .filter(|p| !licence(p).is_some_and(|licence| may_be_passed_on(&licence)))
        .map(|p| format!("{} {}: {}", p["name"], p["version"], p["license"]))
        .collect();
    assert!(refused.is_empty(), "licences to look at: {refused:#?}");
}

#[test]
fn one_version_of_each_crate_where_one_serves() {
    let lock =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock"));
    let lock: toml::Table = lock.unwrap().parse().unwrap();
    let mut versions: BTreeMap<String, usize> = BTreeMap::new();
    for package in lock["package"].as_array().unwrap() {
        *versions.entry(package["name"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let twice: BTreeSet<&str> =
        versions.iter().filter(|(_, n)| **n > 1).map(|(name, _)| name.as_str()).collect();
    assert_eq!(twice, BTreeSet::from(TWICE), "versions of a crate beside each other");
}
