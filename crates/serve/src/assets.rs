//! Style, script and picture of the pages. They are inside the program and served from fixed paths.

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// Browsers ask before they use a stored copy again: a newer program has newer files under the same
/// names.
const CACHE: &str = "private, no-cache";

fn content(name: &str) -> Option<(&'static str, &'static str)> {
    const CSS: &str = "text/css; charset=utf-8";
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    Some(match name {
        "report.css" => (CSS, report::html::style()),
        "report.js" => (SCRIPT, report::html::script()),
        "serve.css" => (CSS, include_str!("../assets/serve.css")),
        "list.js" => (SCRIPT, include_str!("../assets/list.js")),
        "live.js" => (SCRIPT, include_str!("../assets/live.js")),
        "icon.svg" => ("image/svg+xml", include_str!("../assets/icon.svg")),
        _ => return None,
    })
}

/// An asset by its name, or 304 where the client has it already.
pub(crate) async fn get(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some((kind, text)) = content(&name) else {
        return Problem::NoSuchPage.into_response();
    };
    let tag = tag_of(text);
    let mut answer = if knows(&headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, kind)], text).into_response()
    };
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    answer
}

/// Whether one of the tags that the client has is this one (RFC 9110, section 13.1.2).
fn knows(headers: &HeaderMap, tag: &str) -> bool {
    let named =
        headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    named
        .flat_map(|list| list.split(','))
        .map(|item| item.trim().trim_start_matches("W/"))
        .any(|item| item == tag || item == "*")
}

/// A strong tag: FNV-1a, 64 bits, of the content.
fn tag_of(text: &str) -> String {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, mix);
    format!("\"{hash:016x}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(value: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_NONE_MATCH, value.parse().unwrap());
        knows(&headers, "\"a\"")
    }

    #[test]
    fn a_tag_is_known_in_every_form_that_may_be_sent() {
        assert!(asked("\"a\"") && asked("W/\"a\"") && asked("\"b\", \"a\"") && asked("*"));
        assert!(!asked("\"b\"") && !asked("a") && !asked(""));
        assert_ne!(tag_of("a"), tag_of("b"));
    }

    #[test]
    fn no_asset_asks_anything_of_a_network() {
        for name in ["report.css", "report.js", "serve.css", "list.js", "live.js"] {
            let (_, text) = content(name).unwrap();
            assert!(!text.is_empty(), "{name}");
            for outside in ["https://", "//cdn", "@import", "url(http"] {
                assert!(!text.contains(outside), "{outside} in {name}");
            }
        }
    }
}
