//! Whether a service keeps the machine's clock right.
#![expect(unsafe_code, reason = "the state of the clock is a system call without a safe wrapper")]

/// What adjtimex gives for a clock that nothing keeps.
const UNSYNCHRONISED: libc::c_int = 5;

/// Whether a time service keeps the clock; `None` if the kernel does not say.
pub(super) fn synchronised() -> Option<bool> {
    let mut state = std::mem::MaybeUninit::<libc::timex>::zeroed();
    // SAFETY: all zeros are a value of this structure of integers, and ask for the state without
    // changing anything; the kernel writes no more than the structure.
    let result = unsafe { libc::adjtimex(state.as_mut_ptr()) };
    (result >= 0).then_some(result != UNSYNCHRONISED)
}
