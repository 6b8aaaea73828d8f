//! Charts become PNG of twice their size, with words in them, on machines without a font.

use report::{chart, picture};
use resvg::tiny_skia::Pixmap;

use crate::handmade;

/// Pixels that are not of one of the colours.
fn pixels_besides(picture: &Pixmap, colours: &[[u8; 3]]) -> usize {
    let is = |p: &[u8], c: &[u8; 3]| p.iter().zip(c).all(|(a, b)| a.abs_diff(*b) < 12);
    picture.data().chunks(4).filter(|p| !colours.iter().any(|c| is(p, c))).count()
}

#[test]
fn a_chart_is_twice_as_large_and_has_words_in_it() {
    let svg = chart::svg(&handmade::saturation());
    let bytes = picture::png(&svg).unwrap();
    let drawn = Pixmap::decode_png(&bytes).unwrap();
    assert_eq!(drawn.width(), 1840);
    assert_eq!(drawn.pixel(0, 0).unwrap().red(), 255, "on white");
    assert_eq!(drawn.pixel(0, 0).unwrap().alpha(), 255);
    // The same chart with all words taken out has fewer dark pixels: the words are there, without a
    // font of the system.
    let mut wordless = svg.clone();
    while let Some(at) = wordless.find("<text") {
        let end = at + wordless[at..].find("</text>").unwrap() + "</text>".len();
        wordless.replace_range(at..end, "");
    }
    let wordless = Pixmap::decode_png(&picture::png(&wordless).unwrap()).unwrap();
    let white = [[255, 255, 255]];
    let words = pixels_besides(&drawn, &white) - pixels_besides(&wordless, &white);
    assert!(words > 5_000, "{words} pixels of words");
}

#[test]
fn every_sign_that_reports_use_has_a_letter() {
    let of = |text: &str| {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='40' height='20'><text x='2' \
             y='15'>{text}</text></svg>"
        );
        picture::png(&svg).unwrap()
    };
    let missing = of("\u{E123}");
    for sign in "µ×–−≤≥±…·→∞äßéŁЖΩ".chars() {
        assert_ne!(of(&sign.to_string()), missing, "{sign}");
    }
}

#[test]
fn what_is_no_drawing_is_said() {
    for wrong in ["", "<svg", "<svg xmlns='http://www.w3.org/2000/svg' width='0' height='9'/>"] {
        assert!(picture::png(wrong).is_err(), "{wrong}");
    }
    let huge = "<svg xmlns='http://www.w3.org/2000/svg' width='1e9' height='1e9'/>";
    assert!(picture::png(huge).unwrap_err().to_string().contains("too many"));
}

#[test]
fn a_drawing_reads_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("dot.png");
    std::fs::write(
        &file,
        picture::png(&svg_of("<rect width='9' height='9' fill='red'/>")).unwrap(),
    )
    .unwrap();
    let image = format!("<image href='{}' width='9' height='9'/>", file.display());
    let drawn = Pixmap::decode_png(&picture::png(&svg_of(&image)).unwrap()).unwrap();
    assert_eq!(pixels_besides(&drawn, &[[255, 255, 255]]), 0);
}

fn svg_of(inside: &str) -> String {
    format!("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>{inside}</svg>")
}
