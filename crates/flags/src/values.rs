//! Values as people type them, the same for every flag of a kind: times with or without a unit,
//! rates in thousands, percentages with their sign, addresses without their defaults.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Arg;
use clap::builder::ValueParser;
use clap::value_parser;
use workload::{Bytes, Nanoseconds};

/// The port that `iosonde serve` has where none is named.
const PORT: u16 = 7468;

/// Flags that are a length of time; a number alone is seconds.
const SECONDS: [&str; 11] = [
    "seconds",
    "warmup",
    "at-least",
    "settle",
    "cell-seconds",
    "fill-seconds",
    "pass-seconds",
    "checkpoint",
    "kill-after",
    "resize",
    "wait",
];

/// A flag that reads its value in the way of its kind.
pub(crate) fn read(arg: Arg) -> Arg {
    let kind = arg.get_value_parser().type_id();
    let is = |parser: ValueParser| kind == parser.type_id();
    let Some(long) = arg.get_long().map(str::to_owned) else { return arg };
    match long.as_str() {
        name if SECONDS.contains(&name) && is(value_parser!(f64).into()) => {
            let is_plain = arg.get_value_names().is_some_and(|names| names == ["N"]);
            let arg = arg.value_parser(seconds);
            if is_plain { arg.value_name("TIME") } else { arg }
        }
        "rate" | "iops" if is(value_parser!(f64).into()) => arg.value_parser(count),
        "precision" | "update" | "write" if is(value_parser!(f64).into()) => {
            arg.value_parser(percent)
        }
        "write" | "random" if is(value_parser!(u8).into()) => arg.value_parser(whole_percent),
        "interval" if is(value_parser!(Nanoseconds).into()) => arg.value_parser(interval),
        "size" | "log-size" if is(value_parser!(Bytes).into()) => arg.value_parser(size),
        "listen" | "metrics" if is(value_parser!(SocketAddr).into()) => arg.value_parser(address),
        _ => arg,
    }
}

/// Reads `10`, `10s`, `1.5m`, `2h` or `500ms`.
fn seconds(text: &str) -> Result<f64, String> {
    if let Ok(number) = text.trim().parse::<f64>() {
        return Ok(number);
    }
    let time = text.trim().parse::<Nanoseconds>();
    time.map(Nanoseconds::seconds).map_err(|_| {
        "write seconds, or a number with a unit: `30`, `30s`, `5m`, `1h` or `500ms`".to_owned()
    })
}

/// A distance in time; a number alone is seconds.
fn interval(text: &str) -> Result<Nanoseconds, String> {
    let text = text.trim();
    let with_unit = match text.parse::<f64>() {
        Ok(_) => format!("{text}s"),
        Err(_) => text.to_owned(),
    };
    with_unit.parse().map_err(|_| {
        "write seconds, or a number with a unit: `1`, `1s`, `250ms` or `1m`".to_owned()
    })
}

/// `500`, `5k`, `1.5M`: powers of 1000, because I/Os are counted.
fn count(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let (number, factor) = match text.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => text.strip_suffix('M').map_or((text, 1.0), |number| (number, 1e6)),
    };
    let number = number.trim_end().parse::<f64>().map(|number| number * factor);
    number.map_err(|_| {
        "write I/Os per second: `500`, `5k` or `1.5M`; MiB per second are `--rate-mib`".to_owned()
    })
}

/// Reads `2` or `2.5%`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    number.parse().map_err(|_| "write a percentage, such as `5` or `2.5%`".to_owned())
}

/// Reads `30` or `30%`.
fn whole_percent(text: &str) -> Result<u8, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    number.parse().map_err(|_| "write a whole percentage, such as `30` or `30%`".to_owned())
}

/// A file smaller than this was meant to be something else.
const BYTES_MIN: u64 = 4096;

/// `4G`. A small number without a unit is SQLIO's `-s`, which is a time, or lacks its unit.
fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error: workload::UnitError| error.to_string())?;
    if (1..BYTES_MIN).contains(&size.0) && text.trim().parse::<u64>().is_ok() {
        let text = text.trim();
        return Err(format!(
            "that is {text} bytes; write a unit, such as `{text}G`. A length of time is `-d {text}`"
        ));
    }
    Ok(size)
}

/// `80`, `:80`, `localhost:80`, `0.0.0.0`: a port alone is on this computer only, an address alone
/// has the usual port.
fn address(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim();
    let wrong = || {
        "write a port, an address or both: `8080`, `0.0.0.0`, `0.0.0.0:8080` or `localhost:8080`"
            .to_owned()
    };
    if let Ok(port) = text.parse::<u16>() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address);
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok((address, PORT).into());
    }
    if let Some(port) = text.strip_prefix(':').or_else(|| text.strip_prefix("*:")) {
        let port = port.parse::<u16>().map_err(|_| wrong())?;
        return Ok((Ipv4Addr::UNSPECIFIED, port).into());
    }
    // Other names would be asked of a name server, and be another computer's as often as not.
    match text.split_once(':').unwrap_or((text, "7468")) {
        ("localhost", port) => {
            port.parse().map(|port: u16| (Ipv4Addr::LOCALHOST, port).into()).map_err(|_| wrong())
        }
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use proptest::prelude::*;

    #[test]
    fn times_have_a_unit_or_are_seconds() {
        for (text, value) in
            [("10", 10.0), ("10s", 10.0), ("1.5m", 90.0), ("2h", 7200.0), ("500ms", 0.5)]
        {
            assert_eq!(seconds(text), Ok(value), "{text}");
        }
        assert!(seconds("ten").is_err() && seconds("").is_err() && seconds("5 apples").is_err());
        assert_eq!(interval("1"), Ok(Nanoseconds(1_000_000_000)));
        assert_eq!(interval("0.5"), interval("500ms"));
        assert!(interval("-1").is_err() && interval("x").is_err());
    }

    #[test]
    fn rates_percentages_and_sizes_are_read_as_they_are_typed() {
        assert_eq!((count("5k"), count("1.5M"), count("200")), (Ok(5e3), Ok(1.5e6), Ok(200.0)));
        // fio's rate is in bytes, and its m is a megabyte.
        assert!(count("10m").is_err());
        assert_eq!((whole_percent("30%"), whole_percent("30")), (Ok(30), Ok(30)));
        assert_eq!(percent("2.5 %"), Ok(2.5));
        assert_eq!(size("4096"), Ok(Bytes(4096)));
        assert!(size("30").unwrap_err().contains("`-d 30`"));
    }

    #[test]
    fn an_address_may_lack_what_is_usual() {
        for (text, full) in [
            ("80", "127.0.0.1:80"),
            (":80", "0.0.0.0:80"),
            ("0.0.0.0", "0.0.0.0:7468"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:80", "[::1]:80"),
            ("localhost", "127.0.0.1:7468"),
            ("localhost:80", "127.0.0.1:80"),
            ("::1", "[::1]:7468"),
        ] {
            assert_eq!(address(text).map(|a| a.to_string()).as_deref(), Ok(full), "{text}");
        }
        assert!(address("no-such-host:80").is_err() && address("70000").is_err());
        assert!(address("").is_err() && address(":").is_err());
    }

    proptest! {
        #[test]
        fn anything_is_read_or_refused(text in ".{0,24}") {
            let _ = (seconds(&text), interval(&text), count(&text), percent(&text));
            let _ = (whole_percent(&text), size(&text));
            let _ = address(&text);
        }

        #[test]
        fn what_is_shown_is_read(port: u16, thousands in 0u32..100_000) {
            let shown = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            prop_assert_eq!(address(&shown.to_string()), Ok(shown));
            prop_assert_eq!(count(&format!("{thousands}k")), Ok(f64::from(thousands) * 1e3));
        }
    }
}
