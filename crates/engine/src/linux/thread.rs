//! What concerns threads: where they run, how their I/O is ranked, what CPU they use.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::io;
use std::marker::PhantomData;

use rustix::time::{ClockId, clock_gettime};
use workload::{Priority, Stream};

use crate::error::EngineError;

/// What a worker's thread does before it works.
pub(super) struct Setup {
    cpu: Option<u32>,
    priority: Option<Priority>,
}

impl Setup {
    /// The set-up of thread number `rank` of a stream, counted over all of its targets.
    pub(super) fn new(stream: &Stream, rank: u32) -> Self {
        let cpus = &stream.cpus;
        let at = rank as usize % cpus.len().max(1);
        Self { cpu: cpus.get(at).copied(), priority: stream.priority }
    }

    /// Applies it to the calling thread.
    pub(super) fn apply(&self) -> Result<(), EngineError> {
        // Timers of the default slack (50 µs) would make every scheduled I/O late. Failing changes
        // nothing else. SAFETY: takes plain numbers.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
        if let Some(cpu) = self.cpu {
            bind(cpu).map_err(|source| EngineError::Thread {
                what: format!("bind a thread to CPU {cpu}"),
                source,
                remedy: "name CPUs that exist and that this process may use",
            })?;
        }
        if let Some(priority) = self.priority {
            set_priority(priority).map_err(|source| EngineError::Thread {
                what: format!("set the I/O priority {priority:?}"),
                source,
                remedy: "realtime priority needs root; best effort needs none",
            })?;
        }
        Ok(())
    }
}

/// Real-time priority of the calling thread, where the system grants it, until this is dropped.
/// Without it, a thread that sleeps until a named moment wakes up milliseconds late on a busy host.
#[derive(Debug)]
pub struct Prompt {
    is_raised: bool,
    /// It is of the thread that took it.
    _of_thread: PhantomData<*const ()>,
}

impl Prompt {
    /// Raises the priority of the calling thread.
    #[must_use]
    pub fn take() -> Self {
        // A thread that already has a special policy keeps it.
        let is_raised = policy() == libc::SCHED_OTHER && set_policy(libc::SCHED_FIFO, 1);
        Self { is_raised, _of_thread: PhantomData }
    }
}

impl Drop for Prompt {
    fn drop(&mut self) {
        if self.is_raised {
            set_policy(libc::SCHED_OTHER, 0);
        }
    }
}

fn policy() -> i32 {
    // The C library of static builds refuses these calls. SAFETY: takes plain numbers.
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    i32::try_from(policy).unwrap_or(-1)
}

fn set_policy(policy: i32, priority: i32) -> bool {
    // The kernel reads one number. SAFETY: it lives until the call has returned.
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) == 0 }
}

fn bind(cpu: u32) -> io::Result<()> {
    let cpu = cpu as usize;
    if cpu >= 8 * std::mem::size_of::<libc::cpu_set_t>() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the set is plain bits, for which zero is a value; `cpu` is below its size; the kernel
    // only reads it.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &raw const set)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The CPUs that the calling thread may run on, by number; empty where the system does not tell.
pub(crate) fn allowed_cpus() -> Vec<u32> {
    // SAFETY: the set is plain bits, for which zero is a value, and the kernel fills no more than
    // its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let bytes = std::mem::size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, bytes, &raw mut set) != 0 {
            return Vec::new();
        }
        set
    };
    let count = u32::try_from(8 * std::mem::size_of::<libc::cpu_set_t>()).unwrap_or(0);
    // SAFETY: every number is below the size of the set.
    (0..count).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu as usize, &set) }).collect()
}

fn set_priority(priority: Priority) -> io::Result<()> {
    const WHO_PROCESS: libc::c_int = 1;
    const CLASS_SHIFT: u32 = 13;
    let (class, level) = match priority {
        Priority::Realtime { level } => (1, level),
        Priority::BestEffort { level } => (2, level),
        Priority::Idle => (3, 0),
    };
    let value = (class << CLASS_SHIFT) | libc::c_int::from(level);
    // SAFETY: takes plain numbers; 0 is the calling thread.
    let result = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, value) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// CPU time of the calling thread.
#[expect(clippy::unnecessary_wraps, reason = "other systems do not tell")]
pub(crate) fn thread_cpu_ns() -> Option<u64> {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (s, ns) =
        (u64::try_from(time.tv_sec).unwrap_or(0), u64::try_from(time.tv_nsec).unwrap_or(0));
    Some(s * 1_000_000_000 + ns)
}

/// For how long the calling thread has run or waited for a processor.
pub(crate) fn thread_wanted_ns() -> Option<u64> {
    wanted_ns(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
}

/// The first two numbers are nanoseconds on a processor and in its queue. Kernels that do not count
/// them say 0.
fn wanted_ns(schedstat: &str) -> Option<u64> {
    let mut numbers = schedstat.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
    let (ran, queued) = (numbers.next()??, numbers.next()??);
    Some(ran.saturating_add(queued)).filter(|ns| *ns > 0)
}

/// User and system CPU seconds of this process, with the kernel's threads that work for it.
pub(crate) fn process_cpu() -> Option<(f64, f64)> {
    // SAFETY: the structure is plain numbers, for which zero is a value, and the kernel fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        if libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) != 0 {
            return None;
        }
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    Some((seconds(usage.ru_utime), seconds(usage.ru_stime)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_prompt_as_long_as_it_asks_for_it() {
        let before = policy();
        let prompt = Prompt::take();
        let during = policy();
        assert_eq!(during == libc::SCHED_FIFO, prompt.is_raised);
        drop(prompt);
        assert_eq!(policy(), before);
    }

    #[test]
    fn the_time_of_a_thread_is_that_on_a_processor_and_in_its_queue() {
        assert_eq!(wanted_ns("1500 300 7\n"), Some(1800));
        for text in ["0 0 0", "", "1500", "1500 x 7"] {
            assert_eq!(wanted_ns(text), None, "{text}");
        }
    }

    #[test]
    fn cpus_are_given_in_turn() {
        let stream = Stream { cpus: vec![4, 6], ..Stream::default() };
        let cpus = [0, 1, 2, 3].map(|rank| Setup::new(&stream, rank).cpu);
        assert_eq!(cpus, [Some(4), Some(6), Some(4), Some(6)]);
        assert_eq!(Setup::new(&Stream::default(), 3).cpu, None);
    }
}
