//! `iosonde specs`: standard loads by name, which `--spec` takes.

use clap::Args;
use workload::MixPart;
use workload::specs::{SPECS, Spec, spec, unknown};
use workload::sweep::{PRESETS, preset};

use crate::exit::{Failure, Outcome, print};

/// `iosonde specs`
#[derive(Debug, Args)]
pub(crate) struct SpecsArgs {
    /// Only these; all without any
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
}

/// Lists access specifications.
pub(crate) fn specs(args: &SpecsArgs) -> Result<Outcome, Failure> {
    let all = || SPECS.iter().collect();
    let listed = if args.names.is_empty() { all() } else { known(&args.names)? };
    let (mut text, mut source) = (String::new(), "");
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
        let wrong = || match preset(name) {
            Some(_) => Failure::WrongUsage(format!(
                "`{name}` is several loads, and a sweep: `iosonde sweep --preset {name}`"
            )),
            None => Failure::WrongUsage(format!("`{name}`: {}", unknown(name))),
        };
        spec(name).ok_or_else(wrong)
    };
    names.iter().map(found).collect()
}

/// A line for the name, which has the only row of a plain one, and one for each row of a mix.
fn rows(spec: &Spec) -> String {
    let name = spec.name;
    match spec.parts {
        [one] => format!("  {name:<41} {}\n", row(one)),
        many => {
            let row = |part: &MixPart| format!("    {:>3} %  {}\n", part.percent, row(part));
            format!("  {name}\n{}", many.iter().map(row).collect::<String>())
        }
    }
}

/// None of them has pauses, bursts or replies.
fn row(part: &MixPart) -> String {
    let (read, random) = (100 - part.write_percent.min(100), part.random_percent);
    let aligned = match part.align_bytes.0 {
        0 => String::new(),
        _ => format!(", aligned to {}", part.align_bytes),
    };
    format!("{:>7}, {read:>3} % read, {random:>3} % random{aligned}", part.block_bytes.to_string())
}
