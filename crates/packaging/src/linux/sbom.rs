//! The bill of materials: the parts of the program, in the JSON of CycloneDX 1.5.

use serde_json::{Value, json};

use crate::linux::licences::Runtime;
use crate::linux::packages::Package;

/// The document. `date` is in RFC 3339.
pub(crate) fn document(
    version: &str,
    date: &str,
    packages: &[Package],
    runtime: &[Runtime],
) -> Value {
    let crates = packages.iter().filter(|package| package.name != "iosonde").map(component);
    let runtime_parts = runtime.iter().map(|part| {
        json!({"type": "library", "name": part.name, "bom-ref": part.name,
            "licenses": [{"expression": part.licence}]})
    });
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": date,
            "component": {
                "type": "application",
                "name": "iosonde",
                "version": version,
                "bom-ref": format!("iosonde@{version}"),
                "licenses": [{"expression": "Apache-2.0 OR MIT"}],
            },
        },
        "components": crates.chain(runtime_parts).collect::<Vec<Value>>(),
        "dependencies": packages.iter().map(dependencies).collect::<Vec<Value>>(),
    })
}

fn reference((name, version): &(String, String)) -> String {
    format!("{name}@{version}")
}

fn component(package: &Package) -> Value {
    let mut component = json!({
        "type": "library",
        "name": package.name,
        "version": package.version,
        "bom-ref": reference(&package.key()),
    });
    if let Some(licence) = &package.licence {
        // Old crates write a slash for "or".
        component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
    }
    if let Some(sum) = &package.checksum {
        component["purl"] = json!(format!("pkg:cargo/{}", reference(&package.key())));
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

fn dependencies(package: &Package) -> Value {
    let uses: Vec<String> = package.uses.iter().map(reference).collect();
    json!({"ref": reference(&package.key()), "dependsOn": uses})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn every_reference_leads_to_a_component() {
        let package = |name: &str, sum: Option<&str>, uses: &[&str]| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: Some("MIT/Apache-2.0".to_owned()),
            directory: PathBuf::new(),
            checksum: sum.map(str::to_owned),
            uses: uses.iter().map(|n| ((*n).to_owned(), "1.0.0".to_owned())).collect(),
        };
        let packages = [
            package("iosonde", None, &["engine", "serde"]),
            package("engine", None, &["serde"]),
            package("serde", Some("ab"), &[]),
        ];
        let runtime = [Runtime { name: "musl".into(), licence: "MIT", only: None, text: None }];
        let bom = document("1.0.0", "2026-01-01T00:00:00Z", &packages, &runtime);
        let components = bom["components"].as_array().unwrap();
        let mut known: BTreeSet<&str> =
            components.iter().map(|c| c["bom-ref"].as_str().unwrap()).collect();
        assert_eq!(known, BTreeSet::from(["engine@1.0.0", "musl", "serde@1.0.0"]));
        known.insert(bom["metadata"]["component"]["bom-ref"].as_str().unwrap());
        for node in bom["dependencies"].as_array().unwrap() {
            assert!(known.contains(node["ref"].as_str().unwrap()), "{node}");
            for used in node["dependsOn"].as_array().unwrap() {
                assert!(known.contains(used.as_str().unwrap()), "{node}");
            }
        }
        let serde = components.iter().find(|c| c["name"] == "serde").unwrap();
        assert_eq!(serde["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(serde["hashes"][0]["content"], "ab");
        assert_eq!(serde["purl"], "pkg:cargo/serde@1.0.0");
    }
}
