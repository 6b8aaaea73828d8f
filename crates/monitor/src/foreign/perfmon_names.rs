//! The names of Performance Monitor's counters of disks, in the languages that are known.
//!
//! Windows writes names in its own language. A name is here where a Windows of that language is
//! known to write it; a counter with another name is attached to the recording as it is.

/// A counter of a disk, by its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Disk {
    /// The instance of the counter, which is the name of the disk.
    pub(super) instance: String,
    /// The English name in small letters; that of the file where it is not known.
    pub(super) counter: String,
    /// Whether the counter has a name that is known; every English one is.
    pub(super) is_known: bool,
}

/// The names of counters in one language.
struct Language {
    /// The names of `PhysicalDisk` and `LogicalDisk`.
    objects: [&'static str; 2],
    /// The counters, each with its English name in small letters.
    counters: &'static [(&'static str, &'static str)],
}

const ENGLISH: [&str; 2] = ["PhysicalDisk", "LogicalDisk"];

static LANGUAGES: [Language; 2] = [
    Language {
        objects: ["Physikalischer Datenträger", "Logischer Datenträger"],
        counters: &[
            ("Aktuelle Warteschlangenlänge", "current disk queue length"),
            ("Zeit (%)", "% disk time"),
            ("Lesezeit (%)", "% disk read time"),
            ("Schreibzeit (%)", "% disk write time"),
            ("Leerlaufzeit (%)", "% idle time"),
            ("Mittlere Sek./Übertragung", "avg. disk sec/transfer"),
            ("Mittlere Sek./Lesevorgänge", "avg. disk sec/read"),
            ("Mittlere Sek./Schreibvorgänge", "avg. disk sec/write"),
            ("Übertragungen/s", "disk transfers/sec"),
            ("Lesevorgänge/s", "disk reads/sec"),
            ("Schreibvorgänge/s", "disk writes/sec"),
            ("Bytes/s", "disk bytes/sec"),
            ("Bytes gelesen/s", "disk read bytes/sec"),
            ("Bytes geschrieben/s", "disk write bytes/sec"),
            ("Mittlere Bytes/Übertragung", "avg. disk bytes/transfer"),
            ("Mittlere Bytes/Lesevorgang", "avg. disk bytes/read"),
            ("Mittlere Bytes/Schreibvorgang", "avg. disk bytes/write"),
            ("Durchschnittl. Warteschlangenlänge des Datenträgers", "avg. disk queue length"),
            (
                "Durchschnittl. Warteschlangenlänge der Datenträger-Lesevorgänge",
                "avg. disk read queue length",
            ),
            (
                "Durchschnittl. Warteschlangenlänge der Datenträger-Schreibvorgänge",
                "avg. disk write queue length",
            ),
            ("Teil-E/A/s", "split io/sec"),
        ],
    },
    Language {
        objects: ["Fizikai lemez", "Logikai lemez"],
        counters: &[("Írási sebesség (bájt/s)", "disk write bytes/sec")],
    },
];

/// Of `PhysicalDisk(0 C:)\Disk Reads/sec`, in any language that is known.
pub(super) fn disk(path: &str) -> Option<Disk> {
    let (object, counter) = path.rsplit_once(")\\")?;
    let (object, instance) = object.split_once('(')?;
    let (object, counter, instance) = (object.trim(), counter.trim(), instance.to_owned());
    if ENGLISH.iter().any(|known| object.eq_ignore_ascii_case(known)) {
        return Some(Disk { instance, counter: counter.to_lowercase(), is_known: true });
    }
    let speaks = |language: &&Language| language.objects.iter().any(|known| same(object, known));
    let language = LANGUAGES.iter().find(speaks)?;
    let english = language.counters.iter().find(|(known, _)| same(counter, known));
    let name = english.map_or_else(|| counter.to_lowercase(), |(_, name)| (*name).to_owned());
    Some(Disk { instance, counter: name, is_known: english.is_some() })
}

/// Whether a name is the known one. A file in a code page of Windows has lost its umlauts: each is
/// a question mark.
fn same(found: &str, known: &str) -> bool {
    let mut found = found.chars().flat_map(char::to_lowercase);
    let mut known = known.chars().flat_map(char::to_lowercase);
    loop {
        match (found.next(), known.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b => {}
            (Some('?' | char::REPLACEMENT_CHARACTER), Some(b)) if !b.is_ascii() => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counter(path: &str) -> Option<(String, bool)> {
        disk(path).map(|disk| (disk.counter, disk.is_known))
    }

    #[test]
    fn names_lead_to_the_english_ones() {
        let known = |name: &str| Some((name.to_owned(), true));
        for path in [
            r"PhysicalDisk(0 C:)\Disk Reads/sec",
            r"Physikalischer Datenträger(0 C:)\Lesevorgänge/s",
            r"PHYSIKALISCHER DATENTRÄGER(0 C:)\LESEVORGÄNGE/S",
            r"Logischer Datentr?ger(C:)\Lesevorg?nge/s",
        ] {
            assert_eq!(counter(path), known("disk reads/sec"), "{path}");
        }
        let path = r"Fizikai lemez(_Total)\Írási sebesség (bájt/s)";
        assert_eq!(counter(path), known("disk write bytes/sec"));
        assert_eq!(counter(r"Fizikai lemez(0 C:)\Bármi"), Some(("bármi".to_owned(), false)));
        assert_eq!(counter(r"Prozessor(_Total)\Prozessorzeit (%)"), None);
        assert_eq!(counter(r"Disque physique(0 C:)\Lectures disque/s"), None);
    }

    #[test]
    fn no_name_of_a_language_stands_for_two() {
        for language in &LANGUAGES {
            for (place, (name, english)) in language.counters.iter().enumerate() {
                let rest = language.counters.iter().skip(place + 1);
                assert!(rest.clone().all(|(other, _)| !same(name, other)), "{name}");
                assert!(rest.clone().all(|(_, other)| english != other), "{english}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_name_panics(text in "\\PC{0,60}") {
            let _ = disk(&text);
        }
    }
}
