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

static LANGUAGES: [Language; 6] = [
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
    Language {
        objects: ["Disque physique", "Disque logique"],
        counters: &[
            ("Taille de file d'attente du disque actuelle", "current disk queue length"),
            ("Pourcentage du temps disque", "% disk time"),
            ("Pourcentage du temps de lecture du disque", "% disk read time"),
            ("Pourcentage du temps écriture du disque", "% disk write time"),
            ("% d'inactivité", "% idle time"),
            ("Moyenne disque s/transfert", "avg. disk sec/transfer"),
            ("Moyenne disque s/lecture", "avg. disk sec/read"),
            ("Moyenne disque s/écriture", "avg. disk sec/write"),
            ("Transferts disque/s", "disk transfers/sec"),
            ("Lectures disque/s", "disk reads/sec"),
            ("Écritures disque/s", "disk writes/sec"),
            ("Octets disque/s", "disk bytes/sec"),
            ("Lectures disque, octets/s", "disk read bytes/sec"),
            ("Octets lus du disque/s", "disk read bytes/sec"),
            ("Écritures disque, octets/s", "disk write bytes/sec"),
            ("Octets écrits sur le disque/s", "disk write bytes/sec"),
            ("Moyenne disque, octets/transfert", "avg. disk bytes/transfer"),
            ("Moyenne disque, octets/lecture", "avg. disk bytes/read"),
            ("Moyenne disque, octets/écriture", "avg. disk bytes/write"),
            ("Longueur moyenne de file d'attente du disque", "avg. disk queue length"),
            ("Longueur moyenne de file d'attente lecture disque", "avg. disk read queue length"),
            ("Longueur moyenne de file d'attente écriture disque", "avg. disk write queue length"),
            ("E/S partagées/s", "split io/sec"),
        ],
    },
    Language {
        objects: ["Disco físico", "Disco lógico"],
        counters: &[
            ("Longitud actual de la cola de disco", "current disk queue length"),
            ("% de tiempo de disco", "% disk time"),
            ("% de tiempo de lectura de disco", "% disk read time"),
            ("% de tiempo de escritura de disco", "% disk write time"),
            ("Promedio en segundos de transferencia de disco", "avg. disk sec/transfer"),
            ("Promedio de segundos de disco/transferencia", "avg. disk sec/transfer"),
            ("Promedio en segundos de lectura de disco", "avg. disk sec/read"),
            ("Promedio de segundos de disco/lectura", "avg. disk sec/read"),
            ("Promedio de disco s/lectura", "avg. disk sec/read"),
            ("Promedio en segundos de escritura en disco", "avg. disk sec/write"),
            ("Promedio en segundos de escritura de disco", "avg. disk sec/write"),
            ("Promedio de segundos de disco/escritura", "avg. disk sec/write"),
            ("Promedio de disco s/escritura", "avg. disk sec/write"),
            ("Transferencias de disco/s", "disk transfers/sec"),
            ("Lecturas de disco/s", "disk reads/sec"),
            ("Escrituras en disco/s", "disk writes/sec"),
            ("Bytes de disco/s", "disk bytes/sec"),
            ("Bytes de lectura de disco/s", "disk read bytes/sec"),
            ("Bytes de escritura en disco/s", "disk write bytes/sec"),
            ("Longitud media de la cola de disco", "avg. disk queue length"),
        ],
    },
    Language {
        objects: ["FizikselDisk", "MantıksalDisk"],
        counters: &[
            ("Disk Okuma Bayt/sn", "disk read bytes/sec"),
            ("Disk Yazma Bayt/sn", "disk write bytes/sec"),
        ],
    },
    Language {
        objects: ["Физический диск", "Логический диск"],
        counters: &[
            ("Текущая длина очереди диска", "current disk queue length"),
            ("% активности диска", "% disk time"),
            ("Процент времени бездействия", "% idle time"),
            ("Среднее время обращения к диску (с)", "avg. disk sec/transfer"),
            ("Обращений чтения с диска/с", "disk reads/sec"),
            ("Обращений записи на диск/с", "disk writes/sec"),
            ("Скорость чтения с диска (байт/с)", "disk read bytes/sec"),
            ("Скорость записи на диск (байт/с)", "disk write bytes/sec"),
            ("Средний размер одного обмена с диском (байт)", "avg. disk bytes/transfer"),
            ("Средняя длина очереди диска", "avg. disk queue length"),
        ],
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
/// a question mark. Of Russian names, nothing is left then that would tell one from another.
fn same(found: &str, known: &str) -> bool {
    let mut found = found.chars().flat_map(char::to_lowercase);
    let mut known = known.chars().flat_map(char::to_lowercase);
    let (mut equal, mut lost) = (0, 0);
    loop {
        match (found.next(), known.next()) {
            (None, None) => return lost <= equal,
            (Some(a), Some(b)) if a == b => equal += usize::from(a.is_alphanumeric()),
            (Some('’'), Some('\'')) => {}
            (Some('?' | char::REPLACEMENT_CHARACTER), Some(b)) if !b.is_ascii() => lost += 1,
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
        for path in [
            r"Disque physique(0 C:)\Lectures disque/s",
            r"Disco físico(0 C:)\Lecturas de disco/s",
            r"Физический диск(0 C:)\Обращений чтения с диска/с",
        ] {
            assert_eq!(counter(path), known("disk reads/sec"), "{path}");
        }
        let path = r"Disque logique(C:)\Taille de file d’attente du disque actuelle";
        assert_eq!(counter(path), known("current disk queue length"));
        let path = r"FizikselDisk(0 C:)\Disk Yazma Bayt/sn";
        assert_eq!(counter(path), known("disk write bytes/sec"));
        assert_eq!(counter(r"?????????? ????(0 C:)\????????? ?????? ?? ????/?"), None);
        assert_eq!(counter(r"Fysisk disk(0 C:)\Disk - skrivna byte/s"), None);
    }

    #[test]
    fn no_name_of_a_language_stands_for_two() {
        for language in &LANGUAGES {
            for (place, (name, english)) in language.counters.iter().enumerate() {
                let rest = language.counters.iter().skip(place + 1);
                assert!(rest.clone().all(|(other, _)| !same(name, other)), "{name}: {english}");
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
