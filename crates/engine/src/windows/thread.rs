//! What concerns threads: where they run, what CPU they use.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::io;
use std::marker::PhantomData;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
use windows_sys::Win32::System::Threading::{
    GetActiveProcessorCount, GetActiveProcessorGroupCount, GetCurrentProcess, GetCurrentThread,
    GetProcessAffinityMask, GetProcessTimes, GetThreadTimes, SetThreadGroupAffinity,
};
use workload::Stream;

use crate::error::EngineError;
use crate::windows_names::place_of_cpu;

/// What a worker's thread does before it works.
pub(super) struct Setup {
    cpu: Option<u32>,
}

impl Setup {
    /// The set-up of thread number `rank` of a stream, counted over all of its targets.
    pub(super) fn new(stream: &Stream, rank: u32) -> Self {
        let cpus = &stream.cpus;
        Self { cpu: cpus.get(rank as usize % cpus.len().max(1)).copied() }
    }

    /// Applies it to the calling thread.
    pub(super) fn apply(&self) -> Result<(), EngineError> {
        let Some(cpu) = self.cpu else { return Ok(()) };
        bind(cpu).map_err(|source| EngineError::Thread {
            what: format!("bind a thread to CPU {cpu}"),
            source,
            remedy: "name CPUs that exist and that this process may use",
        })
    }
}

/// Real-time priority of the calling thread; here, nothing changes.
#[derive(Debug)]
pub struct Prompt(PhantomData<*const ()>);

impl Prompt {
    /// Leaves the thread as it is.
    #[must_use]
    pub fn take() -> Self {
        Self(PhantomData)
    }
}

/// The active CPUs of each group.
fn groups() -> Vec<u32> {
    // SAFETY: take and give plain numbers.
    unsafe { (0..GetActiveProcessorGroupCount()).map(|g| GetActiveProcessorCount(g)).collect() }
}

fn bind(cpu: u32) -> io::Result<()> {
    let (group, bit) = place_of_cpu(cpu, &groups()).ok_or(io::ErrorKind::InvalidInput)?;
    let affinity = GROUP_AFFINITY { Mask: 1 << bit, Group: group, ..GROUP_AFFINITY::default() };
    // SAFETY: the structure lives until the call returns, and the previous value is not read.
    let result = unsafe {
        SetThreadGroupAffinity(GetCurrentThread(), &raw const affinity, std::ptr::null_mut())
    };
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The CPUs that this process may run on, by number: on a machine of several groups all of them.
pub(crate) fn allowed_cpus() -> Vec<u32> {
    let groups = groups();
    let all = 0..groups.iter().sum();
    let (mut mask, mut system) = (0_usize, 0_usize);
    // SAFETY: two numbers are written.
    let known =
        unsafe { GetProcessAffinityMask(GetCurrentProcess(), &raw mut mask, &raw mut system) != 0 };
    let allowed = |cpu: &u32| groups.len() != 1 || !known || mask >> cpu & 1 == 1;
    all.filter(allowed).collect()
}

/// Kernel and user time of four times that Windows tells, in nanoseconds.
fn times(
    ask: impl FnOnce(*mut FILETIME, *mut FILETIME, *mut FILETIME) -> i32,
) -> Option<(u64, u64)> {
    let mut times = [FILETIME::default(); 3];
    let [other, kernel, user] = &mut times;
    if ask(&raw mut *other, &raw mut *kernel, &raw mut *user) == 0 {
        return None;
    }
    let ns = |t: &FILETIME| {
        (u64::from(t.dwHighDateTime) << 32 | u64::from(t.dwLowDateTime)).saturating_mul(100)
    };
    Some((ns(&times[1]), ns(&times[2])))
}

/// CPU time of the calling thread, in steps of the system's tick.
pub(crate) fn thread_cpu_ns() -> Option<u64> {
    // SAFETY: four times are written; begin and end may be in the same place.
    let (kernel, user) = times(|other, kernel, user| unsafe {
        GetThreadTimes(GetCurrentThread(), other, other, kernel, user)
    })?;
    Some(kernel + user)
}

/// For how long the calling thread has run or waited for a processor: Windows counts only the
/// first.
pub(crate) fn thread_wanted_ns() -> Option<u64> {
    None
}

/// User and system CPU seconds of this process.
pub(crate) fn process_cpu() -> Option<(f64, f64)> {
    // SAFETY: four times are written; begin and end may be in the same place.
    let (kernel, user) = times(|other, kernel, user| unsafe {
        GetProcessTimes(GetCurrentProcess(), other, other, kernel, user)
    })?;
    Some((user as f64 / 1e9, kernel as f64 / 1e9))
}
