//! Documents become pages, tables, workbooks and pictures.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod build;
mod chart;
mod comparison;
mod documents;
mod durability;
mod fio;
mod fleet;
mod foreign;
mod handmade;
mod html_page;
mod html_script;
mod inspection;
mod language;
mod markdown_csv;
mod models;
mod overlay;
mod picture;
mod redact;
mod renderers;
mod sample;
mod text;
mod unsure;
mod validation;
mod xlsx;
mod xlsx_office;
