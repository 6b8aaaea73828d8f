//! LibreOffice opens the workbook, and finds its sheets, figures and charts.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use report::xlsx;
use testing::skip;
use zip::ZipArchive;

use crate::handmade;

/// Where the program may be called so.
const PROGRAMS: [&str; 2] = ["soffice", "libreoffice"];

/// How often LibreOffice may try: that it dies once on a busy machine says nothing of the workbook.
const STARTS: usize = 3;

/// Converts a file with LibreOffice, which keeps its settings in the directory of the file; `None`
/// if there is none.
fn converted(file: &Path, to: &str) -> Option<PathBuf> {
    let directory = file.parent().unwrap();
    let program = PROGRAMS.into_iter().find(|program| {
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .any(|directory| directory.join(program).is_file())
    })?;
    let made = file.with_extension(to.split(':').next().unwrap());
    let mut failures = Vec::new();
    for start in 0..STARTS {
        let home = directory.join(format!("home-{start}"));
        std::fs::create_dir(&home).unwrap();
        let profile = format!("-env:UserInstallation=file://{}/profile", home.display());
        let output = Command::new(program)
            .args([&profile, "--headless", "--convert-to", to, "--outdir"])
            .args([directory, file])
            .env("HOME", &home)
            .env_remove("DISPLAY")
            .output()
            .unwrap();
        if output.status.success() && made.is_file() {
            return Some(made);
        }
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        failures.push(format!("{}: {}", output.status, said.join(" ")));
    }
    panic!("{program} made no {to}: {failures:#?}");
}

/// A part of an office file.
fn part(archive: &mut ZipArchive<Cursor<Vec<u8>>>, name: &str) -> String {
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn libreoffice_opens_it_with_its_charts_and_figures() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("report.xlsx");
    std::fs::write(&file, xlsx::workbook(&handmade::report(2)).unwrap()).unwrap();
    let Some(ods) = converted(&file, "ods") else {
        return skip("report::libreoffice", "LibreOffice is not installed (libreoffice-calc)");
    };
    let mut archive = ZipArchive::new(Cursor::new(std::fs::read(ods).unwrap())).unwrap();
    let charts: Vec<String> = archive
        .file_names()
        .map(|name| name.unwrap().into_owned())
        .filter(|name| name.starts_with("Object") && name.ends_with("/content.xml"))
        .collect();
    assert_eq!(charts.len(), 2 * 7, "every chart of both results: {charts:?}");
    let mut series = 0;
    for chart in &charts {
        series += part(&mut archive, chart).matches("<chart:series ").count();
    }
    // Three and two marks, three and one, one and one, one, one, two, one; all of it twice.
    assert_eq!(series, 2 * 16);

    let content = part(&mut archive, "content.xml");
    for sheet in
        ["1 Report", "2 Charts", "3 Loads", "4 Charts", "5 Loads", "Chart data", "Chart data 2"]
    {
        assert!(content.contains(&format!("table:name=\"{sheet}\"")), "a sheet {sheet}");
    }
    // 412,345 ns in the table are 412.345 µs; 42.5 % are a percentage; what begins with = is a
    // text.
    assert!(content.contains("office:value=\"412.345\""));
    assert!(content.contains("office:value-type=\"percentage\" office:value=\"0.425\""));
    assert!(content.contains("office:date-value=\"2025-11-24T"));
    assert!(content.contains("=cmd|"));
    assert!(!content.contains("table:formula"), "nothing is a formula");
    assert!(part(&mut archive, "meta.xml").contains("Storage of db01"));
}

#[test]
fn libreoffice_prints_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("report.xlsx");
    std::fs::write(&file, xlsx::workbook(&handmade::report(1)).unwrap()).unwrap();
    let Some(pdf) = converted(&file, "pdf") else {
        return skip("report::libreoffice-pdf", "LibreOffice is not installed (libreoffice-calc)");
    };
    let pdf = std::fs::read(pdf).unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    let pages = pdf.windows(12).filter(|w| *w == b"/Type/Page/P" || *w == b"/Type /Page ").count();
    assert!(pages >= 4, "{pages} pages");
}
