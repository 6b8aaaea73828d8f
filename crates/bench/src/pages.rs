//! How long the pages of `iosonde serve` take on a large store: asked over HTTP, from a server in
//! this process.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use history::{Filter, History, Order, Page, Place};
use serve::{Listener, Server};

use crate::linux::Error;

/// Asks every page so many times; gives rows of a table: page, bytes, median and slowest.
pub(crate) fn ask(path: &Path, times: usize) -> Result<String, Error> {
    let place = Place::File(path.to_owned());
    let pages = pages(&History::open_existing(&place)?)?;
    let listener = Listener::bind(Some(([127, 0, 0, 1], 0).into()), None)?;
    let server = Server::open(listener, &place, report::Language::English)?;
    let address = server.address();
    let stop = Arc::new(AtomicBool::new(false));
    let stop_there = Arc::clone(&stop);
    let thread = std::thread::spawn(move || server.run(&stop_there));
    let rows = rows(address, &pages, times);
    stop.store(true, Ordering::Relaxed);
    thread.join().map_err(|_| "the server ended badly")??;
    rows
}

fn rows(address: SocketAddr, pages: &[(&str, String)], times: usize) -> Result<String, Error> {
    let mut text =
        String::from("\n| page of `serve` | KiB | median | slowest |\n|---|---|---|---|\n");
    for (name, page) in pages {
        let mut taken = Vec::new();
        let mut bytes = 0;
        for _ in 0..times {
            let begun = Instant::now();
            bytes = get(address, page)?;
            taken.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        taken.sort_by(f64::total_cmp);
        let (median, slowest) = (taken[times / 2], taken[times - 1]);
        writeln!(text, "| {name} | {} | {median:.1} ms | {slowest:.1} ms |", bytes.div_ceil(1024))?;
    }
    Ok(text)
}

/// The address of one page of every kind, each with its name.
fn pages(history: &History) -> Result<Vec<(&'static str, String)>, Error> {
    let newest = history.list(&Filter::default(), Order::NEWEST, Page { offset: 0, limit: 100 })?;
    let of = |single: bool| {
        let found = newest.entries.iter().filter(|e| (e.measurements == 1) == single);
        let ids: Vec<&str> = found.map(|e| e.id.as_str()).take(2).collect();
        <[&str; 2]>::try_from(ids).map_err(|_| "the store has too few results of a kind")
    };
    let ([one, other], [repeated, many]) = (of(true)?, of(false)?);
    Ok(vec![
        ("list", "/".to_owned()),
        ("list, page 1000", "/?page=1000".to_owned()),
        ("list by IOPS", "/?order=-iops".to_owned()),
        ("list of a pattern", "/?pattern=random".to_owned()),
        ("list of a block size", "/?block=64K".to_owned()),
        ("list of a word that none has", "/?text=nothing".to_owned()),
        ("one result", format!("/result/{one}")),
        ("a result of many measurements", format!("/result/{repeated}")),
        ("two single runs compared", format!("/compare?a={one}&b={other}")),
        ("two results of many compared", format!("/compare?a={repeated}&b={many}")),
        ("trends", "/trends".to_owned()),
        ("trends of a host", "/trends?host=db7".to_owned()),
    ])
}

/// Reads a page; how many bytes it has.
fn get(address: SocketAddr, page: &str) -> Result<usize, Error> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {page} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    if !answer.starts_with(b"HTTP/1.1 200") {
        return Err(format!("{page} was not answered").into());
    }
    Ok(answer.len())
}
