//! Batch files as they circulate.

use super::*;
use proptest::prelude::*;

fn steps(text: &str) -> Vec<Step> {
    read(text).unwrap().steps
}

fn read(text: &str) -> Result<Script, Complaints> {
    script(text, &|name| (name == "SIZE").then(|| "64".to_owned()))
}

fn call(arguments: &str) -> Action {
    Action::Call(arguments.split(' ').map(str::to_owned).collect())
}

fn into(file: &str, append: bool) -> Output {
    Output { file: Some(file.to_owned()), append }
}

#[test]
fn a_batch_of_calls_is_a_list_of_steps() {
    let text = "\u{feff}@echo off\r\n:: random first\r\nREM sqlio -kW would be here\r\n\
        SET target=E:\\TestFile.dat\r\n\
        echo ComputerName: %COMPUTERNAME% > out.txt\r\n\
        sqlio -kW -s600 -frandom -o32 -b8 -LS -Fparam.txt >> out.txt\r\n\
        timeout /T 60 /NOBREAK > nul\r\n\
        \"C:\\Program Files\\SQLIO\\sqlio.exe\" -kR -b%size% ^\r\n  -LS %target% 1>>\"my \
        results.txt\" 2>&1\r\n\
        call sqlio.exe -kR\r\n\
        ping -n 31 127.0.0.1 >nul\r\necho.\r\nexit /b 0\r\nformat c:\r\n";
    let nul = Some(Output { file: None, append: false });
    let expected = [
        (5, Action::Echo("ComputerName: %COMPUTERNAME%".to_owned()), Some(into("out.txt", false))),
        (6, call("-kW -s600 -frandom -o32 -b8 -LS -Fparam.txt"), Some(into("out.txt", true))),
        (7, Action::Pause(60), nul.clone()),
        (8, call(r"-kR -b64 -LS E:\TestFile.dat"), Some(into("my results.txt", true))),
        (10, call("-kR"), None),
        (11, Action::Pause(30), nul),
        (12, Action::Echo(String::new()), None),
    ];
    let found =
        script(text, &|name| name.eq_ignore_ascii_case("size").then(|| "64".to_owned())).unwrap();
    let found: Vec<_> = found.steps.into_iter().map(|s| (s.line, s.action, s.output)).collect();
    assert_eq!(found, expected);
}

#[test]
fn typographic_dashes_and_empty_names_stay_for_the_command_line() {
    assert_eq!(steps("sqlio \u{2013}kW")[0].action, call("\u{2013}kW"));
    assert_eq!(steps("echo 100%% of it")[0].action, Action::Echo("100% of it".to_owned()));
    assert_eq!(steps("echo a ^> b")[0].action, Action::Echo("a > b".to_owned()));
    assert_eq!(steps("sqlio -kR 2> errors.txt > out.txt")[0].output, Some(into("out.txt", false)));
    assert_eq!(read("sqlio -kR 2> errors.txt").unwrap().notes.len(), 1);
    assert_eq!(steps("cls\ntitle x & y\ngoto :eof\nnonsense"), []);
}

#[test]
fn what_is_not_understood_is_named_with_its_line_and_refuses_all() {
    let text = "sqlio -kR\ndel /q *.*\nfor %%i in (1 2) do sqlio -b%%i\nsqlio -kR & shutdown \
        /s\nsqlio -kR | more\n\
        sqlio %1\nset /a x=1\nset y\necho %NOWHERE%\ncall other.bat\npause\ngoto \
        again\nsqlio \"x\ntimeout soon\nsqlio >\nif exist x sqlio";
    let Complaints(wrong) = read(text).unwrap_err();
    let places: Vec<&str> = wrong.iter().map(|w| w.split(':').next().unwrap()).collect();
    let columns = [1, 1, 11, 11, 7, 1, 1, 6, 1, 1, 1, 7, 9, 7, 1];
    let expected: Vec<String> =
        (2..=16).zip(columns).map(|(n, column)| format!("line {n}, column {column}")).collect();
    assert_eq!(places, expected, "{wrong:#?}");
}

/// Of what stands in the value of a variable, the place of its name is told; of a line that goes
/// on, that of its part.
#[test]
fn places_are_those_of_the_file() {
    for (text, place) in [
        ("\u{feff}  @sqlio é -kR | x", "line 1, column 16"),
        ("set a=-kR | -b8\nsqlio %a% x", "line 2, column 7"),
        ("set a=-b8\nsqlio %a% -kR ^\n  -LS & x", "line 3, column 7"),
        ("echo 100%% | x", "line 1, column 12"),
        ("timeout /t x", "line 1, column 12"),
    ] {
        let Complaints(wrong) = read(text).unwrap_err();
        assert!(wrong.len() == 1 && wrong[0].starts_with(place), "{text}: {wrong:?}");
    }
    let found = steps("@echo off\n  sqlio -kR\n@call sqlio -kW");
    assert_eq!(found.iter().map(|s| (s.line, s.column)).collect::<Vec<_>>(), [(2, 3), (3, 2)]);
}

#[test]
fn a_small_file_does_not_grow_to_gigabytes_over_its_lines() {
    // 50 KB of text, each line of which would be 40 KB long.
    let doubled = "set a=%a%%a%\n".repeat(12);
    let Complaints(wrong) =
        read(&format!("set a=0123456789\n{doubled}{}", "echo %a%\n".repeat(5000))).unwrap_err();
    let [rule] = wrong.as_slice() else { panic!("{}", wrong.len()) };
    assert!(rule.starts_with("line 4") && rule.contains("more than 16 MiB"), "{rule}");
    // Lines that say little take their place, too, and so does what is wrong with them.
    for line in ["sqlio\n", "del x\n"] {
        let Complaints(wrong) = read(&line.repeat(200_000)).unwrap_err();
        assert!(wrong.len() < 70_000 && wrong.last().unwrap().ends_with("split the file"));
    }
    assert_eq!(steps(&"sqlio -frandom -b8 >> results.txt\n".repeat(10_000)).len(), 10_000);
}

proptest! {
    #[test]
    fn nothing_panics(text in "(.{0,30}\n\
        ?){0,6}", words in "(sqlio |echo |set |call |timeout |[%^\"&>|<= \n\
        @:a-c0-9]){0,40}") {
        let _ = (read(&text), read(&words));
    }

    #[test]
    fn variables_do_not_grow_without_end(times in 1usize..40) {
        let text = format!("set a=xxxxxxxxxx\n{}echo %a%\n", "set a=%a%%a%%a%%a%\n".repeat(times));
        let found = read(&text);
        prop_assert!(found.is_err() || times < 8, "{times}");
    }
}
