//! A result as text: sections under their headings, answers first, figures in columns.

use std::fmt::Write as _;

use super::layout::{padded, width};
use super::table;
use super::{WIDTH, shorten, wrap};
use crate::language::say;
use crate::model::{
    Axis, Block, Card, Cell, Chart, Fact, Judgement, Point, ResultPart, Scale, Section, UNSURE_MARK,
};
use crate::words;

/// Lines of a screen. A longer text repeats a bad judgement at its end.
const SCREEN: usize = 40;
/// The longest name of a fact that has its value next to it in a column.
const NAME: usize = 32;
/// The longest answer that has its own column.
const ANSWER: usize = 19;
/// Columns of a line that represents a chart.
const LINE: usize = 48;

/// Columns of a wide terminal, of which a table may have all.
const TABLE: usize = 100;
/// The columns that any terminal has: a summary is no wider.
const SUMMARY: usize = 80;
/// The section that a summary begins with.
const GLANCE: &str = "glance";

/// A result with all of its sections.
pub(super) fn part(part: &ResultPart) -> String {
    // The first line has the file size, however long the name of the load is.
    let (first, rest) = part.subtitle.split_first().map_or(("", &[][..]), |(f, r)| (f.as_str(), r));
    let is_summary = part.sections.iter().any(|section| section.key == GLANCE);
    let (columns, table_width) = if is_summary { (SUMMARY, SUMMARY) } else { (WIDTH, TABLE) };
    let room = columns.saturating_sub(width(first) + 2);
    let title = shorten(&part.title, room);
    let mut out = begun(part.answer.as_deref());
    out.push_str(&wrap("", &[title.as_str(), first].join(", "), columns));
    if !rest.is_empty() {
        out.push_str(&wrap("  ", &rest.join(" · "), columns));
    }
    if let Some(banner) = &part.banner {
        out.push_str(&wrap(&format!("  {} ", say!("page-incomplete")), banner, columns));
    }
    let mut page = Page { out, caption: String::new(), columns, table_width };
    for section in &part.sections {
        page.section(section);
    }
    if page.out.lines().count() > SCREEN {
        page.bad_answers(part);
    }
    page.out
}

/// What a text begins with where there is an answer.
fn begun(answer: Option<&str>) -> String {
    answer.map_or_else(String::new, |answer| wrap("", answer, WIDTH) + "\n")
}

/// Blocks that are not part of a result, after their answer.
pub(super) fn blocks(answer: Option<&str>, blocks: &[Block]) -> String {
    let (out, caption) = (begun(answer), String::new());
    let mut page = Page { out, caption, columns: WIDTH, table_width: TABLE };
    page.blocks(blocks, "");
    page.out
}

/// Whether a terminal has anything for a block.
fn is_shown(block: &Block) -> bool {
    !matches!(block, Block::Charts(_) | Block::Only(..))
}

struct Page {
    out: String,
    /// What the last table, or a fact above it, said of its loads: the next one need not repeat it.
    caption: String,
    /// Columns of text, and of a table.
    columns: usize,
    table_width: usize,
}

impl Page {
    fn section(&mut self, section: &Section) {
        if section.blocks.iter().any(is_shown) {
            let _ = writeln!(self.out, "\n{}", section.heading);
            self.blocks(&section.blocks, &section.heading);
        }
    }

    /// Blocks one below the other. Tables have space around them, and their titles unless the
    /// heading says the same or is that of a single table.
    fn blocks(&mut self, blocks: &[Block], heading: &str) {
        let tables = blocks.iter().filter(|block| matches!(block, Block::Table(_))).count();
        let mut is_after_table = false;
        for (place, block) in blocks.iter().filter(|block| is_shown(block)).enumerate() {
            if let Block::Table(table) = block {
                if place > 0 {
                    self.out.push('\n');
                }
                let is_titled = heading.is_empty() || tables > 1 || place > 0;
                let title = if is_titled && table.title != heading { &table.title } else { "" };
                self.table_head(title, &table.caption);
                self.out.push_str(&table::show(table, self.table_width));
                if table.has_unsure() {
                    self.line("  ", &words::mark_note(UNSURE_MARK));
                }
            } else {
                // A sentence right after a table is about it.
                if is_after_table && !matches!(block, Block::Paragraph(_)) {
                    self.out.push('\n');
                }
                self.block(block);
            }
            is_after_table = matches!(block, Block::Table(_));
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(text) => self.line("  ", text),
            Block::List(texts) => texts.iter().for_each(|text| self.line("  - ", text)),
            Block::Warnings(texts) => texts.iter().for_each(|text| self.line("  ! ", text)),
            Block::Facts(facts) => self.facts(facts),
            Block::Cards(cards) => self.cards(cards),
            Block::Chart(chart) => self.chart(chart),
            Block::Listing(listing) => {
                self.line("  ", &listing.title);
                for line in &listing.lines {
                    let _ = writeln!(self.out, "    {line}");
                }
            }
            Block::Table(_) | Block::Charts(_) | Block::Only(..) => {}
        }
    }

    /// A paragraph that is indented under the text in front of it.
    fn line(&mut self, first: &str, text: &str) {
        if !text.is_empty() {
            self.out.push_str(&wrap(first, text, self.columns));
        }
    }

    fn facts(&mut self, facts: &[Fact]) {
        let length = |fact: &Fact| width(&fact.name);
        let column = facts.iter().map(length).filter(|length| *length <= NAME).max().unwrap_or(0);
        for fact in facts {
            self.line(&format!("  {}  ", padded(&fact.name, column)), &fact.value);
            if fact.value.contains(" · ") {
                self.caption.clone_from(&fact.value);
            }
        }
    }

    /// Short answers are in a column. If there are several, each has the first sentence of its
    /// evidence.
    fn cards(&mut self, cards: &[Card]) {
        let length = |card: &Card| width(&card.answer);
        let short = cards.iter().all(|card| length(card) <= ANSWER);
        let column = cards.iter().map(length).max().unwrap_or(0);
        for card in cards {
            let evidence: Vec<&String> =
                card.evidence.iter().filter(|sentence| !self.has(sentence)).collect();
            let (first, heading) = if short {
                // A unit keeps its letters.
                let counts = card.answer.contains(|c: char| c.is_ascii_digit());
                let answer = if counts { card.answer.clone() } else { card.answer.to_uppercase() };
                (format!("  {}  ", padded(&answer, column)), card.heading.clone())
            } else {
                let sign = sign(card.judgement);
                let (heading, answer) = (&card.heading, &card.answer);
                (format!("  {sign} "), say!("page-answer", heading = heading, answer = answer))
            };
            match evidence.first() {
                Some(only) if cards.len() > 1 => {
                    let ends = heading.ends_with(['.', '?', '!', '。']);
                    let heading = if ends { heading } else { say!("sentence", words = heading) };
                    self.line(&first, &say!("two-sentences", first = heading, second = only));
                }
                _ => {
                    self.line(&first, &heading);
                    let hanging = " ".repeat(width(&first));
                    for text in evidence {
                        self.line(&format!("{hanging}- "), text);
                    }
                }
            }
        }
    }

    /// The title, and the caption unless it is that of the table before.
    fn table_head(&mut self, title: &str, caption: &str) {
        self.line("  ", title);
        if caption != self.caption {
            self.line("  ", caption);
            caption.clone_into(&mut self.caption);
        }
    }

    /// Whether the text says something already.
    fn has(&self, words: &str) -> bool {
        let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        joined(&self.out).contains(joined(words).trim_end_matches('.'))
    }

    /// The first series as a line of blocks, from 0 to its highest figure.
    fn chart(&mut self, chart: &Chart) {
        let Some(series) = chart.series.first().filter(|series| series.points.len() > 1) else {
            return;
        };
        let size = series.points.len().div_ceil(LINE);
        let means: Vec<f64> = series
            .points
            .chunks(size)
            .map(|points| points.iter().map(|p| p.y).sum::<f64>() / points.len() as f64)
            .collect();
        let most = means.iter().copied().fold(0.0, f64::max);
        let line: String = means.iter().map(|figure| level(figure / most)).collect();
        let ends: Vec<String> = [series.points.first(), series.points.last()]
            .into_iter()
            .flatten()
            .map(|point| place(&chart.x, point))
            .collect();
        self.line("  ", &format!("{} {line} {}", chart.title, ends.join(&say!("list-to"))));
    }

    /// The bad judgements once more, where the first line is far away by now.
    fn bad_answers(&mut self, part: &ResultPart) {
        let blocks = part.sections.iter().flat_map(|section| &section.blocks);
        let cards = blocks.filter_map(|b| if let Block::Cards(all) = b { Some(all) } else { None });
        let again = |card: &Card| {
            say!("page-answer", heading = card.answer.to_uppercase(), answer = &card.heading)
        };
        let mut bad: Vec<String> = cards
            .flatten()
            .filter(|card| card.judgement == Judgement::Bad)
            .map(|card| part.answer.clone().unwrap_or_else(|| again(card)))
            .collect();
        bad.dedup();
        for (place, answer) in bad.iter().enumerate() {
            let between = if place == 0 { "\n" } else { "" };
            self.out.push_str(&format!("{between}{}", wrap("", answer, self.columns)));
        }
    }
}

fn sign(judgement: Judgement) -> char {
    match judgement {
        Judgement::Good => '✓',
        Judgement::Doubtful => '△',
        Judgement::Bad => '✗',
        Judgement::Unknown => '?',
    }
}

/// A block as high as a share of the highest.
fn level(share: f64) -> char {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 7")]
    let place = (share.clamp(0.0, 1.0) * 7.0).round() as usize;
    LEVELS[place.min(7)]
}

/// Where a point is on an axis.
fn place(axis: &Axis, point: &Point) -> String {
    match &axis.scale {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        Scale::Names(names) => names.get(point.x as usize).cloned().unwrap_or_default(),
        _ => Cell::Number(point.x).show(axis.unit),
    }
}
