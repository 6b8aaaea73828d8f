//! The call of a tool of sysstat above what it printed, as in the log of a terminal.

/// What a call tells about the rows below it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Call {
    /// Rows of idle devices are omitted (`-z`).
    pub(super) omits_idle: bool,
    /// The report of the time since the system booted is omitted (`-y` of `iostat`).
    pub(super) omits_first: bool,
    /// Seconds between two reports.
    pub(super) interval_seconds: Option<f64>,
}

impl Call {
    /// Parses a line such as `root@db1:~# iostat -xz 5 12 | tee log`; `None` for any other.
    pub(super) fn of(words: &[&str], tool: &str) -> Option<Self> {
        let plain = |word: &&str| word.trim_matches(['`', ':']).rsplit('/').next() == Some(tool);
        let place = words.iter().position(plain)?;
        let (before, after) = words.split_at(place);
        let is_prompt = |word: &&str| {
            word.ends_with(['$', '#', '%', '>', '+', ']']) || word.contains('=') || *word == "sudo"
        };
        if before.last().is_some_and(|word| !is_prompt(word)) {
            return None;
        }
        let ends = |word: &&str| !word.contains(['|', '>', '<', ';', '&']);
        let words = after.iter().skip(1).map(|word| word.trim_matches(['`', ':']));
        let words: Vec<&str> = words.take_while(ends).collect();
        let has = |option: char| {
            let short = words.iter().filter_map(|word| word.strip_prefix('-'));
            short.filter(|word| !word.starts_with('-')).any(|word| word.contains(option))
        };
        // The interval, and the number of reports, come last.
        let is_number = |word: &&&str| word.bytes().all(|b| b.is_ascii_digit());
        let numbers = words.iter().rev().take_while(is_number).count();
        let interval = words.len().checked_sub(numbers).filter(|_| (1..=2).contains(&numbers));
        let interval = interval.and_then(|place| words.get(place)?.parse::<f64>().ok());
        Some(Self {
            omits_idle: has('z'),
            omits_first: has('y'),
            interval_seconds: interval.filter(|seconds| *seconds > 0.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_call_has_its_options_and_its_interval() {
        for (line, omits_idle, omits_first, interval_seconds) in [
            ("iostat -xz 5", true, false, Some(5.0)),
            ("root@db1:~# iostat -x -y sda 2 30", false, true, Some(2.0)),
            ("[root@db1 ~]$ sudo /usr/bin/iostat -yzxm 10 | tee log.txt", true, true, Some(10.0)),
            ("S_TIME_FORMAT=ISO iostat --compact -x", false, false, None),
            ("`iostat -x 5`:", false, false, Some(5.0)),
            ("$ iostat", false, false, None),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            let call = Call { omits_idle, omits_first, interval_seconds };
            assert_eq!(Call::of(&words, "iostat"), Some(call), "{line}");
        }
        for line in ["the output of iostat 5", "Linux 6.1.0 (db1)", "", "sar -d 1"] {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(Call::of(&words, "iostat"), None, "{line}");
        }
        let prose = ["iostat", "10", "minutes", "later"];
        assert_eq!(Call::of(&prose, "iostat"), Some(Call::default()));
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "(.*iostat)?.*") {
            let words: Vec<&str> = line.split_whitespace().collect();
            let _ = Call::of(&words, "iostat");
        }
    }
}
