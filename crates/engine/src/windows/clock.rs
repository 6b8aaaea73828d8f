//! What the CPU and Windows say of the CPU's counter.
#![expect(unsafe_code, reason = "reads what the CPU and the system show to every program")]

use std::arch::x86_64::__cpuid;

/// The page that Windows shows to every process, and where it says how it reads the time.
const SHARED_DATA: usize = 0x7FFE_0000;
const QPC_BYPASS: usize = 0x3C6;
/// What the CPU says of its power management, and with it of its counter.
const POWER: u32 = 0x8000_0007;
const HIGHEST: u32 = 0x8000_0000;

/// EDX of CPUID 8000_0007, 0 where the CPU has no such answer; and `QpcBypassEnabled` of
/// `KUSER_SHARED_DATA`.
pub(crate) fn counter_flags() -> (u32, u8) {
    // SAFETY: the instruction is there on every x86-64 CPU and touches no memory.
    #[allow(unused_unsafe, reason = "newer compilers know that it is safe")]
    let power = unsafe { if __cpuid(HIGHEST).eax >= POWER { __cpuid(POWER).edx } else { 0 } };
    // SAFETY: every process of Windows may read this page, which is always there.
    let bypass = unsafe {
        std::ptr::with_exposed_provenance::<u8>(SHARED_DATA + QPC_BYPASS).read_volatile()
    };
    (power, bypass)
}
