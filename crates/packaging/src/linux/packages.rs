//! The crates that are linked into the program, as cargo names them, with their licences, their
//! checksums and their dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::linux::arch::Platform;
use crate::linux::compile::Compiler;
use crate::linux::failure::{Failure, because, output, text};

/// A crate that is linked into the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Package {
    /// The name of the crate.
    pub name: String,
    /// The version that is linked.
    pub version: String,
    /// The SPDX expression that it states
    pub licence: Option<String>,
    /// Where its sources are on this machine
    pub directory: PathBuf,
    /// SHA-256 of its archive in the registry; ours have none
    pub checksum: Option<String>,
    /// The crates that it uses directly, as name and version
    pub uses: BTreeSet<(String, String)>,
}

impl Package {
    /// Name and version, which identify a crate.
    pub(crate) fn key(&self) -> (String, String) {
        (self.name.clone(), self.version.clone())
    }

    /// Whether it comes from this workspace.
    pub(crate) fn is_ours(&self) -> bool {
        self.checksum.is_none()
    }
}

/// The crates that are linked into the programs for these platforms, in order.
pub(crate) fn linked(compiler: &Compiler, platforms: &[Platform]) -> Result<Vec<Package>, Failure> {
    let mut named = BTreeSet::new();
    for platform in platforms {
        named.extend(tree(compiler, *platform)?);
    }
    let sums = checksums(&compiler.root)?;
    let metadata = output(Command::new("cargo").current_dir(&compiler.root).args([
        "metadata",
        "--locked",
        "--format-version",
        "1",
    ]))?;
    let metadata: Value = serde_json::from_slice(&metadata)
        .map_err(|error| because(format!("cannot read what cargo metadata writes: {error}")))?;
    let mut packages = described(&metadata, &named, &sums);
    for key in &named {
        if !packages.iter().any(|package| package.key() == *key) {
            return Err(because(format!("cargo metadata does not name {} {}", key.0, key.1)));
        }
    }
    packages.sort();
    Ok(packages)
}

/// The version of the workspace's packages.
pub(crate) fn version(root: &Path) -> Result<String, Failure> {
    let file = root.join("Cargo.toml");
    let text = std::fs::read_to_string(&file).map_err(crate::linux::failure::at("read", &file))?;
    let manifest: toml::Table = text
        .parse()
        .map_err(|error| because(format!("cannot read {}: {error}", file.display())))?;
    let version =
        manifest.get("workspace").and_then(|w| w.get("package")?.get("version")?.as_str());
    version.map(str::to_owned).ok_or_else(|| because(format!("{} has no version", file.display())))
}

/// Name and version of what `cargo tree` shows. Macros run in the compiler and are not in the
/// program.
fn tree(compiler: &Compiler, platform: Platform) -> Result<BTreeSet<(String, String)>, Failure> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&compiler.root).args(["tree", "--locked", "-p", "iosonde", "-e", "normal"]);
    cargo.args(["--prefix", "none", "--format", "{p}", "--target", platform.rust_target()]);
    cargo.args(compiler.feature_flags());
    Ok(text(&mut cargo)?.lines().filter_map(tree_line).collect())
}

/// Reads the name and the version of a line such as `serde v1.0.229 (*)`.
fn tree_line(line: &str) -> Option<(String, String)> {
    if line.contains("(proc-macro)") {
        return None;
    }
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let version = words.next()?.strip_prefix('v')?;
    Some((name.to_owned(), version.to_owned()))
}

/// The checksums in `Cargo.lock`, by name and version of the crate.
fn checksums(root: &Path) -> Result<BTreeMap<(String, String), String>, Failure> {
    let file = root.join("Cargo.lock");
    let text = std::fs::read_to_string(&file).map_err(crate::linux::failure::at("read", &file))?;
    let lock: toml::Table = text
        .parse()
        .map_err(|error| because(format!("cannot read {}: {error}", file.display())))?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let row = |package: &toml::Value| {
        let word = |key| package.get(key)?.as_str().map(str::to_owned);
        Some(((word("name")?, word("version")?), word("checksum")?))
    };
    Ok(packages.into_iter().flatten().filter_map(row).collect())
}

fn described(
    metadata: &Value,
    named: &BTreeSet<(String, String)>,
    sums: &BTreeMap<(String, String), String>,
) -> Vec<Package> {
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let mut keys = BTreeMap::new();
    let mut packages = BTreeMap::new();
    for package in list(&metadata["packages"]) {
        let (Some(id), Some(name), Some(version)) =
            (word(&package["id"]), word(&package["name"]), word(&package["version"]))
        else {
            continue;
        };
        let key = (name, version);
        if !named.contains(&key) {
            continue;
        }
        let manifest = PathBuf::from(word(&package["manifest_path"]).unwrap_or_default());
        let described = Package {
            name: key.0.clone(),
            version: key.1.clone(),
            licence: word(&package["license"]),
            directory: manifest.parent().map(Path::to_owned).unwrap_or_default(),
            checksum: sums.get(&key).cloned(),
            uses: BTreeSet::new(),
        };
        keys.insert(id.clone(), key);
        packages.insert(id, described);
    }
    for node in list(&metadata["resolve"]["nodes"]) {
        let Some(package) = word(&node["id"]).and_then(|id| packages.get_mut(&id)) else {
            continue;
        };
        for used in list(&node["deps"]) {
            let is_linked = list(&used["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            let key = word(&used["pkg"]).and_then(|id| keys.get(&id));
            if let (true, Some(key)) = (is_linked, key) {
                package.uses.insert(key.clone());
            }
        }
    }
    packages.into_values().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_of_cargo_tree_are_understood() {
        let key = |name: &str, version: &str| Some((name.to_owned(), version.to_owned()));
        for (line, expected) in [
            ("iosonde v0.1.0 (/src/crates/iosonde)", key("iosonde", "0.1.0")),
            ("toml v1.2.1+spec-1.1.0", key("toml", "1.2.1+spec-1.1.0")),
            ("serde v1.0.229 (*)", key("serde", "1.0.229")),
            ("serde_derive v1.0.229 (proc-macro) (*)", None),
            ("", None),
            ("[build-dependencies]", None),
        ] {
            assert_eq!(tree_line(line), expected, "{line}");
        }
    }

    /// Because of features of other members of the workspace, `cargo metadata` named crates that no
    /// program has. The crates that `cargo tree` names are linked; the rest is left out.
    #[test]
    fn only_what_is_linked_is_described() {
        let package = |name: &str| {
            serde_json::json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT",
                "manifest_path": format!("/src/{name}/Cargo.toml")})
        };
        let uses = |name: &str, kind: Value| {
            let kinds = [serde_json::json!({"kind": kind})];
            serde_json::json!({"pkg": name, "dep_kinds": kinds})
        };
        let metadata = serde_json::json!({
            "packages": [package("a"), package("b"), package("c"), package("d")],
            "resolve": {"nodes": [
                {"id": "a", "deps": [
                    uses("b", Value::Null), uses("c", "dev".into()), uses("d", Value::Null)]},
                {"id": "d", "deps": [uses("a", Value::Null)]},
            ]},
        });
        let key = |name: &str| (name.to_owned(), "1.0.0".to_owned());
        let named = BTreeSet::from([key("a"), key("b"), key("c")]);
        let sums = BTreeMap::from([(key("b"), "00".to_owned())]);
        let found = described(&metadata, &named, &sums);
        let found_names: Vec<&str> = found.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(found_names, ["a", "b", "c"]);
        assert_eq!(found[0].uses, BTreeSet::from([key("b")]));
        assert!(found[0].is_ours() && !found[1].is_ours());
        assert_eq!(found[1].directory, Path::new("/src/b"));
    }

    proptest! {
        #[test]
        fn no_line_panics(line in ".*") {
            tree_line(&line);
        }
    }
}
