//! Packs the fonts of charts as PNG, half their size, for the program.

#[cfg(feature = "png")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::io::Write as _;

    let place = std::env::var("OUT_DIR")?;
    for (name, font) in [("regular", notosans::REGULAR_TTF), ("bold", notosans::BOLD_TTF)] {
        let mut packed =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(font)?;
        std::fs::write(format!("{place}/{name}.deflate"), packed.finish()?)?;
    }
    Ok(())
}

#[cfg(not(feature = "png"))]
fn main() {}
