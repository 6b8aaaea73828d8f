//! The words of the field that a result uses, with what they mean.

use super::make::{fact, full_section, section};
use crate::glossary::used_in;
use crate::language::say;
use crate::model::{Block, Card, Cell, Chart, Section, Table};

/// The section, of the words that these sections use; `None` if they use none.
pub(super) fn of(sections: &[Section]) -> Option<Section> {
    let mut text = String::new();
    for section in sections {
        add(&mut text, &section.heading);
        section.blocks.iter().for_each(|block| of_block(&mut text, block));
    }
    let facts: Vec<_> = used_in(&text.to_lowercase())
        .into_iter()
        .map(|term| {
            let meaning = match term.chapter {
                Some(chapter) => {
                    let place = format!("METHODS.md#{chapter}");
                    say!("glossary-see", meaning = term.meaning, place = place)
                }
                None => term.meaning,
            };
            fact(term.name, meaning)
        })
        .collect();
    if facts.is_empty() {
        return None;
    }
    full_section(section("glossary", say!("heading-glossary"), vec![Block::Facts(facts)]))
}

fn add(text: &mut String, more: &str) {
    text.push_str(more);
    text.push('\n');
}

fn of_block(text: &mut String, block: &Block) {
    match block {
        Block::Only(_, blocks) => blocks.iter().for_each(|block| of_block(text, block)),
        Block::Paragraph(words) => add(text, words),
        Block::List(items) | Block::Warnings(items) => {
            for item in items {
                add(text, item);
            }
        }
        Block::Facts(facts) => {
            for fact in facts {
                add(text, &fact.name);
                add(text, &fact.value);
            }
        }
        Block::Cards(cards) => cards.iter().for_each(|card| of_card(text, card)),
        Block::Chart(chart) => of_chart(text, chart),
        Block::Charts(charts) => charts.iter().for_each(|chart| of_chart(text, chart)),
        Block::Table(table) => of_table(text, table),
        Block::Listing(listing) => add(text, &listing.title),
    }
}

fn of_card(text: &mut String, card: &Card) {
    let words = card.evidence.iter().chain(&card.original);
    words.chain([&card.heading, &card.answer]).for_each(|words| add(text, words));
}

fn of_chart(text: &mut String, chart: &Chart) {
    let axes = [Some(&chart.x), Some(&chart.left), chart.right.as_ref()];
    let names = chart.series.iter().map(|series| &series.name);
    let marks = chart.marks.iter().map(|mark| &mark.label);
    let titles = axes.into_iter().flatten().map(|axis| &axis.title);
    titles
        .chain([&chart.title, &chart.caption])
        .chain(names)
        .chain(marks)
        .for_each(|words| add(text, words));
}

/// The headings, and the words of the first rows: those of later rows are the same.
fn of_table(text: &mut String, table: &Table) {
    const ROWS: usize = 20;
    add(text, &table.title);
    add(text, &table.caption);
    table.columns.iter().for_each(|column| add(text, &column.heading()));
    for cell in table.rows.iter().take(ROWS).flatten() {
        if let Cell::Text(words) = cell {
            add(text, words);
        }
    }
}
