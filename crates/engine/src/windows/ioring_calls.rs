//! The I/O rings of Windows. Their functions are looked for when a ring is asked for: a program
//! that imported them would not start on an older Windows.
#![expect(unsafe_code, reason = "functions that are found at run time, and addresses of buffers")]

use std::ffi::{CStr, c_void};
use std::io;

use windows_sys::Win32::Foundation::{ERROR_TIMEOUT, IORING_E_SUBMISSION_QUEUE_FULL, S_OK};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLUSH_DATA, FILE_FLUSH_DEFAULT, FILE_WRITE_FLAGS_NONE, FILE_WRITE_FLAGS_WRITE_THROUGH,
    HIORING, IORING_BUFFER_REF, IORING_BUFFER_REF_0, IORING_CQE, IORING_CREATE_FLAGS,
    IORING_HANDLE_REF, IORING_HANDLE_REF_0, IORING_REF_RAW, IORING_VERSION_3, IOSQE_FLAGS_NONE,
};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::core::HRESULT;
use windows_sys::w;

use super::ioring::{Completed, Entry, Ring};
use crate::queue::Op;
use crate::windows_outcome::win32_code;

/// What a user can do where there are no rings.
pub(super) const MISSING: &str = "this Windows has no I/O rings that write. They came with build \
    22621: Windows 11 22H2, Windows Server 2025. `--engine iocp` works on every Windows";

type Create =
    unsafe extern "system" fn(i32, IORING_CREATE_FLAGS, u32, u32, *mut HIORING) -> HRESULT;
type Close = unsafe extern "system" fn(HIORING) -> HRESULT;
type Submit = unsafe extern "system" fn(HIORING, u32, u32, *mut u32) -> HRESULT;
type Pop = unsafe extern "system" fn(HIORING, *mut IORING_CQE) -> HRESULT;
type Read = unsafe extern "system" fn(
    HIORING,
    IORING_HANDLE_REF,
    IORING_BUFFER_REF,
    u32,
    u64,
    usize,
    i32,
) -> HRESULT;
type Write = unsafe extern "system" fn(
    HIORING,
    IORING_HANDLE_REF,
    IORING_BUFFER_REF,
    u32,
    u64,
    i32,
    usize,
    i32,
) -> HRESULT;
type Flush = unsafe extern "system" fn(HIORING, IORING_HANDLE_REF, i32, usize, i32) -> HRESULT;

/// The functions of rings in `kernelbase.dll`, which older versions of Windows lack.
#[derive(Clone, Copy)]
struct Calls {
    create: Create,
    close: Close,
    submit: Submit,
    pop: Pop,
    read: Read,
    write: Write,
    flush: Flush,
}

/// The address of a function of Windows.
fn address(name: &CStr) -> Option<*const c_void> {
    // SAFETY: both names end in 0, and the library is in every process.
    let found =
        unsafe { GetProcAddress(GetModuleHandleW(w!("kernelbase.dll")), name.as_ptr().cast()) };
    found.map(|function| function as *const c_void)
}

impl Calls {
    /// `None` where one of them is missing.
    fn find() -> Option<Self> {
        // SAFETY: each function has the type that Windows documents under its name.
        unsafe {
            Some(Self {
                create: std::mem::transmute::<*const c_void, Create>(address(c"CreateIoRing")?),
                close: std::mem::transmute::<*const c_void, Close>(address(c"CloseIoRing")?),
                submit: std::mem::transmute::<*const c_void, Submit>(address(c"SubmitIoRing")?),
                pop: std::mem::transmute::<*const c_void, Pop>(address(c"PopIoRingCompletion")?),
                read: std::mem::transmute::<*const c_void, Read>(address(c"BuildIoRingReadFile")?),
                write: std::mem::transmute::<*const c_void, Write>(address(
                    c"BuildIoRingWriteFile",
                )?),
                flush: std::mem::transmute::<*const c_void, Flush>(address(
                    c"BuildIoRingFlushFile",
                )?),
            })
        }
    }
}

/// Whether this version of Windows has rings.
pub(super) fn is_there() -> bool {
    Calls::find().is_some()
}

/// A ring of Windows, closed when it is dropped.
pub(super) struct SystemRing {
    calls: Calls,
    ring: HIORING,
}

impl SystemRing {
    /// A ring for so many I/Os at a time.
    pub(super) fn new(depth: u32) -> io::Result<Self> {
        let Some(calls) = Calls::find() else { return Err(io::Error::other(MISSING)) };
        let mut ring = std::ptr::null_mut();
        // SAFETY: takes plain numbers, and writes one handle, which is this value's.
        checked(unsafe {
            let flags = IORING_CREATE_FLAGS::default();
            (calls.create)(IORING_VERSION_3, flags, depth, 2 * depth, &raw mut ring)
        })?;
        Ok(Self { calls, ring })
    }
}

/// An `HRESULT` as an error of the system.
fn checked(code: HRESULT) -> io::Result<()> {
    match win32_code(code) {
        _ if code >= 0 => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(error.cast_signed())),
        None => Err(io::Error::other(format!("error {code:#x} of the I/O ring"))),
    }
}

impl Ring for SystemRing {
    unsafe fn put(&mut self, entry: &Entry) -> io::Result<bool> {
        let file = IORING_HANDLE_REF {
            Kind: IORING_REF_RAW,
            Handle: IORING_HANDLE_REF_0 { Handle: entry.file },
        };
        let buffer = IORING_BUFFER_REF {
            Kind: IORING_REF_RAW,
            Buffer: IORING_BUFFER_REF_0 { Address: entry.buffer.cast() },
        };
        let Entry { bytes, offset, .. } = *entry;
        let (ring, slot, none) = (self.ring, entry.slot as usize, IOSQE_FLAGS_NONE);
        // SAFETY: the ring is open, and the caller answers for the file and the buffer.
        let code = unsafe {
            match entry.op {
                Op::Read => (self.calls.read)(ring, file, buffer, bytes, offset, slot, none),
                Op::Write | Op::WriteDurable => {
                    let flags = match entry.op {
                        Op::WriteDurable => FILE_WRITE_FLAGS_WRITE_THROUGH,
                        _ => FILE_WRITE_FLAGS_NONE,
                    };
                    (self.calls.write)(ring, file, buffer, bytes, offset, flags, slot, none)
                }
                Op::Fsync => (self.calls.flush)(ring, file, FILE_FLUSH_DEFAULT, slot, none),
                Op::Fdatasync => (self.calls.flush)(ring, file, FILE_FLUSH_DATA, slot, none),
            }
        };
        if code == IORING_E_SUBMISSION_QUEUE_FULL {
            return Ok(false);
        }
        checked(code).map(|()| true)
    }

    fn submit(&mut self, wait_for: u32, ms: u32) -> io::Result<()> {
        // SAFETY: the ring is open; how many were submitted is not asked for.
        let code = unsafe { (self.calls.submit)(self.ring, wait_for, ms, std::ptr::null_mut()) };
        // All were submitted, and the wait is over.
        if win32_code(code) == Some(ERROR_TIMEOUT) { Ok(()) } else { checked(code) }
    }

    fn pop(&mut self) -> Option<Completed> {
        let mut entry = IORING_CQE::default();
        // SAFETY: the ring is open, and one entry is written.
        let code = unsafe { (self.calls.pop)(self.ring, &raw mut entry) };
        let IORING_CQE { UserData: slot, ResultCode: code_of_io, Information: bytes } = entry;
        // `S_FALSE` says that there is none.
        (code == S_OK).then_some(Completed { slot, code: code_of_io, bytes })
    }
}

impl Drop for SystemRing {
    fn drop(&mut self) {
        // SAFETY: the ring is open, and used no more.
        unsafe { (self.calls.close)(self.ring) };
    }
}
