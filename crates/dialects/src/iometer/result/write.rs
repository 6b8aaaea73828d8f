//! Writes a result file as IOMeter 1.1.0 does: 80 columns.

use std::fmt::Write;

use super::super::config::{AccessSpec, Assignment};
use super::{Column, End, Number, ResultFile, ResultRow, ResultRun, RowKind, Session};

impl ResultFile {
    /// The whole text of the file.
    #[must_use]
    pub fn to_csv(&self) -> String {
        self.sessions.iter().map(Session::to_csv).collect()
    }
}

impl Session {
    /// The part of the file about this session.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = self.head();
        for run in &self.runs {
            out.push_str(&run.to_csv());
        }
        out.push_str(self.end.line());
        out
    }

    /// The part before the first run.
    #[must_use]
    pub fn head(&self) -> String {
        let test_type = self.test_type.map(|t| t.to_string()).unwrap_or_default();
        let version = self.version.map_or_else(|| "1.1.0".to_owned(), |v| v.to_string());
        format!(
            "'Test Type,Test Description\n{test_type},{}\n'Version\n{version}\n'Time Stamp\n{}\n",
            plain(&self.description),
            plain(&self.started)
        )
    }
}

impl End {
    /// The last line of a session, for a file that grows run by run.
    #[must_use]
    pub fn line(self) -> &'static str {
        match self {
            Self::Unsaid => "",
            Self::Whole => "'End Test\n",
            Self::Aborted => "Aborted test\n",
        }
    }
}

impl ResultRun {
    /// The part of the file about this run.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        if let Some(specs) = &self.specs {
            out.push_str("'Access specifications\n");
            for spec in specs {
                put_spec(&mut out, spec);
            }
            out.push_str("'End access specifications\n");
        }
        out.push_str("'Results\n");
        if self.is_instantaneous {
            out.push_str("TimeStamp,");
        }
        out.push_str("'Target Type,Target Name,Access Specification Name");
        for column in Column::ALL {
            out.push(',');
            out.push_str(column.title());
        }
        out.push('\n');
        for row in &self.rows {
            put_row(&mut out, row, self.is_instantaneous);
        }
        // Writing to a string does not fail.
        let _ = write!(out, "'Time Stamp\n{}\n", plain(&self.ended));
        out
    }
}

fn put_spec(out: &mut String, spec: &AccessSpec) {
    let assignment = Assignment::ALL.iter().position(|a| *a == spec.assignment).unwrap_or(0);
    let _ = write!(
        out,
        "'Access specification name,default assignment\n{},{assignment}\n\
         'size,% of size,% reads,% random,delay,burst,align,reply\n",
        name(&spec.name)
    );
    for row in &spec.rows {
        let _ = writeln!(out, "{},", row.fields());
    }
}

fn put_row(out: &mut String, row: &ResultRow, is_instantaneous: bool) {
    if is_instantaneous {
        let _ = write!(out, "{},", name(row.stamp.as_deref().unwrap_or_default()));
    }
    let _ = write!(out, "{},{},{}", row.kind.word(), name(&row.name), name(&row.spec));
    // IOMeter ends these before the latency bins.
    let columns = if row.kind == RowKind::Processor {
        Column::ALL.len() - Column::BINS.len()
    } else {
        Column::ALL.len()
    };
    for column in Column::ALL.iter().take(columns) {
        let _ = match row.cells.get(column) {
            None => write!(out, ","),
            Some(Number::Whole(n)) => write!(out, ",{n}"),
            Some(Number::Figure(n)) => write!(out, ",{n:.6}"),
        };
    }
    out.push('\n');
}

/// The text without line breaks and other control characters.
fn plain(text: &str) -> String {
    let blank = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(blank).collect::<String>().trim().to_owned()
}

/// In one field: a comma is a blank, as IOMeter writes names of disks.
fn name(text: &str) -> String {
    plain(&text.replace(',', " "))
}
