//! Requests that want more than there is: other files, other SQL, endless addresses, bytes that are
//! not HTTP.

use std::io::Write;

use crate::served::Served;

/// Texts that are harmless as data and nothing else.
const TEXTS: [&str; 12] = [
    "'",
    "' OR '1'='1",
    "\"; DROP TABLE experiments; --",
    "%25",
    "%00",
    "%0d%0aX-Injected:%201",
    "%ff%fe",
    "<script>alert(1)</script>",
    "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%f0%9f%98%80",
    "@",
];

fn encoded(text: &str) -> String {
    text.replace(' ', "%20")
        .replace('"', "%22")
        .replace('<', "%3C")
        .replace('>', "%3E")
        .replace('\'', "%27")
}

#[test]
fn no_path_leads_to_a_file() {
    let served = Served::sample();
    let targets = [
        "/../../etc/passwd",
        "/assets/../../../etc/passwd",
        "/assets/..%2f..%2f..%2fetc%2fpasswd",
        "/assets/%2fetc%2fpasswd",
        "/assets//etc/passwd",
        "/assets/.",
        "/assets/..",
        "/assets/serve.css/",
        "/assets/SERVE.CSS",
        "/assets/history.db",
        "/result/../history.db",
        "/result/..%2fhistory.db",
        "/result/%2e%2e%2fhistory.db.json",
        "/history.db",
        "//",
        "/result/",
        "/live/",
        "/live/a/b",
        "/live//events",
    ];
    for target in targets {
        let answer = served.get(target);
        assert!((400..500).contains(&answer.status), "{target}: {}", answer.status);
        let text = answer.text();
        assert!(!text.contains("root:") && !text.contains("SQLite format"), "{target}: {text}");
    }
}

#[test]
fn no_parameter_becomes_sql_markup_or_a_header() {
    let served = Served::sample();
    let fields = [
        "text", "kind", "status", "pattern", "block", "host", "target", "tag", "since", "until",
        "order", "page",
    ];
    let others = [
        "/compare?a=",
        "/compare?with=",
        "/compare?band=",
        "/trends?host=",
        "/trends?target=",
        "/trends?conditions=",
        "/trends?figure=",
        "/result/",
        "/live/",
    ];
    let lists = fields.iter().map(|field| format!("/?{field}="));
    for start in lists.chain(others.map(str::to_owned)) {
        for text in TEXTS {
            let answer = served.get(&format!("{start}{}", encoded(text)));
            assert!([200, 400, 404].contains(&answer.status), "{start}{text}: {}", answer.status);
            let page = answer.text();
            assert!(!page.contains("<script>alert"), "{start}{text}");
            assert!(
                !page.contains("syntax error") && !page.to_lowercase().contains("panicked"),
                "{start}{text}: {page}"
            );
            assert_eq!(answer.header("x-injected"), None, "{start}{text}");
        }
    }
    served.get("/").is(200, "vol7");
}

#[test]
fn absurd_figures_are_refused_or_harmless() {
    let served = Served::sample();
    let targets = [
        "/?page=18446744073709551615",
        "/?page=-1",
        "/?page=0",
        "/?page=1e9",
        "/?page=99999",
        "/?block=99999999999999999999T",
        "/?block=-1",
        "/?block=NaN",
        "/?since=0000-00-00",
        "/?since=9999-99-99",
        "/?until=2026-13-45",
        "/?since=2026-11-21T00:00:00Z",
        "/compare?a=latest&b=latest&band=-1",
        "/compare?a=latest&b=latest&band=1e309",
        "/compare?a=latest&b=latest&band=NaN",
        "/compare?with=a&with=b&with=c",
        "/trends?figure=nothing",
    ];
    for target in targets {
        let answer = served.get(target);
        assert!(
            [200, 400, 404].contains(&answer.status),
            "{target}: {} {}",
            answer.status,
            answer.text()
        );
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let served = Served::sample();
    let long = "x".repeat(9000);
    assert_eq!(served.get(&format!("/?text={long}")).status, 414);
    assert_eq!(served.get(&format!("/result/{}", "x".repeat(300))).status, 400);
    let header = format!("X-Long: {}\r\n", "x".repeat(40_000));
    assert_eq!(served.ask("GET", "/", &header).status, 431);
    assert_eq!(served.ask("GET", "/", &"X-Many: 1\r\n".repeat(100)).status, 431);
    let endless = format!("GET / HTTP/1.1\r\nX-Long: {}", "x".repeat(1 << 20));
    assert!([0, 431].contains(&served.send(endless.as_bytes()).status));
    let many = "&tag=x".repeat(1300);
    assert!([200, 400].contains(&served.get(&format!("/?a=1{many}")).status));
    served.get("/").is(200, "vol7");
}

#[test]
fn what_is_no_http_does_no_harm() {
    let served = Served::sample();
    for bytes in [
        &b"\0\0\0\0\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut stream = served.connect();
        stream.write_all(bytes).unwrap();
        // Some begin like a request: the server may wait for more of them, and nobody waits for the
        // server.
        drop(stream);
    }
    served.get("/").is(200, "vol7");
}

#[test]
fn clients_that_say_nothing_hold_up_nobody() {
    let served = Served::sample();
    let silent: Vec<_> = (0..60).map(|_| served.connect()).collect();
    let mut slow = served.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
    served.get("/").is(200, "vol7");
    drop(silent);
    served.end().unwrap();
}

/// Two thousand connections without a request stopped the server for 32 s: the others waited until
/// those had run out of time.
#[test]
fn idle_connections_keep_nobody_out() {
    let served = Served::sample();
    let idle: Vec<_> = (0..400).map(|_| served.connect()).collect();
    assert_eq!(served.get("/").status, 200);
    // Half a request is no request, either.
    let half: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = served.connect();
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: ");
            stream
        })
        .collect();
    assert_eq!(served.get("/").status, 200);
    drop((idle, half));
    served.end().unwrap();
}
