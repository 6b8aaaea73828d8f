//! Charts as PNG, for documents that take no SVG: wikis, mails, slides.
//!
//! Servers have no fonts, so the program carries one (Noto Sans, SIL Open Font License), and a
//! chart looks the same wherever it is made. It has the letters of Europe; others become boxes
//! here, and are right in the SVG.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{ImageHrefResolver, Options, Tree, fontdb};

use crate::ReportError;
use crate::packed::{packed, unpacked};

/// Pixels for each unit of the drawing: sharp on the screens of today, and on paper.
const SCALE: f32 = 2.0;

/// The most pixels on a side of a picture.
const LARGEST: f32 = 16_000.0;

const FAMILY: &str = "Noto Sans";

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for packed in [&packed!("regular")[..], packed!("bold")] {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(unpacked(packed))));
    }
    fonts.set_sans_serif_family(FAMILY);
    fonts.set_serif_family(FAMILY);
    fonts.set_monospace_family(FAMILY);
    Arc::new(fonts)
});

/// A drawing as PNG, twice as large, on white.
pub fn png(svg: &str) -> Result<Vec<u8>, ReportError> {
    let failed = |reason: String| ReportError::Picture { reason };
    let options = Options {
        font_family: FAMILY.to_owned(),
        fontdb: Arc::clone(&FONTS),
        // A drawing reads no other file, whatever it says.
        image_href_resolver: ImageHrefResolver {
            resolve_data: ImageHrefResolver::default_data_resolver(),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(error.to_string()))?;
    let (width, height) = (tree.size().width() * SCALE, tree.size().height() * SCALE);
    if width > LARGEST || height > LARGEST {
        return Err(failed(format!("{width:.0} × {height:.0} pixels are too many")));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes of SVG are positive"
    )]
    let pixmap = Pixmap::new(width.ceil() as u32, height.ceil() as u32);
    let mut pixmap = pixmap.ok_or_else(|| failed("it has no size".to_owned()))?;
    pixmap.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| failed(error.to_string()))
}
