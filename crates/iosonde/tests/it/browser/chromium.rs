//! A headless Chromium, driven over the DevTools protocol through a pipe: messages of JSON, a zero
//! byte after each.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Nothing in a page takes long; what takes longer hangs.
const HANGS: Duration = Duration::from_secs(60);
/// How often a page is asked whether something has happened in it.
const LOOK: Duration = Duration::from_millis(50);

/// Chromium's descriptors 3 and 4 carry commands to it and its answers; a shell can set them.
const START: &str = "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";
const CHROMIUM: [&str; 16] = [
    "chromium",
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--no-first-run",
    "--no-proxy-server",
    "--hide-scrollbars",
    "--mute-audio",
];

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    calls: u64,
    events: VecDeque<Value>,
    /// What the page complained about: errors on its console, exceptions, violations of its policy.
    complaints: Vec<String>,
    _profile: TempDir,
}

/// Whether there is a Chromium here; where not, the test counts as skipped.
pub(crate) fn is_there(test: &str) -> bool {
    let found = Command::new("chromium").arg("--version").stdout(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return true;
    }
    testing::skip(&format!("iosonde::browser::{test}"), "there is no `chromium` here");
    false
}

impl Browser {
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let data = format!("--user-data-dir={}", profile.path().display());
        let mut child = Command::new("sh")
            .args(["-c", START, "sh"])
            .args(CHROMIUM)
            .args([&data, "about:blank"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let (heard, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while said.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { break };
                if heard.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let (events, complaints) = (VecDeque::new(), Vec::new());
        let session = String::new();
        let mut browser =
            Self { child, to, from, session, calls: 0, events, complaints, _profile: profile };
        let page = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach);
        attached["sessionId"].as_str().unwrap().clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.show_as(1200, 900, false);
        browser
    }

    /// Asks the browser to do something and waits for its answer.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.to.write_all(message.to_string().as_bytes()).unwrap();
        self.to.write_all(&[0]).unwrap();
        loop {
            let message = self.from.recv_timeout(HANGS).unwrap_or_else(|e| panic!("{method}: {e}"));
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.note(message);
        }
    }

    fn note(&mut self, event: Value) {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                self.complaints.push(params["entry"].to_string());
            }
            "Runtime.exceptionThrown" => self.complaints.push(params.to_string()),
            "Runtime.consoleAPICalled"
                if ["error", "warning"].contains(&params["type"].as_str().unwrap_or_default()) =>
            {
                self.complaints.push(params.to_string());
            }
            "Page.loadEventFired" => self.events.push_back(event),
            _ => {}
        }
    }

    /// Opens an address and waits until it is loaded.
    #[track_caller]
    pub(crate) fn open(&mut self, url: &str) {
        self.events.clear();
        let outcome = self.call("Page.navigate", &json!({ "url": url }));
        assert!(outcome["errorText"].is_null(), "{url}: {}", outcome["errorText"]);
        self.loaded();
    }

    /// Does something in the page that leads to another one, and waits until that is loaded.
    #[track_caller]
    pub(crate) fn follow(&mut self, script: &str) {
        self.events.clear();
        self.eval(script);
        self.loaded();
    }

    #[track_caller]
    fn loaded(&mut self) {
        let begun = Instant::now();
        while self.events.is_empty() {
            let left = HANGS.saturating_sub(begun.elapsed());
            let event = self.from.recv_timeout(left).expect("the page is loaded in time");
            self.note(event);
        }
    }

    /// The value of an expression in the page; promises are waited for.
    #[track_caller]
    pub(crate) fn eval(&mut self, script: &str) -> Value {
        let params = json!({ "expression": script, "returnByValue": true, "awaitPromise": true,
            "userGesture": true });
        let outcome = self.call("Runtime.evaluate", &params);
        assert!(outcome["exceptionDetails"].is_null(), "{script}: {}", outcome["exceptionDetails"]);
        outcome["result"]["value"].clone()
    }

    #[track_caller]
    pub(crate) fn text(&mut self, script: &str) -> String {
        let value = self.eval(script);
        value.as_str().unwrap_or_else(|| panic!("{script} is {value}")).to_owned()
    }

    /// Waits until an expression in the page is true.
    #[track_caller]
    pub(crate) fn until(&mut self, script: &str) {
        let begun = Instant::now();
        while self.eval(script) != json!(true) {
            assert!(
                begun.elapsed() < HANGS,
                "never true: {script}; the page: {}",
                self.text("document.body.innerText")
            );
            std::thread::sleep(LOOK);
        }
    }

    /// The size of the window, and whether the user likes it dark.
    pub(crate) fn show_as(&mut self, width: u32, height: u32, dark: bool) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &media);
    }

    /// Asserts that the page fits its window, and saves a picture of it where IOSONDE_SCREENSHOTS
    /// says.
    #[track_caller]
    pub(crate) fn look(&mut self, name: &str) {
        let wide = self.eval("document.documentElement.scrollWidth - innerWidth");
        assert!(wide.as_f64().unwrap() <= 0.0, "{name} is {wide} px wider than its window");
        let Some(directory) = std::env::var_os("IOSONDE_SCREENSHOTS") else { return };
        let whole = json!({ "format": "png", "captureBeyondViewport": true });
        let picture = self.call("Page.captureScreenshot", &whole);
        let bytes = BASE64_STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
        std::fs::write(Path::new(&directory).join(format!("{name}.png")), bytes).unwrap();
    }

    /// Asserts that no page so far complained about anything.
    #[track_caller]
    pub(crate) fn is_content(&mut self) {
        self.eval("0");
        assert!(self.complaints.is_empty(), "{:#?}", self.complaints);
    }

    /// What was complained about so far, which is then forgotten.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        self.eval("0");
        std::mem::take(&mut self.complaints)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
