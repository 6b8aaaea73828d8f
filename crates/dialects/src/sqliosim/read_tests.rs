//! The reader returns what was written, and no input can break it.

use proptest::prelude::*;

use super::config::DataFile;
use super::keys::{Section, Value};
use super::{Configuration, NAMES, read, shipped, write};
use crate::text::decode;

fn reads(text: &str) -> super::Reading {
    read("x.ini", text).unwrap()
}

#[test]
fn every_key_is_read_in_any_case_and_the_rest_is_named_with_its_place() {
    let text = "; a comment\r\n\
        [config]\r\n\
        ErrorFile=e.xml\r\ncpucount=4\r\nIOAffinity=3\r\nStopOnError=FALSE\r\nScatterGather=false\r\n\
        TargetIODuration = ten\r\n\
        Colour=blue\r\n\
        [FILE2]\r\nFileName=\"E:\\a b.mdx\"\r\nInitialSize=100\r\nMaxSize=0\r\n\
        [File1]\r\nFileName=E:\\x.ldx\r\nInitialSize=10\r\nLogFile=TRUE\r\n\
        [RandomUser]\r\nUserCount=-1\r\nCPUSimulation=True\r\nnonsense\r\n\
        [Bogus]\r\nx=1\r\n\
        [BulkUpdateUser]\r\nBuffersBUMin=1\r\nBuffersBUMin=2\r\n";
    let reading = reads(text);
    let config = reading.config;
    assert_eq!(config.general.error_file.as_deref(), Some("e.xml"));
    assert_eq!((config.general.cpu_count, config.general.io_affinity), (Some(4), 3));
    assert!(!config.general.stop_on_error && !config.general.scatter_gather);
    assert_eq!(config.general.target_io_duration_ms, 0);
    let names: Vec<&str> = config.files.iter().map(|f| f.file_name.as_str()).collect();
    assert_eq!(names, [r"E:\x.ldx", r"E:\a b.mdx"]);
    assert!(config.files[0].log_file && config.random.cpu_simulation);
    assert_eq!(config.bulk.pages_min, 1);
    for part in [
        "line 8, column 20: `ten` is not a whole number",
        "line 9, column 1: [CONFIG] has no key `Colour`",
        "line 21, column 1: `nonsense` is neither",
        "line 22, column 1: there is no section [Bogus]",
        "line 23, column 1: `x` belongs to no section",
        "line 26, column 1: `BuffersBUMin` is in line 25",
    ] {
        assert!(reading.notes.iter().any(|n| n.contains(part)), "{part}: {:#?}", reading.notes);
    }
    assert_eq!(reading.notes.len(), 6);
}

/// A text that is not a number counts as 0, and the complaint about its range named that 0 instead
/// of what was typed.
#[test]
fn a_complaint_names_what_was_typed() {
    for (typed, words) in [
        ("4G", "`4G` is not a whole number, and counts as 0, which is not from 1 to 64"),
        ("99999999999999999999", "`99999999999999999999` is too large a number, and counts as 0"),
        ("0", "CPUCount: 0 is not from 1 to 64"),
        ("70", "CPUCount: 70 is not from 1 to 64"),
    ] {
        let wrong =
            read("x.ini", &format!("[CONFIG]\nCPUCount={typed}\n")).unwrap_err().to_string();
        assert!(wrong.starts_with("`x.ini`, line 2, column 10: [CONFIG] CPUCount: "), "{wrong}");
        assert!(wrong.contains(words), "{wrong}");
    }
}

#[test]
fn both_spellings_are_the_same_key() {
    for name in ["ScatterGather", "UseScatterGather", "USESCATTERGATHER"] {
        assert!(!reads(&format!("[CONFIG]\n{name}=FALSE\n")).config.general.scatter_gather);
    }
}

#[test]
fn rules_are_held_with_their_places() {
    for (text, part) in [
        (
            "[CONFIG]\nCacheHitRatio=10001",
            "line 2, column 15: [CONFIG] CacheHitRatio: 10001 is not from 0 to 10000",
        ),
        ("[CONFIG]\nCPUCount=65", "65 is not from 1 to 64"),
        ("[CONFIG]\nMaxOutstandingIO=140001", "140000"),
        ("[CONFIG]\nStopOnError=maybe", "line 2, column 13: `StopOnError` is `maybe`"),
        ("[CONFIG\n", "lacks its `]`"),
        ("[RandomUser]\nMinIOChainLength=101", "101 is more than `MaxIOChainLength`, 100"),
        ("[RandomUser]\nMinLogPerBuffer=100", "neither a multiple of 512"),
        ("[RandomUser]\nMaxLogPerBuffer=8193", "not a multiple of 512"),
        ("[RandomUser]\nUserCount=66000", "have room for 65372"),
        ("[ReadAheadUser]\nBuffersRAMax=8", "32 is more than `BuffersRAMax`, 8"),
        ("[BulkUpdateUser]\nBuffersBUMin=0", "0 is not from 1"),
        ("[ShrinkUser]\nMinExtends=30", "30 is more than"),
        ("[File1]\nInitialSize=5", "FileName: it is missing"),
        ("[File1]\nFileName=a.mdx", "InitialSize: 0 is not from 1"),
        ("[File1]\nFileName=a.mdx\nInitialSize=5\nMaxSize=4", "4 is less than `InitialSize`, 5"),
        (
            "[File1]\nFileName=a.mdx\nInitialSize=1\n[AuditUser]\nBuffersValidated=129",
            "129 pages are more than a file has, 128",
        ),
        ("[File1]\nFileName=a\nInitialSize=1\n[File2]\nFileName=a\nInitialSize=1", "named twice"),
    ] {
        let wrong = read("x.ini", text).unwrap_err().to_string();
        assert!(wrong.contains(part), "{text}: {wrong}");
        assert!(wrong.starts_with("`x.ini`"), "{wrong}");
    }
}

#[test]
fn the_shipped_ones_read_back_in_every_encoding() {
    for name in NAMES {
        let config = shipped(name).unwrap();
        let text = write(&config).unwrap();
        assert_eq!((reads(&text).config, reads(&text).notes), (config.clone(), Vec::new()));
        let windows = text.replace('\n', "\r\n");
        let units = windows.encode_utf16().flat_map(u16::to_le_bytes);
        let bytes: Vec<u8> = [0xFF, 0xFE].into_iter().chain(units).collect();
        assert_eq!(reads(&decode(&bytes)).config, config);
    }
}

#[test]
fn remarks_are_bounded() {
    let text = "[CONFIG]\n".to_owned() + &"x=1\n".repeat(100_000);
    let notes = reads(&text).notes;
    assert_eq!(notes.len(), 101);
    assert!(notes[100].contains("99900 more"), "{}", notes[100]);
    let files: Vec<String> = (0..5000).map(|n| format!("[File{n}]\n")).collect();
    assert!(read("x", &files.concat()).unwrap_err().0.len() <= 101);
}

#[test]
fn a_name_that_cannot_be_written_is_refused() {
    let mut config = shipped("hwcache").unwrap();
    config.files[0].file_name = "a\nLogFile=TRUE".to_owned();
    assert!(write(&config).unwrap_err().to_string().contains("line break"));
}

/// Sets every value of a configuration from numbers; those that must keep an order are put into it.
fn configuration(numbers: &[u64], names: &[String], flags: u64) -> Configuration {
    let files = (0..)
        .zip(names)
        .map(|(n, name)| DataFile { number: 3 * n, file_name: name.clone(), ..DataFile::default() })
        .collect();
    let mut config = Configuration { files, ..Configuration::default() };
    let mut numbers = numbers.iter().cycle();
    let mut flags = (0..64).map(|n| flags >> n & 1 == 1).cycle();
    for section in config.sections() {
        for key in config.keys(section) {
            let (least, most) = key.range;
            let wide = u64::try_from(most.saturating_sub(least)).unwrap();
            let mut drawn = || i64::try_from(numbers.next().unwrap() % wide.max(1)).unwrap();
            match key.value {
                Value::Flag(flag) => *flag = flags.next().unwrap(),
                Value::Number(number) => *number = least + drawn(),
                Value::Maybe(number) => {
                    *number = flags.next().unwrap().then(|| least + drawn());
                }
                Value::Text(_) | Value::MaybeText(_) => {}
            }
        }
    }
    let order = |a: &mut i64, b: &mut i64| (*a, *b) = ((*a).min(*b), (*a).max(*b));
    let Configuration { random, audit, read_ahead, bulk, shrink, files, .. } = &mut config;
    order(&mut random.chain_pages_min, &mut random.chain_pages_max);
    order(&mut random.cpu_cycles_min, &mut random.cpu_cycles_max);
    order(&mut read_ahead.pages_min, &mut read_ahead.pages_max);
    order(&mut bulk.pages_min, &mut bulk.pages_max);
    order(&mut shrink.interval_s_min, &mut shrink.interval_s_max);
    order(&mut shrink.extends_min, &mut shrink.extends_max);
    random.log_bytes_min = 1 << (random.log_bytes_min % 10);
    random.log_bytes_max = (random.log_bytes_max / 512 + 1).min(125) * 512;
    // One CPU has room for 923 of all kinds.
    for users in [&mut random.user_count, &mut bulk.user_count, &mut audit.user_count] {
        *users %= 200;
    }
    read_ahead.user_count %= 200;
    for file in files {
        file.log_file = true;
        file.max_size_mb = file.max_size_mb.map(|most| most.max(file.initial_size_mb));
    }
    config
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(
        numbers in prop::collection::vec(any::<u64>(), 20..60),
        names in prop::collection::btree_set("[^\\p{Cc}]{1,12}", 0..5),
        error_file in prop::option::of("[^\\p{Cc}]{0,12}"),
        flags: u64
    ) {
        let names: Vec<String> = names.into_iter().collect();
        let mut config = configuration(&numbers, &names, flags);
        config.general.error_file = error_file;
        prop_assert_eq!(config.violations(), []);
        let reading = reads(&write(&config).unwrap());
        prop_assert_eq!(reading.config, config);
        prop_assert_eq!(reading.notes, Vec::<String>::new());
    }

    #[test]
    fn no_text_panics(text in "(\\[?(config|file[0-9]{1,11}|RandomUser|[a-z]{0,3})\\]?[\r\n\
        ]{1,2}|;?[A-Za-z]{0,20}=.{0,10}\n\
        |.{0,9}){0,20}") {
        let _ = read("x", &text);
    }

    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = read("x", &decode(&bytes));
    }

    #[test]
    fn values_of_every_key_do_not_panic(value in "-?[0-9]{0,22}|.{0,6}", which in 0usize..64) {
        let mut config = Configuration { files: vec![DataFile::default()],
            ..Configuration::default() };
        let sections = config.sections();
        let names: Vec<(String, &str)> = sections
            .into_iter()
            .flat_map(|s: Section| {
                let title = config.name_of(s);
                config.keys(s).into_iter().map(|k| (title.clone(), k.name)).collect::<Vec<_>>()
            })
            .collect();
        let (section, key) = &names[which % names.len()];
        let _ = read("x", &format!("[{section}]\n{key}={value}\n"));
    }
}
