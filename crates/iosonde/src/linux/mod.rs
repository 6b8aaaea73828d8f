//! The words of this process in the list of processes.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;

use workload::secrets::{holds_secret, masked};

/// Where the kernel says in /proc/PID/stat at which address the words begin: field 48 of proc(5),
/// counted from the one after the name.
const ARG_START: usize = 48 - 3;

/// Replaces passwords in the words by which every user of the host sees this process, as other
/// clients of databases do. A kernel that does not allow it leaves them.
pub(crate) fn conceal(words: &[OsString]) {
    let is_secret = |word: &OsString| word.to_str().is_some_and(holds_secret);
    if !words.iter().any(is_secret) {
        return;
    }
    let Ok(stat) = std::fs::read_to_string("/proc/self/stat") else { return };
    let Ok(shown) = std::fs::read("/proc/self/cmdline") else { return };
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let address = fields.split_whitespace().nth(ARG_START).and_then(|field| field.parse().ok());
    let (Some(at), Ok(memory)) = (address, OpenOptions::new().write(true).open("/proc/self/mem"))
    else {
        return;
    };
    let hidden = shown.split(|byte| *byte == 0).map(|word| match str::from_utf8(word) {
        Ok(text) if holds_secret(text) => masked(text),
        _ => word.to_vec(),
    });
    let hidden = hidden.collect::<Vec<_>>().join(&0);
    if hidden.len() == shown.len() {
        // The words were copied before.
        let _ = memory.write_all_at(&hidden, at);
    }
}
