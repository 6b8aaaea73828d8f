//! The licences of everything in the program, as one text: each part with the licence that it
//! states, then each text once, with the parts that carry it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::linux::arch::System;
use crate::linux::failure::{Failure, at};
use crate::linux::packages::Package;

/// A part of the program that is not a crate.
#[derive(Debug, Clone)]
pub(crate) struct Runtime {
    /// What it is, with its version where it is known
    pub name: String,
    /// The SPDX expression of its licence
    pub licence: &'static str,
    /// The system whose programs contain it; all if `None`
    pub only: Option<System>,
    /// Where the text of its licence is on this machine
    pub text: Option<PathBuf>,
}

const RULE: &str = "------------------------------------------------------------------------";

/// The text with the licences of a program for one system.
pub(crate) fn collect(
    packages: &[Package],
    runtime: &[Runtime],
    system: System,
) -> Result<String, Failure> {
    let mut text = "The program iosonde contains the following parts. The texts of their licences \
        follow the list.\n\n"
        .to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for part in runtime.iter().filter(|part| part.only.is_none_or(|only| only == system)) {
        line(&mut text, &part.name, part.licence);
        match &part.text {
            Some(path) => add(&mut texts, path, &part.name)?,
            None => without.push(part.name.clone()),
        }
    }
    for package in packages.iter().filter(|package| !package.is_ours()) {
        let name = format!("{} {}", package.name, package.version);
        line(&mut text, &name, package.licence.as_deref().unwrap_or("see its text"));
        let found = files(&package.directory)?;
        if found.is_empty() {
            without.push(name.clone());
        }
        for path in found {
            add(&mut texts, &path, &name)?;
        }
    }
    if !without.is_empty() {
        // Writing into a string cannot fail, here and below.
        let _ = writeln!(
            text,
            "\nThese state their licence by its name alone, as above: {}.",
            without.join(", ")
        );
    }
    for (licence, parts) in texts {
        let _ = write!(text, "\n{RULE}\n{}\n{RULE}\n\n{licence}\n", parts.join(", "));
    }
    Ok(text)
}

fn line(text: &mut String, name: &str, licence: &str) {
    let _ = writeln!(text, "{name:<40} {licence}");
}

fn add(texts: &mut BTreeMap<String, Vec<String>>, path: &Path, part: &str) -> Result<(), Failure> {
    let bytes = fs::read(path).map_err(at("read", path))?;
    let licence = String::from_utf8_lossy(&bytes).replace('\r', "").trim().to_owned();
    let parts = texts.entry(licence).or_default();
    if !parts.iter().any(|known| known == part) {
        parts.push(part.to_owned());
    }
    Ok(())
}

/// The files below a directory that are licences by their names, in order.
fn files(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).map_err(at("read", &directory))? {
            let entry = entry.map_err(at("read", &directory))?;
            let kind = entry.file_type().map_err(at("look at", &entry.path()))?;
            if kind.is_dir() {
                left.push(entry.path());
            } else if kind.is_file() && is_licence(&entry.file_name().to_string_lossy()) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// `LICENSE-MIT`, `LICENSE_OFL.txt`, `COPYING`, `NOTICE.md`, and not `license.rs`.
fn is_licence(name: &str) -> bool {
    const BEGINS: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
    const CODE: [&str; 14] =
        ["C", "CC", "CSS", "GO", "H", "HTML", "JS", "JSON", "PL", "PY", "RS", "SH", "TOML", "YML"];
    let name = name.to_uppercase();
    let end = name.rsplit_once('.').map(|(_, end)| end);
    BEGINS.iter().any(|begin| name.starts_with(begin)) && !end.is_some_and(|e| CODE.contains(&e))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn files_with_licences_are_known_by_their_names() {
        for name in
            ["LICENSE", "LICENSE-MIT", "license.txt", "COPYING", "LICENSE_OFL.txt", "NOTICE"]
        {
            assert!(is_licence(name), "{name}");
        }
        for name in ["license.rs", "README.md", "notice.json", "lib.rs"] {
            assert!(!is_licence(name), "{name}");
        }
    }

    #[test]
    fn each_text_is_there_once_with_all_that_carry_it() {
        let place = tempfile::tempdir().unwrap();
        let package = |name: &str, checksum: Option<&str>| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: Some("MIT".to_owned()),
            directory: place.path().join(name),
            checksum: checksum.map(str::to_owned),
            uses: BTreeSet::new(),
        };
        let packages = [
            package("a", Some("0")),
            package("b", Some("1")),
            package("c", Some("2")),
            package("ours", None),
        ];
        for (file, text) in [
            ("a/LICENSE", "Permission is granted.\r\n"),
            ("b/fonts/LICENSE_OFL.txt", "Fonts are free.\n"),
            ("b/LICENSE-MIT", "Permission is granted.\n"),
            ("c/src/license.rs", "fn main() {}"),
        ] {
            let path = place.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let musl = Runtime {
            name: "musl libc".to_owned(),
            licence: "MIT",
            only: Some(System::Linux),
            text: None,
        };
        let text = collect(&packages, std::slice::from_ref(&musl), System::Linux).unwrap();
        assert!(text.contains("musl libc"), "{text}");
        let text = collect(&packages, &[musl], System::Windows).unwrap();
        assert!(!text.contains("musl"), "{text}");
        assert_eq!(text.matches("Permission is granted.").count(), 1);
        assert!(text.contains("a 1.0.0, b 1.0.0\n"), "{text}");
        assert!(text.contains("Fonts are free."), "{text}");
        assert!(text.contains("by its name alone, as above: c 1.0.0."), "{text}");
        assert!(!text.contains("ours"), "our own licence has a file of its own: {text}");
    }
}
