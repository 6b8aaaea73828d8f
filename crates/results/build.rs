//! Packs the published schemas (`docs/schema/*.json`), a tenth of their size, for the program.

use std::io::Write as _;
use std::path::Path;
use std::{env, error, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Map, Value};

fn main() -> Result<(), Box<dyn error::Error>> {
    let directory = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../docs/schema");
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut all = Map::new();
    for entry in fs::read_dir(&directory)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        if let (Some(name), Some("json")) = (name, path.extension().and_then(|e| e.to_str())) {
            // One that is broken is written anew by the test that compares it with the code.
            let schema = serde_json::from_str(&fs::read_to_string(&path)?).unwrap_or(Value::Null);
            all.insert(name.to_owned(), schema);
        }
    }
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(serde_json::to_string(&all)?.as_bytes())?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("schemas.deflate"), packed.finish()?)?;
    Ok(())
}
