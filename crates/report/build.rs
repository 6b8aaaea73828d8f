//! Packs messages and fonts, a third and a half of their size, for the program.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("language");
    println!("cargo::rerun-if-changed={}", directory.display());
    println!("cargo::rerun-if-changed=build.rs");
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        pack(name, &fs::read(&path)?)?;
    }
    #[cfg(feature = "png")]
    for (name, font) in [("regular", notosans::REGULAR_TTF), ("bold", notosans::BOLD_TTF)] {
        pack(name, font)?;
    }
    Ok(())
}

fn pack(name: &str, content: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(content)?;
    let file = Path::new(&env::var("OUT_DIR")?).join(format!("{name}.deflate"));
    Ok(fs::write(file, packed.finish()?)?)
}
