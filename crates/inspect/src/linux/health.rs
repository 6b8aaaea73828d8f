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

/// `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const NVME_IOCTL_ADMIN_CMD: libc::c_ulong = 0xC048_4E41;
const GET_LOG_PAGE: u8 = 2;
const HEALTH_LOG: u32 = 2;
const LOG_BYTES: usize = 512;
const TIMEOUT_MS: u32 = 5000;
/// Data is counted in thousands of 512 bytes.
const DATA_UNIT_BYTES: u128 = 512_000;

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

/// The health log: NVM Express Base Specification, SMART / Health Information.
fn of_log(log: &[u8; LOG_BYTES]) -> Health {
    let wide = |at: usize| {
        let bytes = log.get(at..at + 16).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u128::from_le_bytes)
    };
    let number = |at: usize| Some(u64::try_from(wide(at)).unwrap_or(u64::MAX));
    let [warning, cold, warm, spare, _, used, ..] = *log;
    let kelvin = i64::from(u16::from_le_bytes([cold, warm]));
    let warnings = [
        "spare blocks are running out",
        "too hot or too cold",
        "no longer reliable after errors",
        "its medium is read-only",
        "the backup of its volatile memory has failed",
        "its persistent memory has become unreliable",
    ];
    let critical = warnings.iter().enumerate().filter(|(bit, _)| warning >> bit & 1 == 1);
    Health {
        source: "NVMe health log".to_owned(),
        critical: critical.map(|(_, text)| (*text).to_owned()).collect(),
        used_percent: Some(used.into()),
        spare_percent: Some(spare.into()),
        temperature_c: (kelvin > 0).then_some(kelvin - 273),
        media_errors: number(160),
        unsafe_shutdowns: number(144),
        power_on_hours: number(128),
        written_bytes: Some(
            u64::try_from(wide(48).saturating_mul(DATA_UNIT_BYTES)).unwrap_or(u64::MAX),
        ),
    }
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
    fn a_health_log() {
        let mut log = [0; LOG_BYTES];
        log[0] = 0b101;
        log[1..3].copy_from_slice(&310_u16.to_le_bytes());
        log[3] = 97;
        log[5] = 104;
        log[48] = 2;
        log[128] = 9;
        log[144] = 3;
        log[160] = 1;
        let found = of_log(&log);
        assert_eq!(
            found.critical,
            ["spare blocks are running out", "no longer reliable after errors"]
        );
        assert_eq!((found.used_percent, found.spare_percent), (Some(104), Some(97)));
        assert_eq!((found.temperature_c, found.media_errors), (Some(37), Some(1)));
        assert_eq!((found.power_on_hours, found.unsafe_shutdowns), (Some(9), Some(3)));
        assert_eq!(found.written_bytes, Some(1_024_000));
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
        fn any_log_is_survived(bytes in prop::collection::vec(any::<u8>(), LOG_BYTES),
            text in any::<String>()) {
            of_log(&bytes.try_into().unwrap());
            mmc(&text);
        }
    }
}
