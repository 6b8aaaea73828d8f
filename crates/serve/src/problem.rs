//! An error as a page: what happened, and what to do about it. It shows nothing of the program's
//! inside.

use askama::Template;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use history::HistoryError;
use report::ReportError;

/// Why a page cannot be shown.
#[derive(Debug)]
pub(crate) enum Problem {
    /// There is no page at this address.
    NoSuchPage,
    /// The result or run does not exist; the sentence says which.
    NotFound(String),
    /// The query makes no sense; the sentence says why.
    Bad(String),
    /// Only `GET` and `HEAD` are answered.
    Method,
    /// The address is longer than allowed.
    TooLong,
    /// The headers are longer than allowed.
    Headers,
    /// The request was made for another host.
    ///
    /// With the flag that names the address to listen on.
    OtherHost(&'static str),
    /// The token is missing or wrong.
    Token,
    /// Too many questions at a time.
    Busy,
    /// Too many viewers at a time.
    Viewers,
    /// iosonde itself failed, as when a page cannot be rendered.
    Internal,
    /// The history cannot be opened or read.
    History(Box<HistoryError>),
    /// The result cannot be made into a page.
    Report(Box<ReportError>),
}

impl From<HistoryError> for Problem {
    fn from(error: HistoryError) -> Self {
        match error {
            HistoryError::NotFound { .. } => Self::NotFound(error.to_string()),
            HistoryError::Ambiguous { .. } | HistoryError::NotCompared { .. } => {
                Self::Bad(error.to_string())
            }
            other => Self::History(Box::new(other)),
        }
    }
}

impl From<ReportError> for Problem {
    fn from(error: ReportError) -> Self {
        Self::Report(Box::new(error))
    }
}

impl From<askama::Error> for Problem {
    fn from(_: askama::Error) -> Self {
        Self::Internal
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct Page<'a> {
    heading: &'a str,
    sentence: &'a str,
    /// Whether to offer a field for the token.
    asks_token: bool,
    /// Whether to link to the pages: a visitor without access has no use for links.
    linked: bool,
}

impl Problem {
    fn status(&self) -> StatusCode {
        match self {
            Self::NoSuchPage | Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Bad(_) => StatusCode::BAD_REQUEST,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLong => StatusCode::URI_TOO_LONG,
            Self::Headers => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::OtherHost(_) => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::Busy | Self::Viewers | Self::History(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal | Self::Report(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn heading(&self) -> &'static str {
        match self {
            Self::NoSuchPage => "There is no such page",
            Self::NotFound(_) => "Not in the history",
            Self::Bad(_) => "That cannot be shown",
            Self::Method => "This server only shows",
            Self::TooLong => "The address is too long",
            Self::Headers => "The request is too long",
            Self::OtherHost(_) => "Not under this name",
            Self::Token => "A token is needed",
            Self::Busy | Self::Viewers => "Too busy",
            Self::Internal => "That went wrong",
            Self::History(_) => "The history cannot be read",
            Self::Report(_) => "The result cannot be shown",
        }
    }

    fn sentence(&self) -> String {
        let sentence = match self {
            Self::NoSuchPage => "The address may be mistyped, or of another version of iosonde.",
            Self::Method => "It answers GET and HEAD; results come into the history by measuring.",
            Self::TooLong => "A shorter one, of at most 8 KiB, may do.",
            Self::Headers => "Its headers, cookies among them, are longer than 32 KiB in all.",
            Self::OtherHost(flag) => {
                return format!(
                    "This server answers this computer only, as 127.0.0.1, localhost or [::1]. To \
                     reach it from elsewhere, forward a port, or start it with {flag} \
                     ADDRESS:PORT."
                );
            }
            Self::Token => {
                "It is in the address that iosonde printed when it started, or in the file named \
                 with --token-file. A browser keeps it as a cookie until the server ends; programs \
                 send the header Authorization: Bearer TOKEN."
            }
            Self::Busy => "Other questions take long just now. Try again in a moment.",
            Self::Viewers => {
                "As many live views are open as this server allows. Close one, and load this page \
                 again."
            }
            Self::Internal => "This is an error in iosonde. The history is not touched by it.",
            Self::NotFound(text) | Self::Bad(text) => return text.clone(),
            Self::History(error) => return error.to_string(),
            Self::Report(error) => return error.to_string(),
        };
        sentence.to_owned()
    }

    fn extra_header(&self) -> Option<(HeaderName, HeaderValue)> {
        let (name, value) = match self {
            Self::Method => (header::ALLOW, "GET, HEAD"),
            Self::Token => (header::WWW_AUTHENTICATE, "Bearer realm=\"iosonde\""),
            Self::Busy | Self::Viewers => (header::RETRY_AFTER, "5"),
            _ => return None,
        };
        Some((name, HeaderValue::from_static(value)))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let sentence = self.sentence();
        let page = Page {
            heading: self.heading(),
            sentence: &sentence,
            asks_token: matches!(self, Self::Token),
            linked: !matches!(self, Self::Token | Self::OtherHost(_)),
        };
        let text = page.render().unwrap_or(sentence);
        let mut answer = (self.status(), Html(text)).into_response();
        if let Some((name, value)) = self.extra_header() {
            answer.headers_mut().insert(name, value);
        }
        answer
    }
}
