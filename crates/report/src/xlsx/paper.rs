//! How sheets are printed: every page is as wide as its paper.

use rust_xlsxwriter::Worksheet;

/// The number by which Excel knows the paper.
pub(crate) const A4: u8 = 9;
const A3: u8 = 8;

/// The name of the sheet, and which page of how many.
pub(crate) const FOOTER: &str = "&L&A&RPage &P of &N";

/// Characters of the usual font that are as wide as a page of A4, upright and across.
const UPRIGHT: f64 = 85.0;
const ACROSS: f64 = 125.0;
/// Print that is smaller than this share of its size is hard to read.
const LEAST_SCALE: f64 = 0.5;

/// Prints a sheet of this width, in characters, one page wide: upright if that is wide enough,
/// otherwise across, on larger paper if print would be too small.
pub(crate) fn fit(sheet: &mut Worksheet, width: f64) {
    let is_wide = width > UPRIGHT;
    let is_too_wide = width * LEAST_SCALE > ACROSS;
    let sheet = if is_wide { sheet.set_landscape() } else { sheet.set_portrait() };
    sheet.set_paper_size(if is_too_wide { A3 } else { A4 });
    sheet.set_print_fit_to_pages(1, 0).set_footer(FOOTER);
    sheet.set_margins(0.4, 0.4, 0.5, 0.6, 0.3, 0.3);
}
