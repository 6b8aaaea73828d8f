//! Which requests are answered, and the headers of every answer.
//!
//! On this computer's own address, a page of another site must not get at the history by giving its
//! own name this address (DNS rebinding): only names of this computer are answered. Port and scheme
//! do not matter for that, so that a forwarded port (`ssh -L`) works. Where there is a token,
//! nobody is answered without it: it comes in an `Authorization` header, or once in the address,
//! and then stays in the browser as a cookie that lasts as long as this process. Programs that ask
//! for figures send it each time, in either place.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};

use crate::listen::Purpose;
use crate::problem::Problem;
use crate::{Listener, ServeError, Token, parameters};

/// Bytes of path and query together.
const TARGET_BYTES: usize = 8 << 10;
/// The most bytes of all headers together.
const HEADER_BYTES: usize = 32 << 10;
/// In the address, the name of the token.
const TOKEN: &str = "token";

/// On every answer: nothing comes from elsewhere, nothing goes elsewhere, nothing shows this page
/// inside another.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

/// What a request is held against.
#[derive(Clone)]
pub(crate) struct Guard(Arc<Rules>);

struct Rules {
    local: bool,
    purpose: Purpose,
    token: Option<Token>,
    /// What the cookie holds. Not the token: cookies go to every port of a host.
    session: Token,
    cookie: String,
}

impl Guard {
    pub(crate) fn new(listener: &Listener) -> Result<Self, ServeError> {
        let cookie = format!("iosonde-{}", listener.address.port());
        let (local, token) = (listener.is_local(), listener.token.clone());
        let (purpose, session) = (listener.purpose, Token::random()?);
        Ok(Self(Arc::new(Rules { local, purpose, token, session, cookie })))
    }
}

/// The router with the guard in front of it.
pub(crate) fn guarded(router: Router, guard: Guard) -> Router {
    router.layer(from_fn_with_state(guard, check))
}

async fn check(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut answer = match guard.0.refusal(&request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    let headers = answer.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-store"));
    answer
}

impl Rules {
    /// The answer to a request that gets no further.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
        if target > TARGET_BYTES {
            return Some(Problem::TooLong.into_response());
        }
        let headers = request.headers().iter();
        if headers.map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>()
            > HEADER_BYTES
        {
            return Some(Problem::Headers.into_response());
        }
        if self.local && !named_locally(request) {
            return Some(Problem::OtherHost(self.purpose.flag()).into_response());
        }
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            return Some(Problem::Method.into_response());
        }
        let token = self.token.as_ref()?;
        let query = request.uri().query().unwrap_or_default();
        if let Some(offered) = parameters::first(query, TOKEN) {
            return match (token.is(&offered), self.purpose) {
                (false, _) => Some(Problem::Token.into_response()),
                (true, Purpose::History) => Some(self.enter(request)),
                // A program that keeps no cookie would be asked for the token again.
                (true, Purpose::Metrics) => None,
            };
        }
        // Style and script hold nothing of the history, and the page that asks for the token wants
        // them.
        let free = request.uri().path().starts_with("/assets/");
        let known = free || self.knows(request.headers(), token);
        (!known).then(|| Problem::Token.into_response())
    }

    fn knows(&self, headers: &HeaderMap, token: &Token) -> bool {
        let bearer = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        if bearer.is_some_and(|(_, offered)| token.is(offered.trim())) {
            return true;
        }
        let cookies =
            headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        cookies
            .flat_map(|line| line.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(name, value)| name == self.cookie && self.session.is(value))
    }

    /// Back to the same page without the token in its address, with a cookie instead.
    fn enter(&self, request: &Request) -> Response {
        let rest = parameters::without(request.uri().query().unwrap_or_default(), TOKEN);
        // One slash: `//name` would be another host.
        let path = format!("/{}", request.uri().path().trim_start_matches(['/', '\\']));
        let to = if rest.is_empty() { path } else { format!("{path}?{rest}") };
        let cookie =
            format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie, self.session.reveal());
        let headers = [(header::LOCATION, to), (header::SET_COOKIE, cookie)];
        (StatusCode::SEE_OTHER, headers).into_response()
    }
}

/// Whether the request names this computer, and only once.
fn named_locally(request: &Request) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    // An address in the request line goes before the header (RFC 9112, section 3.2.2), so both must
    // be right.
    let line = request.uri().authority();
    host.to_str().is_ok_and(is_local) && line.is_none_or(|line| is_local(line.as_str()))
}

/// Whether a host with or without a port is this computer, by a name that nobody else can give to
/// an address.
fn is_local(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    if authority.as_str().contains('@') {
        return false;
    }
    let name = authority.host();
    if let Some(v6) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        return v6.parse() == Ok(Ipv6Addr::LOCALHOST);
    }
    let address = name.parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_names_that_nobody_else_can_have_are_local() {
        for host in ["127.0.0.1:7468", "127.0.0.1", "LocalHost:9000", "[::1]:7468", "127.3.2.1:1"] {
            assert!(is_local(host), "{host}");
        }
        let others = [
            "",
            "example.com:7468",
            "localhost.example.com",
            "127.0.0.1.example.com",
            "[::2]:7468",
            "10.0.0.1",
            "a@127.0.0.1:7468",
            "127.0.0.1@example.com",
            "0.0.0.0:7468",
            "localhost.",
            "127.1:7468",
            "2130706433",
            "::1",
        ];
        for host in others {
            assert!(!is_local(host), "{host}");
        }
    }

    proptest! {
        #[test]
        fn no_host_is_a_panic(host in any::<String>()) {
            let _ = is_local(&host);
        }

        #[test]
        fn a_name_with_a_dot_and_a_letter_is_never_local(host in "[a-z0-9]{0,9}\\.[a-z][a-z0-9.]{0,9}") {
            prop_assert!(!is_local(&host));
        }
    }
}
