//! A plan as a TOML file: read over another plan, and written.
//!
//! The keys are those that serde gives the plan, so a field that the plan gets is a key of the file
//! at once. Each value of a file is set into the plan alone, which tells where the value is that
//! does not fit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

use serde_json::{Map, Number, Value};
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::plan::Plan;

/// How long users work, next to the fields of the plan.
const SECONDS: &str = "seconds";
/// The longest that users may work, in seconds.
const SECONDS_MAX: f64 = 31.0 * 86_400.0;
/// Values that are nested deeper are refused.
const DEPTH_MAX: usize = 8;

/// The plan that a file describes.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanFile {
    /// The plan, with the file's fields.
    pub plan: Plan,
    /// How long users work, where the file says so.
    pub time: Option<Duration>,
    /// The keys that the file has, such as `random.users`, and the line of each, from 1.
    pub lines: BTreeMap<String, usize>,
}

impl PlanFile {
    /// The line that says what a field of the plan is, where one does. A field that is two keys,
    /// `resizing.pause`, is in the first of them.
    #[must_use]
    pub fn line_of(&self, field: &str) -> Option<usize> {
        let exact = self.lines.get(field).copied();
        let begins = |(key, line): (&String, &usize)| key.starts_with(field).then_some(*line);
        let within = || self.lines.iter().find_map(begins);
        // A table that is written in one line is one value.
        let around = || self.lines.get(field.rsplit_once('.')?.0).copied();
        exact.or_else(within).or_else(around)
    }
}

/// Why a text is not a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {what}")]
pub struct PlanFileError {
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The character in it, from 1.
    pub column: usize,
    /// What is wrong in that line.
    pub what: String,
}

/// Reads a plan from TOML. What the text does not say is as in `base`.
///
/// # Errors
/// The first place that is not TOML, a key that there is not, or a value that does not fit its key.
pub fn read_plan(text: &str, base: &Plan) -> Result<PlanFile, PlanFileError> {
    let at = |span: Range<usize>, what: String| {
        let (line, column) = place(text, span.start);
        PlanFileError { line, column, what }
    };
    let table = DeTable::parse(text)
        .map_err(|error| at(error.span().unwrap_or_default(), error.message().to_owned()))?;
    let whole = serde_json::to_value(base).map_err(|error| at(0..0, error.to_string()))?;
    let mut reader = Reader { whole, plan: base.clone(), time: None, starts: Vec::new() };
    reader.table(table.get_ref(), &mut Vec::new()).map_err(|(span, what)| at(span, what))?;
    let lines = reader.starts.into_iter().map(|(key, start)| (key, place(text, start).0)).collect();
    Ok(PlanFile { plan: reader.plan, time: reader.time, lines })
}

/// The line of a byte and the character in that line, both from 1.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    let column = before.get(line_start..).map_or(1, |part| part.chars().count() + 1);
    (before.matches('\n').count() + 1, column)
}

type Wrong = (Range<usize>, String);

/// A plan that values are set in, one after the other.
struct Reader {
    whole: Value,
    plan: Plan,
    time: Option<Duration>,
    /// The keys that were set, and the byte at which each value begins.
    starts: Vec<(String, usize)>,
}

impl Reader {
    fn table(&mut self, table: &DeTable<'_>, path: &mut Vec<String>) -> Result<(), Wrong> {
        let mut entries: Vec<_> = table.iter().collect();
        // Errors are in the order of the file.
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let name = key.get_ref().to_string();
            if path.is_empty() && name == SECONDS {
                self.time = Some(seconds(value)?);
                continue;
            }
            let known = pointer(&mut self.whole, path).and_then(|value| value.as_object());
            let Some(there) = known.and_then(|object| object.get(&name)) else {
                let known = known.map(|object| object.keys().cloned().collect::<Vec<_>>());
                let mut known = known.unwrap_or_default();
                known.extend(path.is_empty().then(|| SECONDS.to_owned()));
                let what = format!("there is no key `{name}` here, but {}", known.join(", "));
                return Err((key.span(), what));
            };
            let is_table = there.is_object();
            path.push(name);
            match value.get_ref() {
                DeValue::Table(inner) if is_table => self.table(inner, path)?,
                _ if is_table => {
                    let what = format!("`{}` is a table of keys", path.join("."));
                    return Err((value.span(), what));
                }
                _ => self.set(path, value)?,
            }
            path.pop();
        }
        Ok(())
    }

    fn set(&mut self, path: &[String], value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
        let mut trial = self.whole.clone();
        let new = json(value, 0)?;
        let Some(place) = pointer(&mut trial, path) else { return Ok(()) };
        *place = new;
        self.plan = serde_json::from_value(trial.clone())
            .map_err(|error| (value.span(), format!("`{}`: {error}", path.join("."))))?;
        self.whole = trial;
        self.note(&path.join("."), value);
        Ok(())
    }
}

impl Reader {
    /// Notes where a value begins, and where those in it do.
    fn note(&mut self, name: &str, value: &Spanned<DeValue<'_>>) {
        self.starts.push((name.to_owned(), value.span().start));
        if let DeValue::Table(table) = value.get_ref() {
            for (key, value) in table {
                self.note(&format!("{name}.{}", key.get_ref()), value);
            }
        }
    }
}

/// The place in a JSON value that keys lead to.
fn pointer<'a>(whole: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(whole, |value, key| value.as_object_mut()?.get_mut(key))
}

fn seconds(value: &Spanned<DeValue<'_>>) -> Result<Duration, Wrong> {
    let number = json(value, 0)?.as_f64().filter(|s| (0.0..=SECONDS_MAX).contains(s));
    let time = number.and_then(|s| Duration::try_from_secs_f64(s).ok());
    let what = "`seconds` is a number from 0 to 2678400, which are 31 days";
    time.ok_or_else(|| (value.span(), what.to_owned()))
}

/// Turns a TOML value into JSON.
fn json(value: &Spanned<DeValue<'_>>, depth: usize) -> Result<Value, Wrong> {
    let wrong = |what: &str| (value.span(), what.to_owned());
    if depth > DEPTH_MAX {
        return Err(wrong("too many values in values"));
    }
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(is) => Value::Bool(*is),
        DeValue::Integer(number) => {
            let (text, radix) = (number.as_str(), number.radix());
            let signed = || i64::from_str_radix(text, radix).map(Number::from);
            let number = u64::from_str_radix(text, radix).map(Number::from).or_else(|_| signed());
            Value::Number(number.map_err(|_| wrong("the number is too large"))?)
        }
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok().and_then(Number::from_f64);
            Value::Number(number.ok_or_else(|| wrong("this number cannot be used"))?)
        }
        DeValue::Datetime(_) => return Err(wrong("no key is a date")),
        DeValue::Array(values) => {
            let values = values.iter().map(|value| json(value, depth + 1));
            Value::Array(values.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => {
            let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                let key: &std::borrow::Cow<'_, str> = key.get_ref();
                Ok((key.to_string(), json(value, depth + 1)?))
            };
            Value::Object(table.iter().map(entry).collect::<Result<Map<_, _>, Wrong>>()?)
        }
    })
}

/// The plan as TOML that [`read_plan`] reads, with every value written out.
#[must_use]
pub fn plan_text(plan: &Plan, time: Duration) -> String {
    let mut text = format!("{SECONDS} = {}\n", time.as_secs_f64());
    if let Ok(Value::Object(fields)) = serde_json::to_value(plan) {
        table_text(&fields, "", &mut text);
    }
    text
}

fn table_text(fields: &Map<String, Value>, path: &str, text: &mut String) {
    for (name, value) in fields {
        // TOML has no null, and tables come after everything else.
        if !value.is_null() && !value.is_object() {
            // A JSON number, text or list of such is TOML, too; and a string takes everything.
            let _ = writeln!(text, "{name} = {value}");
        }
    }
    for (name, value) in fields {
        if let Value::Object(inner) = value {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let _ = writeln!(text, "\n[{path}]");
            table_text(inner, &path, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::{Hardening, Throttle};

    fn wrong(text: &str) -> (usize, usize, String) {
        let PlanFileError { line, column, what } =
            read_plan(text, &Plan::default()).expect_err(text);
        (line, column, what)
    }

    #[test]
    fn what_a_file_does_not_say_stays() {
        let text = "page_bytes = \"16K\"\nseconds = 2.5\nhardening = \"flush\"\n[random]\nusers = \
            3\nsleep_ns = \"1ms\"\n\
                    [audit]\npages = [1, 2]\n[throttle]\ntarget_ns = 5\nbursts = true\n";
        let read = read_plan(text, &Plan::default()).unwrap();
        let usual = Plan::default();
        let throttle = Some(Throttle { target: Duration::from_nanos(5), bursts: true });
        let expected = Plan {
            page_bytes: 16_384,
            hardening: Hardening::Flush,
            random: crate::RandomUsers {
                users: 3,
                sleep: Duration::from_millis(1),
                ..usual.random
            },
            audit: crate::ScanUsers { pages: (1, 2), ..usual.audit },
            throttle,
            ..usual
        };
        assert_eq!((read.plan, read.time), (expected, Some(Duration::from_millis(2500))));
        assert_eq!(read.lines.get("audit.pages"), Some(&8));
        let empty = read_plan("", &Plan::default()).unwrap();
        let none = BTreeMap::new();
        assert_eq!(empty, PlanFile { plan: Plan::default(), time: None, lines: none });
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let (line, column, what) = wrong("threads = 2\n[random]\nusres = 3\n");
        assert_eq!((line, column), (3, 1), "{what}");
        assert!(what.contains("no key `usres`") && what.contains("users"), "{what}");
        let (line, column, what) = wrong("threads = 2\ndepth = \"deep\"\n");
        assert_eq!((line, column), (2, 9), "{what}");
        assert!(what.contains("depth"), "{what}");
        assert_eq!(wrong("random = 5\n").1, 10);
        assert_eq!(wrong("threads = -1").1, 11);
        assert_eq!(wrong("threads = ").0, 1);
        assert!(wrong("seconds = -1").2.contains("31 days"));
        assert!(wrong("update_percent = 1979-05-27").2.contains("no key"));
        assert!(wrong("cache_hit_percent = nan").2.contains("cannot be used"));
    }

    /// What a separate table lacked was missing, though every key has a usual value.
    #[test]
    fn keys_of_throttle_and_resizing_have_usual_values() {
        let read = |text: &str| read_plan(text, &Plan::default()).unwrap().plan;
        let target = Duration::from_nanos(5);
        let throttle = read("[throttle]\ntarget_ns = 5\n").throttle;
        assert_eq!(throttle, Some(Throttle { target, bursts: false }));
        let resizing = read("[resizing]\nstamp = true\n").resizing;
        assert_eq!(resizing, Some(crate::Resizing { stamp: true, ..Default::default() }));
        assert!(wrong("[throttle]\nbursts = true\n").2.contains("target_ns"));
    }

    /// The message on a value that breaks a rule lacked its line.
    #[test]
    fn a_field_is_found_in_the_file() {
        let text = "seed = 5\n[random]\nusers = 70000\n\n[resizing]\npause_max_ns = 1\n";
        let file = read_plan(text, &Plan::default()).unwrap();
        let lines: Vec<Option<usize>> =
            file.plan.violations().iter().map(|v| file.line_of(v.field)).collect();
        assert_eq!(lines, [Some(3), Some(6)], "{:?}", file.plan.violations());
        assert_eq!(file.line_of("threads"), None);
        let file = read_plan("throttle = { target_ns = 5 }\n", &Plan::default()).unwrap();
        assert_eq!(file.line_of("throttle.bursts"), Some(1));
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic(text in "(\\PC|\n){0,80}") {
            let _ = read_plan(&text, &Plan::default());
        }

        #[test]
        fn texts_that_are_nearly_plans_are_no_panic(
            lines in prop::collection::vec(("(threads|random|\\[random\\]|audit.pages|throttle|seconds|x)", "(=|)", "(5|-1|1e400|\"8K\"|\\[1,2\\]|\\{\\}|nan|true)"), 0..6)
        ) {
            let lines: Vec<String> = lines.into_iter().map(|(a, b, c)| format!("{a} {b} \
                {c}")).collect();
            let _ = read_plan(&lines.join("\n"), &Plan::default());
        }

        #[test]
        fn a_plan_is_read_back_as_it_was_written(
            seed: u64,
            threads in 1_u32..100,
            update_percent in 0.0..100.0_f64,
            sleep_ns in 0_u64..1 << 53,
            pages in (1_u32..100, 1_u32..100),
            throttle in proptest::option::of(any::<u32>()),
            stop_on_fault: bool,
            seconds in 0_u32..1_000_000,
        ) {
            let usual = Plan::default();
            let target = |ns: u32| Throttle { target: Duration::from_nanos(ns.into()),
                bursts: stop_on_fault };
            let plan = Plan {
                seed,
                threads,
                random: crate::RandomUsers { update_percent, sleep: Duration::from_nanos(sleep_ns),
                    ..usual.random },
                bulk: crate::ScanUsers { pages, ..usual.bulk },
                throttle: throttle.map(target),
                stop_on_fault,
                ..usual
            };
            let time = Duration::from_secs(seconds.into());
            let text = plan_text(&plan, time);
            let read = read_plan(&text, &Plan::default());
            let read = read.map(|file| (file.plan, file.time));
            prop_assert_eq!(read, Ok((plan, Some(time))), "{}", text);
        }
    }
}
