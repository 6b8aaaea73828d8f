//! Devices and the figures of a window, as lines of text.

use counters::{BlockDevice, Span};
use monitor::{Chain, Observation};
use report::text::{clean, device_figures, host_line, layer};

/// The heading: the devices that are watched.
#[must_use]
pub fn heading(chains: &[Chain], devices: &[BlockDevice]) -> String {
    let line = |chain: &Chain| {
        let target = clean(&chain.target.to_string_lossy());
        let file_system = chain.file_system.as_deref().map(clean);
        let layers = chain.devices.iter().map(|name| layer(name, devices));
        let all: Vec<String> = file_system.into_iter().chain(layers).collect();
        format!("{target}: {}\n", all.join(" > "))
    };
    chains.iter().map(line).collect()
}

/// The lines that show a window.
#[must_use]
pub fn window(o: &Observation, at: &str) -> String {
    let span = Span { seconds: o.window.seconds, readings: 1 };
    let host = host_line(&o.window.system, span);
    format!("{at}  {host}\n{}", device_figures(&o.window.disks, span, &o.rows))
}
