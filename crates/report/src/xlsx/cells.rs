//! What goes into cells: texts that stay texts, and the formats that the sheets share.

use rust_xlsxwriter::{Color, Format, FormatAlign, FormatUnderline};

use super::names::cut;
use crate::model::Judgement;
use crate::words;

/// The most rows of a sheet in Excel.
pub(crate) const ROWS: u32 = 1_048_576;

/// The most columns of a sheet in Excel.
pub(crate) const COLUMNS: usize = 16_384;

/// Most UTF-16 units in a cell.
const CELL_LIMIT: usize = 32_767;
/// What Excel takes as the alternative text of a chart or a table, in the same units.
const ALTERNATIVE_LIMIT: usize = 255;

/// A text as a cell can hold it. If a part is left out, the text says so.
pub(crate) fn text(text: &str) -> String {
    let text = words::clean(text);
    if text.encode_utf16().count() <= CELL_LIMIT {
        return text;
    }
    let kept = cut(&text, CELL_LIMIT - 60);
    let left = text.chars().count() - kept.chars().count();
    format!("{kept} … ({left} more characters, more than a cell holds)")
}

/// A text as the alternative text of a chart or a table. The library leaves out a longer one and
/// complains on stderr.
pub(crate) fn alternative(text: &str) -> String {
    let text = words::clean(text);
    if text.encode_utf16().count() <= ALTERNATIVE_LIMIT {
        return text;
    }
    format!("{}…", cut(&text, ALTERNATIVE_LIMIT - 1))
}

/// A text as the heading of a chart or an axis: the library must not take it for a range of cells.
pub(crate) fn heading(text: &str) -> String {
    let text = words::clean(text).replace('!', "! ");
    let text = cut(&text, 1_000);
    if text.starts_with('=') { format!(" {text}") } else { text.to_owned() }
}

/// The formats that the sheets share.
pub(crate) struct Formats {
    pub(crate) title: Format,
    pub(crate) result: Format,
    pub(crate) section: Format,
    pub(crate) quiet: Format,
    pub(crate) label: Format,
    pub(crate) text: Format,
    pub(crate) code: Format,
    pub(crate) link: Format,
    pub(crate) warning: Format,
    pub(crate) header: Format,
    /// Words in a table after figures, which would touch them.
    pub(crate) apart: Format,
    /// A figure that is hardly known.
    pub(crate) unsure: Format,
}

impl Formats {
    /// Makes the formats that every workbook has.
    pub(crate) fn new() -> Self {
        let top = Format::new().set_align(FormatAlign::Top);
        let wrapped = top.clone().set_text_wrap();
        let grey = Color::RGB(0x59_59_59);
        Self {
            title: Format::new().set_bold().set_font_size(18),
            result: Format::new()
                .set_bold()
                .set_font_size(15)
                .set_font_color(Color::RGB(0x1F_3A_5F)),
            section: Format::new()
                .set_bold()
                .set_font_size(12)
                .set_font_color(Color::RGB(0x1F_3A_5F)),
            quiet: Format::new().set_font_color(grey),
            label: wrapped.clone().set_bold(),
            code: Format::new().set_font_name("Courier New").set_font_size(9),
            link: top.set_font_color(Color::RGB(0x05_63_C1)).set_underline(FormatUnderline::Single),
            warning: wrapped.clone().set_background_color(Color::RGB(0xFF_F2_CC)),
            text: wrapped,
            apart: Format::new().set_indent(1),
            unsure: Format::new().set_font_color(Color::RGB(0x8C_8C_8C)).set_italic(),
            header: Format::new()
                .set_bold()
                .set_text_wrap()
                .set_align(FormatAlign::Top)
                .set_font_color(Color::White)
                .set_background_color(Color::RGB(0x1F_3A_5F)),
        }
    }

    /// The format of an answer. Its words say the same, for readers who do not see the colour.
    pub(crate) fn judgement(&self, judgement: Judgement) -> Format {
        let (back, front) = match judgement {
            Judgement::Good => (0xC6_EF_CE, 0x00_4D_13),
            Judgement::Doubtful => (0xFF_EB_9C, 0x6B_4A_00),
            Judgement::Bad => (0xFF_C7_CE, 0x7A_00_06),
            Judgement::Unknown => (0xE7_E6_E6, 0x3F_3F_3F),
        };
        let answer = self.label.clone().set_background_color(Color::RGB(back));
        answer.set_font_color(Color::RGB(front))
    }
}
