//! `iosonde specs`: standard loads by name, which `--spec` takes.

use clap::Args;
use dialects::iometer::AccessSpec;
use jobs::{place_in_file, spec_of_file, specs_of_file};
use workload::specs::{OwnSpec, SPECS, Spec, spec, unknown};
use workload::sweep::{PRESETS, preset};
use workload::{MixPart, Stream};

use crate::exit::{Failure, Outcome, print};

/// `iosonde specs`
#[derive(Debug, Args)]
pub(crate) struct SpecsArgs {
    /// Only these, or those in an .icf file of IOMeter [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
}

/// Lists access specifications.
pub(crate) fn specs(args: &SpecsArgs) -> Result<Outcome, Failure> {
    let all = || SPECS.iter().collect();
    let (files, names): (Vec<String>, Vec<String>) =
        args.names.iter().cloned().partition(|name| place_in_file(name).is_some());
    let listed = if args.names.is_empty() { all() } else { known(&names)? };
    let (mut text, mut source) = (String::new(), "");
    for file in &files {
        text += &rows_of_file(file)?;
    }
    for spec in listed {
        if spec.source != source {
            source = spec.source;
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text += &[source, "\n"].concat();
        }
        text += &rows(spec);
    }
    if args.names.is_empty() {
        let presets: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        text += "\nSeveral loads by one name (`iosonde sweep --preset NAME`)\n";
        text += &report::text::wrap("  ", &presets.join(", "), report::text::WIDTH);
    }
    print(&text)?;
    Ok(Outcome::Done)
}

/// The access specifications of these names.
pub(crate) fn known(names: &[String]) -> Result<Vec<&'static Spec>, Failure> {
    let found = |name: &String| {
        let what = match preset(name) {
            Some(_) => format!("it is several loads, and a sweep: `iosonde sweep --preset {name}`"),
            None => unknown(name),
        };
        let wrong = || Failure::WrongUsage(format!("`{name}`: {what}"));
        spec(name).ok_or_else(wrong)
    };
    names.iter().map(found).collect()
}

/// The access specifications of these names: known ones, and those of files (`FILE.icf:NAME`).
pub(crate) fn split(names: &[String]) -> Result<(Vec<&'static Spec>, Vec<OwnSpec>), Failure> {
    let (of_files, names): (Vec<String>, Vec<String>) =
        names.iter().cloned().partition(|name| place_in_file(name).is_some());
    let own = |name: &String| {
        let spec = spec_of_file(name)?;
        Ok(OwnSpec { name: spec.stream().name, parts: spec.mix().parts })
    };
    Ok((known(&names)?, of_files.iter().map(own).collect::<Result<_, Failure>>()?))
}

/// The streams of specifications by their names, `FILE.icf:NAME` among them.
pub(crate) fn streams(names: &[String]) -> Result<Vec<Stream>, Failure> {
    let stream = |name: &String| match place_in_file(name) {
        Some(_) => Ok(spec_of_file(name)?.stream()),
        None => {
            Ok(known(std::slice::from_ref(name))?.first().map(|s| s.stream()).unwrap_or_default())
        }
    };
    names.iter().map(stream).collect()
}

/// The lines for the specifications of a file, or for the one that is named.
fn rows_of_file(text: &str) -> Result<String, Failure> {
    let Some((path, name)) = place_in_file(text) else { return Ok(String::new()) };
    let specs = if name.is_some() { vec![spec_of_file(text)?] } else { specs_of_file(path)? };
    let lines = |spec: &AccessSpec| lines(&spec.name, &spec.mix().parts);
    Ok(format!("{}\n{}", path.display(), specs.iter().map(lines).collect::<String>()))
}

/// A line for the name, with the only row of a plain specification, and one per row of a mix.
fn rows(spec: &Spec) -> String {
    lines(spec.name, spec.parts)
}

fn lines(name: &str, parts: &[MixPart]) -> String {
    match parts {
        [one] => format!("  {name:<41} {}\n", row(one)),
        many => {
            let row = |part: &MixPart| format!("    {:>3} %  {}\n", part.percent, row(part));
            format!("  {name}\n{}", many.iter().map(row).collect::<String>())
        }
    }
}

/// One row of a mix. What only specifications of files have is shown if it is not the default.
fn row(part: &MixPart) -> String {
    let (read, random) = (100 - part.write_percent.min(100), part.random_percent);
    let aligned = match part.align_bytes.0 {
        0 => String::new(),
        _ => format!(", aligned to {}", part.align_bytes),
    };
    let mut more = String::new();
    if part.delay_ns.0 > 0 {
        more.extend([format!(", {} before each burst", part.delay_ns)]);
    }
    if part.burst_ios > 1 {
        more.extend([format!(", bursts of {}", part.burst_ios)]);
    }
    if part.reply_bytes.0 > 0 {
        more.extend([format!(", replies of {}", part.reply_bytes)]);
    }
    let block = part.block_bytes.to_string();
    format!("{block:>7}, {read:>3} % read, {random:>3} % random{aligned}{more}")
}
