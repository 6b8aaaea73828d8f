//! Does the storage return what was written? Pages that know what they are, what every page should hold, and what it means when one
//! holds something else.
//!
//! A [`PageFormat`] makes the bytes of a page from its place, its version and a seed, and recognises them again, sector by sector. A
//! [`Ledger`] keeps the version that every page should have, outside of the pages: a page that is whole and of an older version has
//! lost a write, which no checksum inside of it can tell. [`classify`] says what happened to a page that is not as it should be.

mod classify;
mod ledger;
mod page;

pub use classify::{Damage, Examined, Fault, Kept, SectorState, classify, examine};
pub use ledger::{Claim, Ledger, LedgerError};
pub use page::{PageError, PageFormat, PageId, SECTOR_BYTES, Stamp};
