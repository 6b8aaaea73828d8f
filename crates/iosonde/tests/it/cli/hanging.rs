//! `iosonde validate` on storage that does not answer.

use std::time::Duration;

use truth::{Fault, FaultPlan, Truth, When};
use workload::{Nanoseconds, SimDevice};

use crate::cli::program::{Running, code, stderr};

/// Ctrl-C while storage hung was answered by nothing: neither what the end waited for, nor what a
/// second one leaves behind.
#[test]
fn who_wants_an_end_hears_what_it_waits_for_and_can_have_it_at_once() {
    let time = Nanoseconds(1000);
    let model = SimDevice { servers: 64, read_ns: time, write_ns: time, ..SimDevice::default() };
    let Ok(truth) = Truth::mount(model, &[16 << 20, 16 << 20]).inspect_err(|reason| {
        testing::skip("iosonde::cli::who_wants_an_end_hears_what_it_waits_for", reason);
    }) else {
        return;
    };
    let directory = truth.directory().to_str().unwrap();
    let args = ["validate", directory, "--size", "4M", "--log-size", "4M", "--seconds", "600"];
    let mut running = Running::start(&args);
    running.wait_for("the load is running");
    let stall = Fault::Stall(Nanoseconds(8_000_000_000));
    truth.inject(vec![FaultPlan::new(stall, When::Every(1)).in_file("iosonde.mdx")]);
    std::thread::sleep(Duration::from_millis(300));
    running.signal("INT");
    running.wait_for("the end waits for I/Os");
    running.signal("INT");
    let output = running.end();
    let said = stderr(&output);
    assert_eq!(code(&output), 130, "{said}");
    let file = truth.directory().join("iosonde.mdx");
    let on = format!("on `{}`, the oldest a ", file.display());
    assert!(
        said.contains(&on) && said.contains("a second Ctrl-C ends the program at once"),
        "{said}"
    );
    assert!(said.contains("ended at once, which keeps `"), "{said}");
}
