//! What Windows tells a program in a console: Ctrl-C, Ctrl-Break, a window that closes, the end of
//! a session.
#![expect(unsafe_code, reason = "a handler is named by a system call")]

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};

/// The flag that asks the run to end.
static FLAGS: Mutex<Vec<Arc<AtomicBool>>> = Mutex::new(Vec::new());
/// Whether the run was asked to end.
static ENDING: AtomicBool = AtomicBool::new(false);
/// Whether the handler of Ctrl-C is installed.
static HEARS: Mutex<bool> = Mutex::new(false);

/// A flag that is set when the run is to end. The second Ctrl-C or Ctrl-Break ends the program at
/// once, with code 130; the first does while the program only reads.
///
/// # Errors
/// What Windows says where it takes no handler.
pub fn end_on_second(flag: &Arc<AtomicBool>) -> io::Result<()> {
    FLAGS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(flag));
    let mut hears = HEARS.lock().unwrap_or_else(PoisonError::into_inner);
    if !*hears {
        // SAFETY: the handler is a function, and is there as long as the program.
        if unsafe { SetConsoleCtrlHandler(Some(handle), 1) } == 0 {
            return Err(io::Error::last_os_error());
        }
        *hears = true;
    }
    Ok(())
}

/// Ends the run, as the first Ctrl-C does; whether that had been said before.
pub(crate) fn end() -> bool {
    let again = ENDING.swap(true, Ordering::SeqCst);
    inspect::reading::end();
    for flag in FLAGS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        flag.store(true, Ordering::SeqCst);
    }
    again
}

/// Windows calls it in its own thread.
unsafe extern "system" fn handle(event: u32) -> i32 {
    let again = end();
    if matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
        if again || inspect::reading::ends_at_once() {
            crate::leave();
            std::process::exit(130);
        }
        return 1;
    }
    // The window closes, or the session ends: Windows ends the program when this function returns,
    // or after some seconds. The run ends in order meanwhile, and the program with it.
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asked_is_told_once_the_run_is_to_end() {
        let flags = [Arc::new(AtomicBool::new(false)), Arc::default()];
        for flag in &flags {
            end_on_second(flag).unwrap();
        }
        assert!(!end(), "the first");
        assert!(flags.iter().all(|flag| flag.load(Ordering::SeqCst)));
        assert!(end(), "the second");
    }
}
