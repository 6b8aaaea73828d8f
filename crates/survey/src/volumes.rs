//! Volumes of cloud providers by name: their documented figures, as claims.
//!
//! The table is `volumes.toml`; users add separate rows.

use analysis::claims::{Burst, Claim, Documented, Expectation, Figure, Selector};
use results::verdict::Database;
use serde::Deserialize;
use workload::{Bytes, Nanoseconds, SimBucket, SimDevice, show_number};

use crate::assess::named_loads;
use crate::claims::ClaimsError;

/// The table that comes with the program.
const BUILT_IN: &str = include_str!("volumes.toml");
/// The bytes of the MB and of the MiB.
const MB: f64 = 1e6;
const MIB: f64 = 1_048_576.0;
/// I/Os that a modelled volume serves at a time: so many that only its rates limit it.
const VOLUME_SERVERS: u32 = 4096;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    volume: Vec<Volume>,
}

/// What a provider documents of one kind of volume.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Volume {
    name: String,
    iops: Option<f64>,
    iops_per_gib: Option<f64>,
    iops_min: Option<f64>,
    iops_max: Option<f64>,
    mib_per_s: Option<f64>,
    mb_per_s: Option<f64>,
    mib_per_s_per_gib: Option<f64>,
    mib_per_s_per_iops: Option<f64>,
    mib_per_s_max: Option<f64>,
    larger: Option<Larger>,
    provisioned: Vec<String>,
    burst_iops: Option<f64>,
    burst_ios: Option<f64>,
    burst_minutes: Option<f64>,
    latency_ms: Option<f64>,
    note: Option<String>,
    source: String,
    as_of: Option<String>,
    read: String,
}

/// The throughput of volumes above a size.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Larger {
    gib: f64,
    mib_per_s: f64,
}

/// The properties that the user bought.
#[derive(Debug, Clone, Copy, Default)]
struct Bought {
    iops: Option<f64>,
    throughput: Option<f64>,
    gib: Option<f64>,
}

/// Whether a text names a volume, and is not the path of a file of claims.
#[must_use]
pub fn names_volume(text: &str) -> bool {
    let name = text.split(',').next().unwrap_or_default();
    let word = |part: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.' || c == '_';
        !part.is_empty() && part.chars().all(plain)
    };
    name.split_once(':').is_some_and(|(provider, kind)| word(provider) && word(kind))
}

/// The claims that a volume by name amounts to: `aws:gp3,iops=6000,mbps=250`. Rows of the user's
/// file (TOML) are looked at before those of the program.
///
/// # Errors
/// The volume is not known, something is missing, or the file is wrong.
pub fn volume_claims(
    text: &str,
    own: Option<&str>,
    database: Database,
) -> Result<Vec<Claim>, ClaimsError> {
    let wrong = |what: String| ClaimsError::Expectation { claim: text.to_owned(), what };
    let (row, bought) = named(text, own)?;
    let claims = row.claims(bought).map_err(wrong)?;
    let loads = named_loads(database);
    let measured = |claim: &Claim| {
        let anywhere = Selector { in_flight: None, ..claim.of.clone() };
        loads.iter().any(|load| analysis::claims::matches(&anywhere, load))
    };
    Ok(claims.into_iter().filter(measured).collect())
}

/// A rate as a device takes it: at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least one")]
fn whole(rate: f64) -> u64 {
    rate.max(1.0) as u64
}

/// The row that a text names, and what was bought with it.
fn named(text: &str, own: Option<&str>) -> Result<(Volume, Bought), ClaimsError> {
    let table = |text: &str| {
        toml::from_str::<Table>(text).map_err(|error| ClaimsError::Toml(error.to_string()))
    };
    let mut rows = own.map(table).transpose()?.unwrap_or_default().volume;
    rows.extend(table(BUILT_IN)?.volume);
    let mut parts = text.split(',').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let wrong = |what: String| ClaimsError::Expectation { claim: text.to_owned(), what };
    let found = rows.iter().position(|row| row.name.eq_ignore_ascii_case(name));
    let row = rows.swap_remove(found.ok_or_else(|| {
        let known: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        wrong(format!(
            "the volume is not known; there are {}. Add a row of your own with `--volumes FILE`",
            known.join(", ")
        ))
    })?);
    let bought = bought(&row, parts).map_err(wrong)?;
    Ok((row, bought))
}

/// What a provider documents of a volume, as two devices between which it is.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeModel {
    /// Each I/O takes as long as is documented, and no burst passes.
    pub slow: SimDevice,
    /// An I/O takes no time of its own, and what a second allows may come at once.
    pub fast: SimDevice,
    /// The documented figures and their source.
    pub documented: String,
}

/// Time of an I/O that takes none: a device has to take some.
const NO_TIME: Nanoseconds = Nanoseconds(1_000);

/// The devices between which a volume by name is. Credits for bursts are left out, because they do
/// not last.
///
/// # Errors
/// The volume is not known, or neither rate nor latency of it is documented.
pub fn volume_model(text: &str) -> Result<VolumeModel, ClaimsError> {
    let wrong = |what: String| ClaimsError::Expectation { claim: text.to_owned(), what };
    let (row, bought) = named(text, None)?;
    row.check(bought).map_err(wrong)?;
    let iops = row.sustained_iops(bought);
    let mib_per_s = row.mib_per_s(bought, iops);
    let Some((ms, _)) = row.latency_ms.zip(iops.or(mib_per_s)) else {
        return Err(wrong(
            "its provider documents no latency, so no answer can be made of its documents; \
             describe the device in a TOML file, as for --sim"
                .to_owned(),
        ));
    };
    let device = |latency: Nanoseconds, burst_seconds: f64| {
        let burst = |rate: f64| whole(rate * burst_seconds);
        let bytes_per_s = mib_per_s.map(|mib| mib * MIB);
        SimDevice {
            servers: VOLUME_SERVERS,
            read_ns: latency,
            write_ns: latency,
            sync_ns: latency,
            bucket: Some(SimBucket {
                iops: iops.map(whole),
                burst_ios: iops.map_or(1, burst),
                bytes_per_s: bytes_per_s.map(|bytes| Bytes(whole(bytes))),
                burst_bytes: Bytes(bytes_per_s.map_or(1, burst)),
            }),
            ..SimDevice::default()
        }
    };
    let rates = [iops.map(|n| (n, "IOPS")), mib_per_s.map(|n| (n, "MiB/s"))];
    let rates = rates.iter().flatten().map(|(n, unit)| format!("{} {unit}", show_number(*n)));
    let rates: Vec<String> = rates.collect();
    Ok(VolumeModel {
        slow: device(Nanoseconds::from_seconds(ms / 1e3), 0.0),
        fast: device(NO_TIME, 1.0),
        documented: format!(
            "{} and at most {} ms per I/O ({}, read {})",
            rates.join(", "),
            show_number(ms),
            row.source,
            row.read
        ),
    })
}

fn bought<'a>(row: &Volume, parts: impl Iterator<Item = &'a str>) -> Result<Bought, String> {
    let mut bought = Bought::default();
    for part in parts {
        let form = || format!("`{part}`: write iops=N, mbps=N or size=500G");
        let (key, value) = part.split_once('=').ok_or_else(form)?;
        let number = || {
            let number: f64 = value.trim().parse().map_err(|_| form())?;
            if number.is_finite() && number > 0.0 { Ok(number) } else { Err(form()) }
        };
        let may = |what: &str| {
            let is = |p: &String| p.trim_start_matches('!') == what;
            let refusal = || format!("{what} of `{}` cannot be chosen", row.name);
            row.provisioned.iter().any(is).then_some(()).ok_or_else(refusal)
        };
        match key.trim() {
            "iops" => {
                may("iops")?;
                bought.iops = Some(number()?);
            }
            "mbps" => {
                may("mbps")?;
                bought.throughput = Some(number()?);
            }
            "size" => {
                let size: Bytes = value.parse().map_err(|_| form())?;
                bought.gib = Some(size.0 as f64 / (1u64 << 30) as f64);
            }
            _ => return Err(form()),
        }
    }
    Ok(bought)
}

/// MB per second in MiB per second, to a tenth.
fn mib(mb: f64) -> f64 {
    (mb * MB / MIB * 10.0).round() / 10.0
}

impl Volume {
    /// Refuses a volume of which something must be said.
    fn check(&self, bought: Bought) -> Result<(), String> {
        let by_size =
            self.iops_per_gib.or(self.mib_per_s_per_gib).is_some() || self.larger.is_some();
        if by_size && bought.gib.is_none() {
            return Err("what it does follows from its size: add `,size=500G`".to_owned());
        }
        if bought.iops.is_none() && self.provisioned.iter().any(|what| what == "!iops") {
            return Err("its IOPS are bought with it: add `,iops=10000`".to_owned());
        }
        Ok(())
    }

    fn claims(&self, bought: Bought) -> Result<Vec<Claim>, String> {
        self.check(bought)?;
        let iops = self.sustained_iops(bought);
        let mut claims = Vec::new();
        let read = Selector { random: Some(true), write_percent: Some(0), ..Selector::default() };
        if let Some(iops) = iops {
            let burst = self.burst(iops);
            for (of, what) in [
                (read.clone(), "random reads"),
                (Selector { write_percent: Some(100), ..read.clone() }, "random writes"),
            ] {
                claims.push(self.claim(of, what, Figure::Iops, iops, burst));
            }
        }
        if let Some(mib) = self.mib_per_s(bought, iops) {
            let of = Selector { random: Some(false), ..read.clone() };
            claims.push(self.claim(of, "sequential reads", Figure::MibPerS, mib, None));
        }
        if let Some(ms) = self.latency_ms {
            let of = Selector { in_flight: Some(1), ..read };
            let ns = ms * 1e6;
            claims.push(self.claim(of, "latency at depth 1", Figure::LatencyMean, ns, None));
        }
        if claims.is_empty() {
            return Err(format!("its row (`{}`) claims nothing", self.name));
        }
        Ok(claims)
    }

    fn claim(
        &self,
        of: Selector,
        what: &str,
        figure: Figure,
        limit: f64,
        burst: Option<Burst>,
    ) -> Claim {
        let mut source = self.source.clone();
        if let Some(date) = &self.as_of {
            source = format!("{source}, as of {date}");
        }
        if !self.read.is_empty() {
            source = format!("{source}, read {}", self.read);
        }
        if let Some(note) = &self.note {
            source = format!("{source}; {note}");
        }
        Claim {
            name: Some(format!("{} {what}", self.name)),
            of,
            expect: vec![Expectation { figure, limit }],
            documented: Some(Documented { source, burst }),
        }
    }

    fn sustained_iops(&self, bought: Bought) -> Option<f64> {
        let by_size = self.iops_per_gib.zip(bought.gib).map(|(each, gib)| each * gib);
        let iops = bought.iops.or(by_size).or(self.iops)?;
        let iops = iops.max(self.iops_min.unwrap_or(0.0));
        Some(iops.min(self.iops_max.unwrap_or(f64::MAX)))
    }

    fn mib_per_s(&self, bought: Bought, iops: Option<f64>) -> Option<f64> {
        let is_mb = self.mb_per_s.is_some();
        if let Some(given) = bought.throughput {
            return Some(if is_mb { mib(given) } else { given });
        }
        let larger = self.larger.filter(|larger| bought.gib.is_some_and(|gib| gib > larger.gib));
        let each = |rate: Option<f64>, of: Option<f64>| rate.zip(of).map(|(rate, of)| rate * of);
        let rate = larger
            .map(|larger| larger.mib_per_s)
            .or_else(|| each(self.mib_per_s_per_gib, bought.gib))
            .or_else(|| each(self.mib_per_s_per_iops, iops))
            .or(self.mib_per_s)
            .or_else(|| self.mb_per_s.map(mib))?;
        Some(rate.min(self.mib_per_s_max.unwrap_or(f64::MAX)))
    }

    /// The rate beyond the sustained one, and for how long it lasts.
    fn burst(&self, sustained: f64) -> Option<Burst> {
        let iops = self.burst_iops.filter(|iops| *iops > sustained)?;
        // Credits are earned at the sustained rate while they are spent.
        let by_credits = self.burst_ios.map(|ios| ios / (iops - sustained));
        let seconds = by_credits.or(self.burst_minutes.map(|minutes| minutes * 60.0))?;
        Some(Burst { iops, seconds })
    }
}

/// Every known volume with its source, a line each.
#[must_use]
pub fn volume_list() -> String {
    let rows = toml::from_str::<Table>(BUILT_IN).unwrap_or_default().volume;
    let line = |row: &Volume| {
        let iops = match (row.iops, row.iops_per_gib) {
            (Some(iops), _) => format!("{} IOPS", show_number(iops)),
            (None, Some(each)) => format!("{} IOPS per GiB", show_number(each)),
            (None, None) => "IOPS as bought".to_owned(),
        };
        format!("  {:<16} {iops:<20} {} (read {})\n", row.name, row.source, row.read)
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits(text: &str) -> Vec<String> {
        let claims = volume_claims(text, None, Database::Generic).unwrap();
        claims.iter().flat_map(|claim| &claim.expect).map(ToString::to_string).collect()
    }

    fn refused(text: &str) -> String {
        volume_claims(text, None, Database::Generic).unwrap_err().to_string()
    }

    #[test]
    fn a_volume_is_what_its_provider_documents() {
        let gp3 = limits("aws:gp3");
        assert!(gp3[0].contains("3 000") || gp3[0].contains("3000"), "{gp3:?}");
        let bought = limits("aws:gp3,iops=6000,mbps=250").join(" ");
        assert!(bought.contains("6000") && bought.contains("250"), "{bought}");
        // 200 MB are 190.7 MiB.
        assert!(limits("azure:p30").join(" ").contains("190.7"), "{:?}", limits("azure:P30"));
        assert!(limits("gcp:pd-ssd,size=500G")[0].contains("15000"));
        assert!(limits("aws:gp2,size=10G")[0].contains("100"));
        assert!(limits("aws:io2,iops=20000").join(" ").contains("4000"));
    }

    #[test]
    fn a_burst_lasts_as_long_as_its_credits() {
        let burst = |text: &str| {
            let claims = volume_claims(text, None, Database::Generic).unwrap();
            claims[0].documented.clone().and_then(|documented| documented.burst)
        };
        // The source's own table has 2,000 seconds.
        let gp2 = Burst { iops: 3000.0, seconds: 2000.0 };
        assert_eq!(burst("aws:gp2,size=100G"), Some(gp2));
        assert_eq!(burst("azure:P10"), Some(Burst { iops: 3500.0, seconds: 1800.0 }));
        assert_eq!(burst("aws:gp2,size=2T"), None);
    }

    /// The rates of a model are those of the documents, and the latency is between none and that.
    #[test]
    fn a_volume_is_between_two_devices() {
        let found = volume_model("aws:gp3,iops=6000,mbps=250").unwrap();
        assert_eq!((found.slow.read_ns, found.fast.read_ns), (Nanoseconds(10_000_000), NO_TIME));
        for (device, ios, bytes) in [(&found.slow, 1, 1), (&found.fast, 6000, 250 << 20)] {
            let bucket = device.bucket.unwrap();
            assert_eq!((bucket.iops, bucket.bytes_per_s), (Some(6000), Some(Bytes(250 << 20))));
            assert_eq!((bucket.burst_ios, bucket.burst_bytes), (ios, Bytes(bytes)));
        }
        assert!(found.documented.starts_with("6 000 IOPS, 250 MiB/s and at most 10 ms"));
        for (volume, why) in [
            ("aws:io1,iops=1000", "documents no latency"),
            ("aws:io2", "add `,iops=10000`"),
            ("aws:gp9", "there are aws:gp3"),
        ] {
            let error = volume_model(volume).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn what_is_missing_or_unknown_is_told() {
        assert!(refused("aws:gp9").contains("there are aws:gp3"));
        assert!(refused("aws:gp2").contains("add `,size=500G`"));
        assert!(refused("aws:io2").contains("add `,iops=10000`"));
        assert!(refused("azure:P30,iops=9000").contains("cannot be chosen"));
        assert!(refused("aws:gp3,iops=many").contains("write iops=N"));
        assert!(refused("aws:gp3,iops=-1").contains("write iops=N"));
    }

    #[test]
    fn rows_of_the_user_come_first() {
        let own = "[[volume]]\nname = \"dc1:fast\"\niops = 50000\nsource = \"contract\"\n\
                   [[volume]]\nname = \"aws:gp3\"\niops = 1\nsource = \"x\"\n";
        let claims = |text| volume_claims(text, Some(own), Database::Generic).unwrap();
        assert!(claims("dc1:fast")[0].expect[0].to_string().contains("50000"));
        assert_eq!(claims("aws:gp3")[0].expect[0].limit.to_bits(), 1f64.to_bits());
        let wrong = volume_claims("a:b", Some("[[volume]]\nspeed = 1\n"), Database::Generic);
        assert!(matches!(wrong, Err(ClaimsError::Toml(_))));
    }

    /// A figure without a source cannot be looked up again.
    #[test]
    fn every_row_has_a_name_a_source_and_a_date() {
        let rows = toml::from_str::<Table>(BUILT_IN).unwrap().volume;
        for row in &rows {
            assert!(names_volume(&row.name), "{}", row.name);
            assert!(row.source.starts_with("https://") && row.read.len() == 10, "{}", row.name);
            assert_eq!(rows.iter().filter(|other| other.name == row.name).count(), 1);
            assert!(volume_list().contains(&row.name));
        }
    }

    #[test]
    fn a_path_is_not_a_volume() {
        assert!(names_volume("aws:gp3,iops=6000") && names_volume("azure:P30"));
        for path in ["claims.toml", "/etc/claims.toml", "C:\\claims.toml", "./a:b", ""] {
            assert!(!names_volume(path), "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_volume_or_refused(text in "(aws:gp[23]|azure:P30|.{0,8}),?.{0,20}") {
            let _ = (names_volume(&text), volume_claims(&text, None, Database::Generic));
        }
    }
}
