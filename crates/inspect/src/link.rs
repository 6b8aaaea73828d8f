//! The way from the machine to a device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The way to a device, as far as the system shows it. Speeds are in the words of their bus:
/// `8.0 GT/s`, `6.0 Gbps`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Link {
    /// The bus: `pcie`, `sata`, `sas`, `fc`, `iscsi`, `usb`.
    pub bus: String,
    /// The speed that both ends agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<String>,
    /// The highest speed that this end could do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_max: Option<String>,
    /// Lanes in use (PCIe), or ports joined into one (SAS).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes: Option<u32>,
    /// Lanes that the device has (PCIe).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes_max: Option<u32>,
    /// How often the speed was lowered after errors (SATA).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowered: Option<u64>,
    /// This end: the name of the host bus adapter's port (WWPN), or the initiator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_port: Option<String>,
    /// The other end: the WWPN of the array's port, the SAS address, the iSCSI target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_port: Option<String>,
    /// The address of the other end (iSCSI, NVMe over a network).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The state of the other end's port: `Online`, `LOGGED_IN`, `live`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// The number at the beginning of a speed, in thousands of millions per second; `None` if the text
/// is not a speed.
#[must_use]
pub fn giga_per_s(speed: &str) -> Option<f64> {
    let speed = speed.trim();
    let end = speed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(speed.len());
    let number: f64 = speed.get(..end)?.parse().ok()?;
    let unit = speed.get(end..)?.trim_start();
    let mega = unit.is_empty() || unit.starts_with('M');
    let giga = if mega { number / 1000.0 } else { number };
    (giga.is_finite() && giga > 0.0).then_some(giga)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn speeds() {
        assert_eq!(giga_per_s("8.0 GT/s PCIe"), Some(8.0));
        assert_eq!(giga_per_s("12.0 Gbit"), Some(12.0));
        assert_eq!(giga_per_s("480"), Some(0.48));
        assert_eq!(giga_per_s("16 Gbit"), Some(16.0));
        for nonsense in ["", "Unknown", "<unknown>", "0", ".", "1.2.3 Gbps"] {
            assert_eq!(giga_per_s(nonsense), None, "{nonsense}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in any::<String>()) {
            prop_assert!(giga_per_s(&text).is_none_or(|speed| speed > 0.0));
        }
    }
}
