//! Which requests are answered: host names, methods, the token; the headers of every answer; assets
//! and what is known of them.

use crate::served::{Served, TOKEN, run};

const PAGES: [&str; 5] = ["/", "/compare", "/trends", "/assets/serve.css", "/nothing"];

fn locked() -> Served {
    Served::with(Some(TOKEN), |history| {
        history.add(&run("vol7", 8192)).unwrap();
    })
}

#[test]
fn every_answer_has_the_headers_that_keep_it_apart() {
    let served = Served::sample();
    for target in PAGES {
        let answer = served.get(target);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self';"),
            "{policy}"
        );
        assert!(
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{target}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{target}");
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"), "{target}");
        assert!(answer.header("cache-control").unwrap().starts_with("private"), "{target}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{target}");
        assert!(!answer.text().contains("style=\""), "{target}");
    }
}

#[test]
fn another_name_for_this_address_is_not_answered() {
    let served = Served::sample();
    let port = served.address.port();
    for host in [
        "example.com",
        "127.0.0.1.example.com",
        "10.0.0.1",
        "localhost.example.com",
        "[::2]",
        "a@127.0.0.1",
    ] {
        let answer = served.ask("GET", "/", &format!("Host: {host}:{port}\r\n"));
        answer.is(403, "localhost");
        assert!(!answer.text().contains("vol7"), "{host}");
    }
    for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"] {
        served.ask("GET", "/", &format!("Host: {host}:{port}\r\n")).is(200, "vol7");
    }
    served.ask("GET", "/", "Host: localhost:9000\r\n").is(200, "vol7");
    served.ask("GET", "/", "Host: localhost\r\nHost: example.com\r\n").is(403, "");
    served.send(b"GET / HTTP/1.0\r\n\r\n").is(403, "");
    served.ask("GET", "http://example.com/", "").is(403, "");
}

#[test]
fn only_get_and_head_are_answered() {
    let served = Served::sample();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"] {
        for target in ["/", "/nothing", "/result/x", "/assets/serve.css"] {
            let answer = served.ask(method, target, "");
            assert_eq!(answer.status, 405, "{method} {target}");
            assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{method} {target}");
        }
    }
    for target in PAGES {
        let (get, head) = (served.get(target), served.ask("HEAD", target, ""));
        assert_eq!((head.status, head.body.len()), (get.status, 0), "{target}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{target}");
        assert_eq!(head.header("content-length"), get.header("content-length"), "{target}");
    }
}

#[test]
fn with_a_token_nothing_of_the_history_is_shown_without_it() {
    let served = locked();
    for target in [
        "/",
        "/compare",
        "/trends",
        "/result/latest",
        "/result/latest.json",
        "/live/x",
        "/live/x/events",
        "/nothing",
    ] {
        let answer = served.get(target);
        assert_eq!(answer.status, 401, "{target}");
        assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"), "{target}");
        assert!(!answer.text().contains("vol7") && !answer.text().contains(TOKEN), "{target}");
    }
    served.get("/assets/report.css").is(200, "");
    served.ask("GET", "/", &format!("Authorization: Bearer {TOKEN}\r\n")).is(200, "vol7");
    served.ask("GET", "/", &format!("Authorization: bearer {TOKEN}\r\n")).is(200, "vol7");
    for wrong in
        ["", "Bearer", "Bearer x", "Basic YTpi", "Bearer a-token-of-22-letters", "Bearer \u{1f600}"]
    {
        let answer = served.ask("GET", "/", &format!("Authorization: {wrong}\r\n"));
        assert_eq!(answer.status, 401, "{wrong}");
    }
}

#[test]
fn a_token_in_the_address_becomes_a_cookie_and_leaves_the_address() {
    let served = locked();
    let entered = served.get(&format!("/trends?host=a%26b&token={TOKEN}"));
    assert_eq!(entered.status, 303);
    assert_eq!(entered.header("location"), Some("/trends?host=a%26b"));
    let cookie = entered.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains(TOKEN), "other ports of this host get it, too");
    let pair = cookie.split(';').next().unwrap().to_owned();
    served.ask("GET", "/", &format!("Cookie: other=1; {pair}\r\n")).is(200, "vol7");
    assert_eq!(served.ask("GET", "/", &format!("Cookie: {pair}0\r\n")).status, 401);
    assert_eq!(served.ask("GET", "/", "Cookie: iosonde=1\r\n").status, 401);
    assert_eq!(served.get("/?token=wrong").status, 401);
    assert_eq!(served.ask("GET", "/?token=wrong", &format!("Cookie: {pair}\r\n")).status, 401);
    assert_eq!(served.ask("POST", &format!("/?token={TOKEN}"), "").status, 405);
    // A redirect never leads to another host.
    let entered = served.get(&format!("//example.com/x?token={TOKEN}"));
    assert_eq!(entered.header("location"), Some("/example.com/x"));
}

#[test]
fn an_asset_is_sent_once() {
    let served = Served::sample();
    for name in ["report.css", "report.js", "serve.css", "list.js", "live.js", "icon.svg"] {
        let target = format!("/assets/{name}");
        let first = served.get(&target);
        assert_eq!(first.status, 200, "{name}");
        let tag = first.header("etag").unwrap().to_owned();
        assert!(tag.starts_with('"') && tag.ends_with('"'), "strong: {tag}");
        let again = served.ask("GET", &target, &format!("If-None-Match: {tag}\r\n"));
        assert_eq!((again.status, again.body.len()), (304, 0), "{name}");
        assert_eq!(again.header("etag"), Some(tag.as_str()), "{name}");
        assert_eq!(served.ask("GET", &target, "If-None-Match: \"x\"\r\n").status, 200);
    }
}
