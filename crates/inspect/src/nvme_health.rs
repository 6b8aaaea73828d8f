//! The health log of NVMe disks, which every system hands over as it is.

use crate::Health;

/// The length of the health log, in bytes.
pub(crate) const LOG_BYTES: usize = 512;
/// Data is counted in thousands of 512 bytes.
const DATA_UNIT_BYTES: u128 = 512_000;

/// The health log: NVM Express Base Specification, SMART / Health Information.
pub(crate) fn of_log(log: &[u8; LOG_BYTES]) -> Health {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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

    proptest! {
        #[test]
        fn any_log_is_survived(bytes in prop::collection::vec(any::<u8>(), LOG_BYTES)) {
            of_log(&bytes.try_into().unwrap());
        }
    }
}
