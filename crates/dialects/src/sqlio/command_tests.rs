//! Command lines as people have them.

use super::*;
use proptest::prelude::*;

fn run(line: &str) -> (Command, Vec<String>) {
    match parse(&line.split_whitespace().collect::<Vec<_>>()) {
        Ok(Invocation::Run(command, notes)) => (*command, notes),
        other => panic!("{line}: {other:?}"),
    }
}

fn complaints(line: &str) -> Vec<String> {
    match parse(&line.split_whitespace().collect::<Vec<_>>()) {
        Err(Complaints(wrong)) => wrong,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn nothing_is_the_default() {
    let (command, notes) = run("");
    assert_eq!((command, notes.len()), (Command::default(), 0));
}

#[test]
fn the_line_of_a_well_known_article_is_read_with_its_dashes() {
    let line = "\u{2013}kW \u{2013}b8 \u{2212}frandom -s120 -t2 -o8 -BH -LS F:\\testfile.dat";
    let (command, notes) = run(line);
    let expected = Command {
        writes: true,
        block_kib: 8,
        order: Walk::Random,
        seconds: 120,
        threads: Some(2),
        outstanding: 8,
        buffering: Buffering::Hardware,
        latency: Some(Timing { processor: false, initiation: false }),
        files: vec![r"F:\testfile.dat".to_owned()],
        ..Command::default()
    };
    assert_eq!(command, expected);
    assert_eq!(notes, ["dashes of a word processor were read as `-`"]);
}

#[test]
fn every_option_is_read() {
    let (command, notes) = run("-kR -t4 -s7 -f16 -i8 -b64 -mS16 -BS -S100 -LPi -Up -aR0xF \
                                -v1.1.1 -D4 a.dat -64 b.dat -R1,E:");
    assert_eq!((command.threads, command.seconds, command.order), (Some(4), 7, Walk::Columns(16)));
    assert_eq!((command.run_ios, command.block_kib, command.base_blocks), (8, 64, 100));
    assert_eq!(command.buffers, Some((BufferKind::Scattered, 16)));
    assert_eq!(
        (command.buffering, command.same_column, command.debug),
        (Buffering::Software, true, 4)
    );
    assert_eq!(command.latency, Some(Timing { processor: true, initiation: true }));
    assert_eq!(command.cpu, Some(CpuUse { each: true }));
    assert_eq!(command.affinity, Affinity { mask: 15, in_turn: true, ideal: false });
    assert_eq!(command.files, ["a.dat", "b.dat", "1:", "E:"]);
    for word in ["-64", "-LP", "-L…i", "-U"] {
        assert!(notes.iter().any(|n| n.contains(&format!("`{word}`"))), "{word}: {notes:?}");
    }
}

#[test]
fn drives_are_put_in_front_of_one_file() {
    assert_eq!(run(r"-dDEF \test").0.files, [r"D:\test", r"E:\test", r"F:\test"]);
    assert_eq!(
        run("-kR -t1 -s30 -dE -o32 -frandom -b8 -BH -LS testfile.dat").0.files,
        ["E:testfile.dat"]
    );
    assert_eq!(run("-dE").0.files, ["E:testfile.dat"]);
    assert!(complaints("-dDE a b")[0].contains("several: `a`, `b`"));
    assert!(complaints(r"-dDE F:\b")[0].contains("has a drive"));
    assert!(!complaints("-d1").is_empty());
}

#[test]
fn a_parameter_file_has_the_last_word_on_threads_and_the_only_one_on_files() {
    let (command, notes) = run("-kW -s15 -t2 -frandom -o8 -b8 -LS -Fparam.txt");
    assert_eq!((command.parameter_file.as_deref(), command.files.len()), (Some("param.txt"), 0));
    assert!(notes[0].contains("`-t2` has no effect"), "{notes:?}");
    let wrong = complaints("-Fparam.txt -p0 -dEF -R1 x.dat");
    assert_eq!(wrong.len(), 4, "{wrong:?}");
}

/// A batch of 192 tests has `-dI` next to `-Fparam.txt` in each call; all of it was refused.
#[test]
fn one_drive_goes_with_a_parameter_file() {
    let (command, notes) = run("-kW -t2 -s120 -dI -o1 -frandom -b64 -BH -LS -Fparam.txt");
    assert_eq!((command.drive, command.files.len()), (Some('I'), 0));
    assert!(notes.iter().any(|n| n.starts_with("`-dI` is put in front of those files")));
    assert_eq!(run("-dI x.dat").0.drive, None);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let wrong = complaints("-kX -t0 -s1.5 -fzigzag -b -o-1 -mS3 -BQ -LX -Ux -p64 -azz -v2 -Q -");
    assert_eq!(wrong.len(), 16, "{wrong:#?}");
    for (option, complaint) in ["-kX", "-t0", "-s1.5", "-fzigzag", "-b", "-o-1"].iter().zip(&wrong)
    {
        assert!(complaint.starts_with(&format!("`{option}`: ")), "{complaint}");
    }
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    assert!(complaints("-mC2 -o8")[0].contains("do not go together"));
    assert!(complaints("-p0 -a1")[0].contains("do not go together"));
    assert!(complaints("-mS2 -b4")[0].contains("`-b8`"));
    assert!(complaints("-mC3 -b2")[0].contains("cannot be cut"));
    assert!(complaints("-f1 -t2")[0].contains("`-f2` or more"));
    assert!(run("-f1 -t1").1.is_empty() && run("-frandom -t2").1.is_empty());
}

#[test]
fn what_has_no_effect_is_said() {
    assert!(run("-frandom -i8").1[0].contains("`-i8` has no effect"));
    assert!(run("-pI1").1[0].contains("left to the system"));
    assert!(run("-s1 -s2").1[0].contains("the last counts"));
    assert!(run("-D50").1[0].contains("hidden levels"));
    assert_eq!(run("-t1000 -f1000").1, [""; 0], "more threads than SQLIO had are no fault");
}

#[test]
fn help_is_usage() {
    assert_eq!(parse(&["-kR", "-?"]), Ok(Invocation::Usage));
}

proptest! {
    #[test]
    fn nothing_panics(arguments: Vec<String>,
        options in prop::collection::vec("-[a-zA-Z]{0,2}[0-9xXSPRI,]{0,12}", 0..6)) {
        let _ = (parse(&arguments), parse(&options));
    }
}
