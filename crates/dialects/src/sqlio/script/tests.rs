//! Batch files and PowerShell scripts as they circulate.

use super::*;
use proptest::prelude::*;

fn size(name: &str) -> Option<String> {
    name.eq_ignore_ascii_case("size").then(|| "64".to_owned())
}

fn read(text: &str) -> Result<Script, Complaints> {
    script(text, &Around::variables(&size))
}

fn steps(text: &str) -> Vec<Step> {
    read(text).unwrap().steps
}

fn notes(text: &str) -> Vec<String> {
    read(text).unwrap().notes
}

/// The arguments of every call in a script.
fn calls(text: &str) -> Vec<String> {
    let of = |step: Step| match step.action {
        Action::Call(arguments) => Some(arguments.join(" ")),
        _ => None,
    };
    steps(text).into_iter().filter_map(of).collect()
}

fn call(arguments: &str) -> Action {
    Action::Call(arguments.split(' ').map(str::to_owned).collect())
}

fn into(file: &str, append: bool) -> Output {
    Output { file: Some(file.to_owned()), append }
}

fn wrong(text: &str) -> String {
    read(text).unwrap_err().0.join("\n")
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
    let found = read(text).unwrap();
    assert_eq!(found.notes, [""; 0]);
    let found: Vec<_> = found.steps.into_iter().map(|s| (s.line, s.action, s.output)).collect();
    assert_eq!(found, expected);
}

#[test]
fn typographic_dashes_and_empty_names_stay_for_the_command_line() {
    assert_eq!(steps("sqlio \u{2013}kW")[0].action, call("\u{2013}kW"));
    assert_eq!(steps("echo 100%% of it")[0].action, Action::Echo("100% of it".to_owned()));
    assert_eq!(steps("echo a ^> b")[0].action, Action::Echo("a > b".to_owned()));
    assert_eq!(steps("sqlio -kR 2> errors.txt > out.txt")[0].output, Some(into("out.txt", false)));
    assert_eq!(notes("sqlio -kR 2> errors.txt").len(), 1);
    assert_eq!(steps("cls\ntitle x\ngoto :eof\nsqlio -kR"), []);
}

/// 320 tests: two kinds, two orders, eight depths and ten sizes in one batch, with the file and the
/// length after its name. It was refused for its `%1`.
#[test]
fn parameters_and_loops_in_loops_make_320_tests() {
    let text = "@echo off\r\nset results=%1_results.txt\r\nif \"%2\"==\"\" goto usage\r\n\
        for %%k in (R W) do (\r\n  for %%f in (random sequential) do (\r\n\
        \x20   for %%o in (1 2 4 8 16 32 64 128) do (\r\n\
        \x20     for %%b in (1 2 4 8 16 32 64 128 256 1024) do (\r\n\
        \x20       sqlio -k%%k -s%2 -f%%f -o%%o -b%%b -LS -BN %~3 >> %results%\r\n\
        \x20       timeout /t 5\r\n      )\r\n    )\r\n  )\r\n)\r\ngoto :eof\r\n\
        :usage\r\necho name seconds file\r\n";
    let arguments = ["san1".to_owned(), "60".to_owned(), "\"E:\\my file.dat\"".to_owned()];
    let around = Around { arguments: &arguments, ..Around::variables(&|_| None) };
    let found = script(text, &around).unwrap();
    assert_eq!((found.steps.len(), found.notes.len()), (640, 0));
    let first = &found.steps[0];
    assert_eq!(first.action, call(r"-kR -s60 -frandom -o1 -b1 -LS -BN E:\my file.dat"));
    assert_eq!((first.line, first.output.clone()), (8, Some(into("san1_results.txt", true))));
    assert_eq!(
        found.steps[638].action,
        call(r"-kW -s60 -fsequential -o128 -b1024 -LS -BN E:\my file.dat")
    );
    // Without its words, the batch says its usage.
    let found = script(text, &Around::variables(&|_| None)).unwrap();
    assert_eq!(found.steps[0].action, Action::Echo("name seconds file".to_owned()));
    assert!(wrong("sqlio -s%1 x.dat").contains("`%1` is word 1 after the name of the batch file"));
}

/// `goto`, counters and labels, as batches of before `for` had.
#[test]
fn jumps_and_counters_are_followed() {
    let text = "set /a o=1\n:again\nsqlio -o%o% x.dat\nset /a o*=2\nif %o% LEQ 16 goto again\n\
        call :run 8 random\ncall :run 64 sequential\necho done\nexit /b\n\
        :run\nsqlio -b%1 -f%2 x.dat\ngoto :eof\n";
    assert_eq!(
        calls(text),
        [
            "-o1 x.dat",
            "-o2 x.dat",
            "-o4 x.dat",
            "-o8 x.dat",
            "-o16 x.dat",
            "-b8 -frandom x.dat",
            "-b64 -fsequential x.dat"
        ]
    );
    assert_eq!(notes(text), [""; 0]);
    assert_eq!(calls("for /L %%i in (8,-4,0) do sqlio -b%%i"), ["-b8", "-b4", "-b0"]);
    let late = "setlocal enabledelayedexpansion\nset n=0\nfor %%i in (1 2) do (\n set /a n+=%%i\n \
                sqlio -b!n! -o%n%\n)\n";
    assert_eq!(calls(late), ["-b1 -o0", "-b3 -o0"]);
    assert_eq!(calls("set f=C:\\a.dat\nsqlio %f:~-5% %f:a=b%"), ["a.dat C:\\b.dbt"]);
}

#[test]
fn conditions_are_asked() {
    let exists = |name: &str| name == "there.dat";
    let around = Around { exists: &exists, ..Around::variables(&size) };
    let text = "if exist there.dat sqlio -b1\nif not exist there.dat sqlio -b2\n\
        if exist \"no.dat\" (sqlio -b3) else (sqlio -b4)\nif errorlevel 1 sqlio -b5\n\
        if %ERRORLEVEL% NEQ 0 goto end\nif defined size sqlio -b6\nif not defined other sqlio -b7\n\
        if /i \"%size%x\"==\"64X\" (\n sqlio -b8\n) else if 1==1 (\n sqlio -b9\n)\n\
        if 10 GTR 9 sqlio -b10\n:end\n";
    let text = format!("set ERRORLEVEL=0\n{text}");
    let found = script(&text, &around).unwrap();
    let blocks: Vec<&str> = found
        .steps
        .iter()
        .filter_map(|s| match &s.action {
            Action::Call(arguments) => Some(arguments[0].as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(blocks, ["-b1", "-b4", "-b6", "-b7", "-b8", "-b10"]);
    assert!(found.notes.iter().all(|n| n.contains("answered as it is before")), "{found:?}");
}

/// Whatever has no meaning here is skipped, with one note each, and the rest is done.
#[test]
fn what_has_no_meaning_is_skipped_with_a_note() {
    let text = "sqlio -kR\ndel /q *.*\nsqlio -kR & shutdown /s\nsqlio -kR | more\nset y\n\
        call other.bat\npause\ncd /d E:\\\nE:\ntimeout soon\nset /p x=Name?\nset /a x=1<<2\n\
        for /F %%i in (list.txt) do sqlio -b%%i\nfor %%i in (*.dat) do sqlio %%i\n\
        powershell -File x.ps1\ngoto nowhere\nsqlio -kW\n";
    let found = read(text).unwrap();
    let lines: Vec<usize> =
        found.notes.iter().map(|n| n.split([' ', ',']).nth(1).unwrap().parse().unwrap()).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16], "{:#?}", found.notes);
    assert_eq!(found.steps.len(), 3);
    assert!(found.notes[0].starts_with("line 2, column 1: `del` is skipped"));
    assert!(found.notes[1].starts_with("line 3, column 13: `shutdown` is skipped"));
    // In a loop, too, each has one.
    assert_eq!(notes("for /L %%i in (1,1,100) do (\ncolor 0a\nwhatever\n)").len(), 1);
    assert_eq!(calls("start \"\" /wait sqlio -b8\ncmd /c sqlio -b16"), ["-b8", "-b16"]);
    assert_eq!(calls("false || sqlio -b1\nrem x & sqlio -b2\nver && sqlio -b3"), ["-b3"]);
}

/// What a call would be given is not made up.
#[test]
fn a_call_without_the_value_of_a_variable_is_refused() {
    for text in ["sqlio -b%NOWHERE%", "sqlio x.dat >> %NOWHERE%", "set a=%NOWHERE%\nsqlio -b%a%"] {
        assert!(wrong(text).contains("is set nowhere"), "{text}");
    }
    let many = wrong("for /L %%i in (1,1,50) do sqlio -b%NOWHERE%");
    assert_eq!(many.lines().count(), 1, "{many}");
    assert!(many.starts_with("line 1, column 27: `%NOWHERE%` is set nowhere"), "{many}");
    // Where nothing is called with it, it is empty, as in a shell.
    assert_eq!(steps("echo [%NOWHERE%]")[0].action, Action::Echo("[]".to_owned()));
    assert_eq!(calls("%SQLIOHOME%\\sqlio.exe -b8"), ["-b8"]);
    assert_eq!(calls("sqlio -b100% x"), ["-b100 x"]);
}

/// A batch that runs until the user stops it is refused instead of filling the memory.
#[test]
fn a_batch_that_does_not_end_is_refused() {
    for text in [
        ":again\nsqlio -kR x.dat\ngoto again",
        ":a\ngoto a",
        ":a\ncall :a",
        "for /L %%i in (1,0,2) do echo x",
        "for /L %%i in (1,1,9999999) do sqlio",
        ":a\nset /a n+=1\nif %n% GEQ 0 goto a",
    ] {
        let why = wrong(text);
        assert!(why.contains("end"), "{text}: {why}");
        assert_eq!(why.lines().count(), 1, "{why}");
    }
}

/// An error in the value of a variable has the place of the variable's name; in a line that
/// continues, the place of that part.
#[test]
fn places_are_those_of_the_file() {
    for (text, place) in [
        ("\u{feff}  @sqlio é -kR | x", "line 1, column 4"),
        ("set a=x & y\n%a% x", "line 1, column 11"),
        ("(\n  sqlio -kR\n  x &  y\n)", "line 3, column 3"),
        ("sqlio -b8 ^\n  -LS & x", "line 2, column 9"),
    ] {
        let found = notes(text);
        assert!(found[0].starts_with(place), "{text}: {found:?}");
    }
    let found = steps("@echo off\n  sqlio -kR\n@call sqlio -kW");
    assert_eq!(found.iter().map(|s| (s.line, s.column)).collect::<Vec<_>>(), [(2, 3), (3, 2)]);
}

/// The output of a block goes into its file, which is begun once.
#[test]
fn a_block_has_one_output() {
    let found = steps("for %%i in (1 2) do (\nsqlio -b%%i\necho x > y.txt\n) > out.txt");
    let outputs: Vec<Option<Output>> = found.into_iter().map(|s| s.output).collect();
    let y = Some(into("y.txt", false));
    let first = Some(into("out.txt", false));
    assert_eq!(outputs[..2], [first.clone(), y.clone()]);
    let found = steps("(\nsqlio -b1\nsqlio -b2\n) > out.txt");
    let outputs: Vec<Option<Output>> = found.into_iter().map(|s| s.output).collect();
    assert_eq!(outputs, [first, Some(into("out.txt", true))]);
}

#[test]
fn a_small_file_does_not_grow_to_gigabytes_over_its_lines() {
    // 50 KB of text, each line of which would be 40 KB long.
    let doubled = "set a=%a%%a%\n".repeat(12);
    let text = format!("set a=0123456789\n{doubled}{}", "echo %a%\n".repeat(5000));
    assert!(wrong(&text).contains("more than 16 MiB"), "{}", wrong(&text));
    // Lines that say little take their place, too.
    assert!(wrong(&"sqlio\n".repeat(200_000)).ends_with("split the file"));
    assert!(wrong(&"(\n".repeat(200_000)).contains("too long"));
    assert_eq!(steps(&"sqlio -frandom -b8 >> results.txt\n".repeat(10_000)).len(), 10_000);
}

fn power(text: &str) -> Result<Script, Complaints> {
    power_script(text, &Around::variables(&size))
}

/// `$Seconds = 10*60` stands in the documents' own script, and was not understood.
#[test]
fn power_shell_computes() {
    let text = "$Seconds = 10*60\n$half = ($Seconds / 2)\nforeach ($n in 1, 2*2) {\n\
                .\\sqlio.exe -s$Seconds -o$n \"-t$($n*2)\" x.dat\n}\nsqlio -s$half x.dat\n";
    assert_eq!(power_calls(text), ["-s600 -o1 -t2 x.dat", "-s600 -o4 -t8 x.dat", "-s300 x.dat"]);
    for text in ["$s = 10/4", "$s = $t*2", "$s = 10*", "$s = 9223372036854775807*2"] {
        assert!(power(text).is_err(), "{text}");
    }
}

fn power_calls(text: &str) -> Vec<String> {
    let of = |step: Step| match step.action {
        Action::Call(arguments) => Some(arguments.join(" ")),
        _ => None,
    };
    power(text).unwrap().steps.into_iter().filter_map(of).collect()
}

#[test]
fn a_powershell_script_of_literals_is_a_list_of_steps() {
    let text = "# all of it\r\n<# two\r\nlines #>\r\n$drive = 'E'; $file = \"${drive}:\\t.dat\"\r\n\
        $sizes = 8, 64\r\n\
        foreach ($kind in @('R', 'W')) {\r\n\
        \x20 foreach ($o in 1..2) { # depth\r\n\
        \x20   $sizes | ForEach-Object {\r\n\
        \x20     & .\\sqlio.exe -k$kind -o$($o) \"-b$_\" -frandom `\r\n\
        \x20       -LS $file | Out-File -Append results.txt\r\n\
        \x20     Start-Sleep -Seconds 5\r\n    }\r\n  }\r\n}\r\n\
        for ($i = 1; $i -le 8; $i *= 2) { sqlio -o$i $file >> out.txt }\r\n\
        Write-Host \"size $env:SIZE\"\r\n";
    let found = power(text).unwrap();
    assert_eq!(found.steps.len(), 2 * 8 + 4 + 1);
    let first = &found.steps[0];
    assert_eq!(first.action, call(r"-kR -o1 -b8 -frandom -LS E:\t.dat"));
    assert_eq!(first.output, Some(into("results.txt", true)));
    assert_eq!((first.line, found.steps[1].action.clone()), (9, Action::Pause(5)));
    assert_eq!(found.steps[16].action, call(r"-o1 E:\t.dat"));
    assert_eq!(found.steps[19].action, call(r"-o8 E:\t.dat"));
    assert_eq!(found.steps[20].action, Action::Echo("size 64".to_owned()));
    assert_eq!(power_calls("sqlio -kR x.dat > $null\n").len(), 1);
}

#[test]
fn other_powershell_is_refused_in_one_sentence() {
    for text in [
        "$x = Get-WmiObject Win32_Volume",
        "foreach ($d in Get-Volume) { sqlio $d }",
        "while ($true) { sqlio }",
        "sqlio -b$nowhere",
        "function f { sqlio }",
        "if ($a) { sqlio }",
        "for ($i = 1; $i -le 8; $i += 0) { sqlio }",
        "for ($i = 1; $i -lt 99999999; $i++) { sqlio }",
        "sqlio -kR | Select-String IOs",
        "$a = 1..99999999",
        "sqlio -kR {",
        "}",
    ] {
        let Complaints(wrong) = power(text).unwrap_err();
        assert_eq!(wrong.len(), 1, "{text}");
        assert!(wrong[0].starts_with("line 1, column "), "{text}: {wrong:?}");
    }
    let Complaints(wrong) = power("sqlio -b8\n  sqlio -b$nowhere").unwrap_err();
    assert!(wrong[0].starts_with("line 2, column 3: `sqlio -b$nowhere` is not understood"));
}

proptest! {
    #[test]
    fn nothing_panics(text in "(.{0,30}\n\
        ?){0,6}", words in "(sqlio |echo |set |set /a |call |call :a |goto a|timeout |for |/L |\
        %%i in \\(|\\) do |if |not |exist |else |[%^\"&>|<=()~:, !+\n@:a-c0-9]){0,40}") {
        let _ = (read(&text), read(&words));
        let late = format!("setlocal enabledelayedexpansion\n{words}");
        let _ = read(&late);
    }

    #[test]
    fn no_powershell_panics(text in "(.{0,30}\n\
        ?){0,6}", words in "(sqlio |foreach \\(|\\$i in |1\\.\\.3|for \\(|; |\\$i = |Write-Host |\
        Out-File |[$(){}\"'`|>#<@,; \n a-c0-9]){0,40}") {
        let _ = (power(&text), power(&words));
    }

    #[test]
    fn variables_do_not_grow_without_end(times in 1usize..40) {
        let text = format!("set a=xxxxxxxxxx\n{}echo %a%\n", "set a=%a%%a%%a%%a%\n".repeat(times));
        let found = read(&text);
        prop_assert!(found.is_err() || times < 8, "{times}");
    }

    /// Whatever a batch does, it has no more steps than the limit.
    #[test]
    fn a_batch_has_no_more_steps_than_commands(loops in prop::collection::vec(1u32..60, 1..4)) {
        let mut text = "sqlio -kR".to_owned();
        for (n, count) in loops.iter().enumerate() {
            let variable = char::from(b'a' + u8::try_from(n).unwrap());
            text = format!("for /L %%{variable} in (1,1,{count}) do ({text})");
        }
        let expected: u32 = loops.iter().product();
        match read(&text) {
            Ok(found) => prop_assert_eq!(found.steps.len(), expected as usize),
            Err(_) => prop_assert!(expected > COMMANDS_MAX / 4),
        }
    }
}
