//! The manifests of other package managers, made of the templates in `packaging/`: `{version}`,
//! `{url}` (where the files will be downloaded from) and `{sha256 FILE}` are filled in.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::linux::failure::{Failure, at, because};

/// A template that was filled in, or why not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// The template with all its values.
    Text(String),
    /// It needs the digest of a file that is not made
    Without(String),
}

/// Fills in the placeholders of a template.
pub(crate) fn fill(
    template: &str,
    version: &str,
    url: &str,
    sums: &BTreeMap<String, String>,
) -> Filled {
    let template = template.replace("{version}", version).replace("{url}", url);
    let mut text = String::new();
    let mut rest = template.as_str();
    while let Some((before, after)) = rest.split_once("{sha256 ") {
        text += before;
        // Without an end it is not a mark.
        let Some((file, after)) = after.split_once('}') else {
            text += "{sha256 ";
            rest = after;
            continue;
        };
        let Some(sum) = sums.get(file) else { return Filled::Without(file.to_owned()) };
        text += sum;
        rest = after;
    }
    Filled::Text(text + rest)
}

/// The manifests below a directory, by the names that they have in `dist/`; what cannot be made is
/// named on stderr.
pub(crate) fn all(
    directory: &Path,
    version: &str,
    url: &str,
    sums: &BTreeMap<String, String>,
) -> Result<Vec<(String, String)>, Failure> {
    let mut made = Vec::new();
    for kind in ["homebrew", "scoop", "winget"] {
        let place = directory.join(kind);
        let entries = fs::read_dir(&place).map_err(at("read", &place))?;
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        // The files of one package manager belong together: all of them, or none.
        let before = made.len();
        for path in paths {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
            let name = name.ok_or_else(|| because("a template without a name"))?;
            let template = fs::read_to_string(&path).map_err(at("read", &path))?;
            match fill(&template, version, url, sums) {
                Filled::Text(text) => made.push((name, text)),
                Filled::Without(file) => {
                    eprintln!("{:>12}  no files for {kind}, which need {file}", "");
                    made.truncate(before);
                    break;
                }
            }
        }
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_are_filled_in_and_a_missing_file_is_named() {
        let sums = BTreeMap::from([("a-1.0.tar.gz".to_owned(), "0123".to_owned())]);
        let template = "url {url}/a-{version}.tar.gz\nsha256 {sha256 a-{version}.tar.gz} {other}\n";
        let filled = fill(template, "1.0", "ftp://here", &sums);
        let expected = "url ftp://here/a-1.0.tar.gz\nsha256 0123 {other}\n";
        assert_eq!(filled, Filled::Text(expected.to_owned()));
        let filled = fill("{sha256 a-{version}.zip}", "1.0", "", &sums);
        assert_eq!(filled, Filled::Without("a-1.0.zip".to_owned()));
    }

    /// Each template names files as they are called in `dist/`, so it is made when they are.
    #[test]
    fn every_template_is_made_when_all_files_are() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
        let names = ["x86_64-linux.tar.gz", "aarch64-linux.tar.gz"];
        let names = names.into_iter().chain(["x86_64-windows.zip", "aarch64-windows.zip"]);
        let sums = names.map(|end| (format!("iosonde-9.8.7-{end}"), "f00d".to_owned()));
        let made = all(&directory, "9.8.7", "ftp://here", &sums.collect()).unwrap();
        let names: Vec<&str> = made.iter().map(|(name, _)| name.as_str()).collect();
        let expected = [
            "iosonde.rb",
            "iosonde.json",
            "iosonde.installer.yaml",
            "iosonde.locale.en-US.yaml",
            "iosonde.yaml",
        ];
        assert_eq!(names, expected);
        for (name, text) in &made {
            assert!(text.contains("9.8.7"), "{name}: {text}");
            assert!(!text.contains("{version}") && !text.contains("{url}"), "{name}: {text}");
        }
        serde_json::from_str::<serde_json::Value>(&made[1].1).unwrap();
        // Without the Windows archive, only the one for Linux can be made.
        let linux = BTreeMap::from(
            ["x86_64", "aarch64"]
                .map(|arch| (format!("iosonde-1.0.0-{arch}-linux.tar.gz"), "f00d".to_owned())),
        );
        let made = all(&directory, "1.0.0", "ftp://here", &linux).unwrap();
        assert_eq!(made[0].0, "iosonde.rb");
        assert_eq!(made.len(), 1, "{made:?}");
    }

    proptest! {
        #[test]
        fn no_template_panics(template in "(\\{sha256 |\\{version\\}|\\}|[a-z]|é){0,12}") {
            fill(&template, "1", "2", &BTreeMap::new());
        }
    }
}
