//! Nanoseconds since the program's start, from the CPU's counter where it can be trusted.
//!
//! The counter is used only where it runs at a constant rate in every power state and the kernel
//! itself keeps time by it; everywhere else the operating system's clock is asked. Both are
//! monotonic and shared by all threads.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The source of all time stamps of a run.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
    counter: Option<Counter>,
}

/// The rate of the CPU's counter: nanoseconds = ticks x `scale` / 2^32.
#[derive(Debug, Clone, Copy)]
struct Counter {
    origin_ticks: u64,
    origin_ns: u64,
    scale: u64,
}

static CLOCK: OnceLock<Clock> = OnceLock::new();

impl Clock {
    /// The clock of this process. The first call takes some milliseconds where the CPU's counter is
    /// calibrated.
    #[must_use]
    pub fn get() -> Self {
        *CLOCK.get_or_init(|| {
            let start = Instant::now();
            let counter = trusted_counter().then(|| calibrate(start)).flatten();
            Self { start, counter }
        })
    }

    /// Nanoseconds since the process first asked.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        match &self.counter {
            Some(counter) => counter.now(),
            None => elapsed(self.start),
        }
    }

    /// Its name in results: `tsc` or `os`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.counter.is_some() { "tsc" } else { "os" }
    }
}

fn elapsed(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

impl Counter {
    #[inline]
    fn now(&self) -> u64 {
        let ticks = ticks().saturating_sub(self.origin_ticks);
        let ns = (u128::from(ticks) * u128::from(self.scale)) >> 32;
        self.origin_ns + u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

/// How long the rate is measured. Windows' clock has steps of 100 ns, so that there two readings
/// must be further apart.
const CALIBRATION: Duration = Duration::from_millis(if cfg!(windows) { 20 } else { 5 });

/// Reads both clocks twice, some ms apart, and compares. Sleeping, so that nobody else's
/// measurement is disturbed.
fn calibrate(start: Instant) -> Option<Counter> {
    let (ticks_before, ns_before) = paired_reading(start);
    std::thread::sleep(CALIBRATION);
    let (ticks_after, ns_after) = paired_reading(start);
    let ticks = ticks_after.checked_sub(ticks_before).filter(|t| *t > 0)?;
    let scale = (u128::from(ns_after - ns_before) << 32) / u128::from(ticks);
    let scale = u64::try_from(scale).ok().filter(|s| *s > 0)?;
    Some(Counter { origin_ticks: ticks_before, origin_ns: ns_before, scale })
}

/// The counter and the system's clock at the same moment: the pair with the shortest time between,
/// of several.
fn paired_reading(start: Instant) -> (u64, u64) {
    let read = || {
        let before = ticks();
        let ns = elapsed(start);
        let width = ticks().saturating_sub(before);
        (width, before + width / 2, ns)
    };
    let best = (0..16).map(|_| read()).min_by_key(|(width, ..)| *width);
    best.map_or((0, 0), |(_, ticks, ns)| (ticks, ns))
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "reads the CPU's counter")]
fn ticks() -> u64 {
    // SAFETY: the instruction is there on every x86-64 CPU and touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn ticks() -> u64 {
    0
}

/// Whether the counter is constant, never stops, and is what the kernel keeps time by.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn trusted_counter() -> bool {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let is_tsc = std::fs::read_to_string(source).is_ok_and(|s| s.trim() == "tsc");
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = info.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    let has = |name: &str| flags.split_whitespace().any(|f| f == name);
    is_tsc && has("constant_tsc") && has("nonstop_tsc")
}

/// Whether Windows itself keeps time by the counter, and by nothing else.
#[cfg(all(target_arch = "x86_64", windows))]
fn trusted_counter() -> bool {
    let (power, bypass) = crate::platform::counter_flags();
    is_trusted_by_windows(power, bypass)
}

#[cfg(not(all(target_arch = "x86_64", any(target_os = "linux", windows))))]
fn trusted_counter() -> bool {
    false
}

/// Reads what the CPU says of its counter (EDX of CPUID 8000_0007), and what Windows says of its
/// own use of it (`QpcBypassEnabled` of `KUSER_SHARED_DATA`): the counter runs at one rate in every
/// state, and programs may read it instead of asking the system. Where a hypervisor's page says how
/// to read it, the rate may change when a machine moves, so that counter is not used.
#[cfg(any(all(target_arch = "x86_64", windows), test))]
fn is_trusted_by_windows(power: u32, bypass: u8) -> bool {
    const INVARIANT: u32 = 1 << 8;
    const ENABLED: u8 = 1;
    const BY_HYPERVISOR_PAGE: u8 = 2;
    power & INVARIANT != 0 && bypass & (ENABLED | BY_HYPERVISOR_PAGE) == ENABLED
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0x81 and 0x83 are what Windows 10 says without and with a hypervisor; the highest bit is the
    /// instruction that reads the counter.
    #[test]
    fn windows_says_whether_it_reads_the_counter_itself() {
        let invariant = 0x100;
        for (power, bypass, trusted) in [
            (invariant, 0x81, true),
            (invariant, 0x01, true),
            (0x1ff, 0x31, true),
            (invariant, 0x83, false),
            (invariant, 0x80, false),
            (invariant, 0, false),
            (0xff, 0x81, false),
            (0, 0, false),
        ] {
            assert_eq!(is_trusted_by_windows(power, bypass), trusted, "{power:x} {bypass:x}");
        }
    }

    #[test]
    fn time_runs_forwards_and_at_the_systems_pace() {
        let clock = Clock::get();
        let (system, ours) = (Instant::now(), clock.now());
        let mut last = ours;
        while system.elapsed() < Duration::from_millis(20) {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
        let (system, ours) = (elapsed(system), clock.now() - ours);
        let ratio = ours as f64 / system as f64;
        assert!((0.99..1.01).contains(&ratio), "{ours} ns against {system} ns ({})", clock.name());
    }
}
