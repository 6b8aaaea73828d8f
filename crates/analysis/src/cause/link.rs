//! Paths between host and storage by their names, and what they carry.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A path to the storage, and its bandwidth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Its name, such as `2GFC`; its bandwidth if it has no name.
    pub name: String,
    /// What it carries by its standard, bytes per second in one direction, after line coding.
    pub bytes_per_s: f64,
    /// The least that it carries in practice at its limit: what is left after frames and protocols.
    pub practical_bytes_per_s: f64,
}

/// Named links: MB/s (10^6 bytes) after line coding, and the share that is left in practice.
///
/// Fibre Channel: FC-PI of INCITS T11 (2GFC: 200 MB/s, of which hosts see 180 to 190). Ethernet:
/// the bit rate by eight; TCP, IP and iSCSI or NFS headers take the rest. SATA and SAS: 8b/10b
/// coding. USB: 8b/10b and the storage protocol.
const NAMED: [(&str, f64, f64); 22] = [
    ("1GFC", 100.0, 0.88),
    ("2GFC", 200.0, 0.88),
    ("4GFC", 400.0, 0.88),
    ("8GFC", 800.0, 0.88),
    ("16GFC", 1600.0, 0.88),
    ("32GFC", 3200.0, 0.88),
    ("1GbE", 125.0, 0.85),
    ("10GbE", 1250.0, 0.85),
    ("25GbE", 3125.0, 0.85),
    ("40GbE", 5000.0, 0.85),
    ("100GbE", 12_500.0, 0.85),
    ("SATA1", 150.0, 0.85),
    ("SATA2", 300.0, 0.85),
    ("SATA3", 600.0, 0.85),
    ("SAS3G", 300.0, 0.88),
    ("SAS6G", 600.0, 0.88),
    ("SAS12G", 1200.0, 0.88),
    ("SAS1", 300.0, 0.88),
    ("SAS2", 600.0, 0.88),
    ("SAS3", 1200.0, 0.88),
    ("USB2", 60.0, 0.5),
    ("USB3", 500.0, 0.65),
];
/// MB/s of one lane of PCI Express by generation: 8b/10b coding up to the second, 128b/130b from
/// the third on.
const PCIE_LANE: [f64; 5] = [250.0, 500.0, 984.6, 1969.2, 3938.5];
const PCIE_LANES: [u32; 5] = [1, 2, 4, 8, 16];
/// Headers of packets and flow control.
const PCIE_PRACTICAL: f64 = 0.8;
/// Of a bandwidth that is given as a figure, this share at least must be reached.
const FIGURE_PRACTICAL: f64 = 0.9;
/// No link is faster than this.
const BYTES_PER_S_MAX: f64 = 1e15;

/// A text that names no link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkError(String);

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a link. Write 1GFC to 32GFC, 1GbE, 10GbE, 25GbE, 40GbE, 100GbE, SATA1 to \
            SATA3, SAS3G, SAS6G, SAS12G, USB2, USB3, PCIe1x1 to PCIe5x16, or a bandwidth such as \
             400, 400MiB/s or 1.2GB/s",
            self.0
        )
    }
}

impl std::error::Error for LinkError {}

impl Link {
    /// The named link whose practical range holds this bandwidth most closely from above.
    #[must_use]
    pub fn near(bytes_per_s: f64) -> Option<Self> {
        let holds = |link: &Link| link.holds(bytes_per_s);
        let named = NAMED.iter().map(|(name, mb, share)| Self::new(name, mb * 1e6, *share));
        named.filter(holds).min_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
    }

    /// Whether a throughput is what this link gives when it is the limit.
    #[must_use]
    pub fn holds(&self, bytes_per_s: f64) -> bool {
        bytes_per_s >= self.practical_bytes_per_s && bytes_per_s <= 1.03 * self.bytes_per_s
    }

    fn new(name: &str, bytes_per_s: f64, practical: f64) -> Self {
        let practical_bytes_per_s = bytes_per_s * practical;
        Self { name: name.to_owned(), bytes_per_s, practical_bytes_per_s }
    }

    fn named(text: &str) -> Option<Self> {
        let (name, mb, share) =
            NAMED.iter().find(|(name, _, _)| name.eq_ignore_ascii_case(text))?;
        Some(Self::new(name, mb * 1e6, *share))
    }

    /// `PCIe3x4`, also written `pcie 3.0 x4`.
    fn pcie(text: &str) -> Option<Self> {
        let (generation, lanes) = text.strip_prefix("pcie")?.split_once('x')?;
        let generation: usize = generation.trim_end_matches(".0").parse().ok()?;
        let lanes: u32 = lanes.parse().ok().filter(|lanes| PCIE_LANES.contains(lanes))?;
        let lane = PCIE_LANE.get(generation.checked_sub(1)?)?;
        let bytes_per_s = lane * 1e6 * f64::from(lanes);
        Some(Self::new(&format!("PCIe{generation}x{lanes}"), bytes_per_s, PCIE_PRACTICAL))
    }

    /// A bandwidth; without a unit in MiB/s.
    fn figure(text: &str) -> Option<Self> {
        let text = text.trim_end_matches("/s");
        let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (figure, unit) = text.split_at(at);
        let factor = match unit {
            "" | "m" | "mib" => 1_048_576.0,
            "mb" => 1e6,
            "g" | "gib" => 1_073_741_824.0,
            "gb" => 1e9,
            _ => return None,
        };
        let bytes_per_s = figure.parse::<f64>().ok()? * factor;
        let possible = bytes_per_s.is_finite() && (1.0..=BYTES_PER_S_MAX).contains(&bytes_per_s);
        let name = || format!("{} MiB/s", bytes_per_s / 1_048_576.0);
        possible.then(|| Self::new(&name(), bytes_per_s, FIGURE_PRACTICAL))
    }
}

impl FromStr for Link {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        let lower = text.to_ascii_lowercase().replace(' ', "");
        let name = lower.replace(['-', '_'], "");
        let link = Self::named(&name).or_else(|| Self::pcie(&name));
        link.or_else(|| Self::figure(&lower)).ok_or_else(|| LinkError(text.to_owned()))
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mb(text: &str) -> f64 {
        text.parse::<Link>().unwrap().bytes_per_s / 1e6
    }

    #[test]
    fn names_have_the_rates_of_their_standards() {
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-3, "{a} for {b}");
        near(mb("2GFC"), 200.0);
        near(mb("32gfc"), 3200.0);
        near(mb("10GbE"), 1250.0);
        near(mb("SAS 12G"), 1200.0);
        near(mb("sata-3"), 600.0);
        near(mb("PCIe3x4"), 3938.5);
        near(mb("PCIe 4.0 x16"), 31_507.0);
        near(mb("400"), 419.43);
        near(mb("1.2GB/s"), 1200.0);
        near(mb("400 MiB/s"), 419.43);
        for wrong in
            ["", "3GFC", "PCIe6x4", "PCIe3x3", "-5", "NaN", "inf", "0", "1e300", "5 furlongs"]
        {
            assert!(wrong.parse::<Link>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn two_gigabit_fibre_channel_is_known_by_what_hosts_see() {
        for mb in [180.0, 190.0, 200.0] {
            assert_eq!(Link::near(mb * 1e6).unwrap().name, "2GFC");
        }
        assert_eq!(Link::near(225e6), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None,
            ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_answered(text in ".{0,20}") {
            if let Ok(link) = text.parse::<Link>() {
                prop_assert!(link.bytes_per_s.is_finite() && link.bytes_per_s > 0.0);
            }
        }

        #[test]
        fn what_is_shown_reads_back(figure in 0.01..1e6_f64, place in 0..NAMED.len()) {
            for text in [format!("{figure}"), NAMED[place].0.to_owned()] {
                let link: Link = text.parse().unwrap();
                let again: Link = link.to_string().parse().unwrap();
                prop_assert!((again.bytes_per_s / link.bytes_per_s - 1.0).abs() < 1e-9);
            }
        }
    }
}
