//! SIGINT, SIGTERM and SIGHUP: the first ends the run in order, the second ends the program at
//! once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[cfg(unix)]
use signal_hook::consts::{SIGINT, SIGTERM};
#[cfg(unix)]
use signal_hook::flag;

/// A flag that the first signal sets, or on Windows what closes the console or the session.
pub(crate) fn install() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(windows)]
    screen::end_on_second(&stop)?;
    // One handler does both. If one handler asked and another set the flag, two signals at once
    // could end the program between the two, with the live screen still on.
    #[cfg(unix)]
    for signal in [SIGINT, SIGTERM] {
        screen::end_on_second(signal, &stop)?;
    }
    // A dropped connection ends the run in order, too, unless `nohup` said that it should continue.
    #[cfg(unix)]
    if !hangup_is_ignored() {
        screen::end_in_order(signal_hook::consts::SIGHUP, &stop)?;
    }
    // A file over `ulimit -f` fails its write instead of ending the program.
    #[cfg(unix)]
    flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    Ok(stop)
}

/// Whether the program was started with SIGHUP ignored, as `nohup` does.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Signal 1 is the lowest bit of the mask.
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 != 0)
}
