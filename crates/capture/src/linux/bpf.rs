//! The system call `bpf`: maps, programs, and starting them.
#![expect(unsafe_code, reason = "a system call without a safe wrapper")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use crate::program::Program;

/// Kinds of maps and programs, by their numbers in `linux/bpf.h`.
const HASH: u32 = 1;
const ARRAY: u32 = 2;
const TRACING: u32 = 26;
const RAW_TRACEPOINT: u32 = 23;
/// The values of a map can be mapped into a process.
const MAPPABLE: u32 = 1 << 10;

/// Commands of the system call `bpf`, by their numbers in `linux/bpf.h`.
const MAP_CREATE: libc::c_int = 0;
const PROGRAM_LOAD: libc::c_int = 5;
const OBJECT_INFORMATION: libc::c_int = 15;
const TRACEPOINT_OPEN: libc::c_int = 17;

/// The time of day of the kernel may be read by such programs only; our own licence is among them.
const LICENCE: &CStr = c"Dual MIT/GPL";
const LOG_BYTES: usize = 65_536;
/// Where a program's information counts its time, its runs, and what it missed.
const RUN_TIME_AT: usize = 192;
const RUNS_AT: usize = 200;
const MISSES_AT: usize = 208;

#[repr(C)]
#[derive(Default)]
struct MapAttributes {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
    rest: [u32; 13],
}

#[repr(C)]
#[derive(Default)]
struct ProgramAttributes {
    kind: u32,
    count: u32,
    instructions: u64,
    licence: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_kind: u32,
    types: [u32; 9],
    tracepoint: u32,
    attached_to: u32,
    rest: u32,
}

#[repr(C)]
struct InformationAttributes {
    program: u32,
    bytes: u32,
    information: u64,
}

#[repr(C)]
struct TracepointAttributes {
    name: u64,
    program: u32,
    rest: u32,
}

/// What a program did so far, by the kernel's own count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RunCounts {
    /// Time in it, and how often it ran; zero unless the kernel's statistics are switched on.
    pub(super) time_ns: u64,
    pub(super) runs: u64,
    /// How often it did not run, because it interrupted itself.
    pub(super) misses: u64,
}

/// Makes the system call; gives what it returned.
fn bpf<T>(command: libc::c_int, attributes: &mut T) -> io::Result<libc::c_int> {
    let length = size_of::<T>();
    // SAFETY: the attributes are plain data of this length, and every address in them is that of
    // memory that lives until the call returns.
    let outcome =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), length) };
    match libc::c_int::try_from(outcome) {
        Ok(outcome @ 0..) => Ok(outcome),
        _ => Err(io::Error::last_os_error()),
    }
}

fn opened<T>(command: libc::c_int, attributes: &mut T) -> io::Result<OwnedFd> {
    let file = bpf(command, attributes)?;
    // SAFETY: the kernel just gave this file to us, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Values of this many bytes that can be mapped, one after the other.
pub(super) fn make_values(entries: u32, bytes: u32) -> io::Result<OwnedFd> {
    let mut map = MapAttributes {
        kind: ARRAY,
        key_bytes: 4,
        value_bytes: bytes,
        entries,
        flags: MAPPABLE,
        ..MapAttributes::default()
    };
    opened(MAP_CREATE, &mut map)
}

/// A table from 8 bytes to 8 bytes.
pub(super) fn make_table(entries: u32) -> io::Result<OwnedFd> {
    let mut map = MapAttributes {
        kind: HASH,
        key_bytes: 8,
        value_bytes: 8,
        entries,
        ..MapAttributes::default()
    };
    opened(MAP_CREATE, &mut map)
}

/// Why a program was refused: what the kernel said, and the last words of its verifier.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) source: io::Error,
    pub(super) reason: String,
}

/// Gives a program to the kernel, which checks it.
pub(super) fn load(program: &Program) -> Result<OwnedFd, Refusal> {
    let attempt = |log: &mut [u8]| {
        let mut attributes = ProgramAttributes {
            kind: TRACING,
            count: u32::try_from(program.instructions.len()).unwrap_or(u32::MAX),
            instructions: program.instructions.as_ptr() as u64,
            licence: LICENCE.as_ptr() as u64,
            attach_kind: RAW_TRACEPOINT,
            tracepoint: program.tracepoint,
            ..ProgramAttributes::default()
        };
        attributes.name[..7].copy_from_slice(b"iosonde");
        if !log.is_empty() {
            attributes.log_level = 1;
            attributes.log_bytes = u32::try_from(log.len()).unwrap_or(0);
            attributes.log = log.as_mut_ptr() as u64;
        }
        opened(PROGRAM_LOAD, &mut attributes)
    };
    attempt(&mut []).map_err(|source| {
        let mut log = vec![0; LOG_BYTES];
        let _ = attempt(&mut log);
        Refusal { source, reason: last_words(&log) }
    })
}

/// The last line of a log that is not about how much was checked.
fn last_words(log: &[u8]) -> String {
    let text = String::from_utf8_lossy(log);
    let text = text.split('\0').next().unwrap_or_default();
    let lines = text.lines().map(str::trim);
    let mut said = lines.filter(|line| !line.is_empty() && !line.starts_with("processed "));
    said.next_back().unwrap_or_default().to_owned()
}

/// Lets a program run where its tracepoint is, until the file is closed.
pub(super) fn attach(program: &OwnedFd) -> io::Result<OwnedFd> {
    let program = program.as_raw_fd().cast_unsigned();
    opened(TRACEPOINT_OPEN, &mut TracepointAttributes { name: 0, program, rest: 0 })
}

/// What a program did so far.
pub(super) fn run_counts(program: &OwnedFd) -> io::Result<RunCounts> {
    let mut information = [0_u64; 32];
    let mut attributes = InformationAttributes {
        program: program.as_raw_fd().cast_unsigned(),
        bytes: u32::try_from(size_of_val(&information)).unwrap_or(0),
        information: information.as_mut_ptr() as u64,
    };
    bpf(OBJECT_INFORMATION, &mut attributes)?;
    // Kernels before 5.12 write less; what they do not count stays zero.
    let at = |byte: usize| information.get(byte / 8).copied().unwrap_or(0);
    Ok(RunCounts { time_ns: at(RUN_TIME_AT), runs: at(RUNS_AT), misses: at(MISSES_AT) })
}
