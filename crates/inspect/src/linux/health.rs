//! What disks say about their own state: the health log of NVMe by an ioctl, the life time of MMC
//! by /sys.
#![expect(unsafe_code, reason = "the health log is asked for by an ioctl that carries an address")]

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use super::tree::Tree;
use super::{device, layers};
use crate::Health;
use crate::nvme_health::{LOG_BYTES, of_log};

/// `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const NVME_IOCTL_ADMIN_CMD: libc::c_ulong = 0xC048_4E41;
const GET_LOG_PAGE: u8 = 2;
const HEALTH_LOG: u32 = 2;
const TIMEOUT_MS: u32 = 5000;

#[repr(C)]
#[derive(Debug, Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    words_10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// The report of the disk in `dir`; `None` if it has none or must not be asked.
pub(super) fn health(tree: &Tree, dir: &Path) -> Option<Health> {
    let name = device::name(dir);
    if name.starts_with("nvme") {
        let controller = layers::nvme_controllers(tree, dir)
            .first()
            .map(|path| device::name(path))
            .or_else(|| tree.canonical(dir.join("device")).map(|path| device::name(&path)))?;
        return nvme_log(&tree.at(format!("dev/{controller}"))).map(|log| of_log(&log));
    }
    mmc(&tree.text(dir.join("device/life_time"))?)
}

fn nvme_log(path: &Path) -> Option<[u8; LOG_BYTES]> {
    // A file that is not a device might be a pipe, and opening that would wait.
    let kind = std::fs::metadata(path).ok()?.file_type();
    if !kind.is_char_device() {
        return None;
    }
    let controller =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let mut log = [0_u8; LOG_BYTES];
    let words = u32::try_from(LOG_BYTES / 4 - 1).unwrap_or(0);
    let mut command = AdminCommand {
        opcode: GET_LOG_PAGE,
        namespace: u32::MAX,
        address: log.as_mut_ptr() as u64,
        data_bytes: u32::try_from(LOG_BYTES).unwrap_or(0),
        words_10_15: [HEALTH_LOG | (words << 16), 0, 0, 0, 0, 0],
        timeout_ms: TIMEOUT_MS,
        ..AdminCommand::default()
    };
    // SAFETY: the command has the kernel's layout, only reads from the controller, and its address
    // is that of a buffer of the length it names, which lives until the call returns.
    let result =
        unsafe { libc::ioctl(controller.as_raw_fd(), NVME_IOCTL_ADMIN_CMD as _, &raw mut command) };
    (result == 0).then_some(log)
}

/// Two numbers in hexadecimal, each a tenth of the life of one kind of cells: 0x01 is up to 10 %
/// used.
fn mmc(life_time: &str) -> Option<Health> {
    let tenths = life_time.split_whitespace().filter_map(|word| {
        u64::from_str_radix(word.trim_start_matches("0x"), 16).ok().filter(|tenths| *tenths <= 11)
    });
    let used = tenths.max().filter(|tenths| *tenths > 0)?;
    Some(Health {
        source: "life_time in /sys".to_owned(),
        used_percent: Some(used * 10),
        ..Health::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_command_has_the_kernel_s_size() {
        assert_eq!(size_of::<AdminCommand>(), 72);
    }

    #[test]
    fn life_times() {
        assert_eq!(mmc("0x01 0x09").and_then(|h| h.used_percent), Some(90));
        for nonsense in ["", "0x00 0x00", "0xff", "x y", "0x"] {
            assert_eq!(mmc(nonsense), None, "{nonsense}");
        }
    }

    proptest! {
        #[test]
        fn any_life_time_is_survived(text in any::<String>()) {
            mmc(&text);
        }
    }
}
