//! What only Performance Monitor's interface tells. Counters are asked for by their English names,
//! which every Windows knows, whatever its language.

use windows_sys::Win32::System::Performance::{
    PDH_FMT_COUNTERVALUE, PDH_FMT_LARGE, PDH_HCOUNTER, PDH_HQUERY, PdhAddEnglishCounterW,
    PdhCloseQuery, PdhCollectQueryData, PdhGetFormattedCounterValue, PdhOpenQueryW,
};
use windows_sys::w;

use crate::windows_structures::dirty_bytes;

/// The counter of pages that the cache still has to write.
#[derive(Debug)]
pub(super) struct DirtyPages {
    query: PDH_HQUERY,
    counter: PDH_HCOUNTER,
}

// SAFETY: the handles belong to this value alone, and any thread may use them.
unsafe impl Send for DirtyPages {}

impl DirtyPages {
    /// `None` where Windows does not count them.
    pub(super) fn open() -> Option<Self> {
        let (mut query, mut counter) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: names no file; one handle is written, which is this value's from here on.
        if unsafe { PdhOpenQueryW(std::ptr::null(), 0, &raw mut query) } != 0 {
            return None;
        }
        let mut pages = Self { query, counter };
        // SAFETY: the query is open, the name ends in 0, and one handle is written.
        let added = unsafe {
            PdhAddEnglishCounterW(query, w!("\\Cache\\Dirty Pages"), 0, &raw mut counter)
        };
        pages.counter = counter;
        (added == 0).then_some(pages)
    }

    /// The bytes of these pages now.
    pub(super) fn bytes(&mut self) -> Option<u64> {
        let mut value = PDH_FMT_COUNTERVALUE::default();
        // SAFETY: the query and its counter are open, and one value is written; of its forms, that
        // of a whole number is asked for.
        let (result, status, number) = unsafe {
            let collected = PdhCollectQueryData(self.query);
            if collected != 0 {
                return None;
            }
            let (format, none) = (PDH_FMT_LARGE, std::ptr::null_mut());
            let result = PdhGetFormattedCounterValue(self.counter, format, none, &raw mut value);
            (result, value.CStatus, value.Anonymous.largeValue)
        };
        (result == 0).then(|| dirty_bytes(status, number)).flatten()
    }
}

impl Drop for DirtyPages {
    fn drop(&mut self) {
        // SAFETY: the query is open; its counter goes with it.
        unsafe { PdhCloseQuery(self.query) };
    }
}
