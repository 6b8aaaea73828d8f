//! From a file to a server and back, nothing is lost.

use history::{Chosen, ExchangeError, Filter, Format, History, Imported, Order, Page, Place, Rows};

use crate::store::made::{full, new, runs};
use crate::store::server::server;

fn export(history: &History, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    history.export(&Chosen::Fitting(Box::default()), format, &mut out).unwrap();
    out
}

#[test]
fn what_goes_through_a_server_comes_back_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| History::open(&Place::File(directory.path().join(name))).unwrap();
    let first = file("first.db");
    first.add(&runs("a", "2026-11-21T12:00:00Z", vec![full("a0", 1.5), full("a1", 2.5)])).unwrap();
    first.begin(&new("b", "p", "2026-11-20T12:00:00Z")).unwrap();
    first.keep("b", 4, &full("b4", 1.0 / 3.0)).unwrap();
    first.tag("b", "before").unwrap();
    first.note("b", "ünlucky \"quotes\"").unwrap();
    let text = export(&first, Format::JsonLines);

    let on_server = History::open(&server().place().0).unwrap();
    let imported = |new, already_there| Imported { new, completed: 0, already_there };
    assert_eq!(on_server.import(text.as_slice()).unwrap(), imported(2, 0));
    assert_eq!(export(&on_server, Format::JsonLines), text);
    assert_eq!(on_server.import(text.as_slice()).unwrap(), imported(0, 2));
    let second = file("second.db");
    second.import(export(&on_server, Format::JsonLines).as_slice()).unwrap();
    assert_eq!(export(&second, Format::JsonLines), text);
    for rows in [Rows::Measurements, Rows::Sqlio, Rows::Series] {
        let format = Format::Csv(rows);
        assert_eq!(export(&on_server, format), export(&first, format), "{rows:?}");
    }

    let cut = &text[..text.len() - 5];
    let empty = History::open(&server().place().0).unwrap();
    let error = empty.import(cut).unwrap_err();
    assert!(matches!(error, ExchangeError::Line { line: 4, .. }), "{error}");
    let all = empty.list(&Filter::default(), Order::NEWEST, Page::ALL).unwrap();
    assert_eq!(all.total, 0, "nothing of it was kept");
}
