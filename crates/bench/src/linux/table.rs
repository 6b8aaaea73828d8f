//! Figures with their limits, as text and as Markdown.

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub what: String,
    /// What iosonde reached, as text.
    pub ours: String,
    /// The peer's figure, where there is one.
    pub peer: String,
    /// The value to compare with the limit: the figure or its ratio to the peer's.
    pub reached: f64,
    /// The limit; `None` for a figure that is only shown.
    pub limit: Option<Limit>,
}

/// What a figure has to keep.
#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    /// The value must be at least this.
    Least(f64),
    /// The value must be at most this.
    Most(f64),
}

impl Row {
    /// A figure of iosonde without a peer.
    pub(super) fn own(what: &str, reached: f64, unit: &str, most: f64) -> Self {
        let ours = format!("{} {unit}", digits(reached));
        let (what, peer) = (what.to_owned(), String::new());
        Self {
            what,
            ours: ours.trim_end().to_owned(),
            peer,
            reached,
            limit: Some(Limit::Most(most)),
        }
    }

    /// A figure of iosonde and of fio; their ratio is held against the limit.
    pub(super) fn ratio(
        what: String,
        ours: f64,
        peer: f64,
        unit: &str,
        limit: Option<Limit>,
    ) -> Self {
        let show = |value| format!("{} {unit}", digits(value));
        let reached = ours / peer;
        Self { what, ours: show(ours), peer: show(peer), reached, limit }
    }

    /// Whether it is within its limit.
    pub(super) fn holds(&self) -> bool {
        match self.limit {
            None => true,
            Some(Limit::Least(least)) => self.reached >= least,
            Some(Limit::Most(most)) => self.reached <= most,
        }
    }

    fn cells(&self) -> [String; 6] {
        let reached = if self.peer.is_empty() { digits(self.reached) } else { times(self.reached) };
        let show = |limit| if self.peer.is_empty() { digits(limit) } else { times(limit) };
        let limit = match self.limit {
            None => String::new(),
            Some(Limit::Least(least)) => format!("≥ {}", show(least)),
            Some(Limit::Most(most)) => format!("≤ {}", show(most)),
        };
        let verdict = match self.limit {
            None => "",
            Some(_) if self.holds() => "holds",
            Some(_) => "BROKEN",
        };
        let (what, ours, peer) = (self.what.clone(), self.ours.clone(), self.peer.clone());
        [what, ours, peer, reached, limit, verdict.to_owned()]
    }
}

const HEAD: [&str; 6] = ["figure", "iosonde", "fio", "reached", "limit", ""];

/// The table as text, in columns.
pub(super) fn text(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let lines = lines(rows);
    let width =
        |column: usize| lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let mut text = String::new();
    for cells in &lines {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = padded.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

pub(super) fn markdown(rows: &[Row]) -> String {
    let mut lines = lines(rows).into_iter().map(|cells| format!("| {} |\n", cells.join(" | ")));
    let head = lines.next().unwrap_or_default();
    let rule = format!("|{}\n", "---|".repeat(HEAD.len()));
    head + &rule + &lines.collect::<String>()
}

fn lines(rows: &[Row]) -> Vec<[String; 6]> {
    let head = HEAD.map(str::to_owned);
    std::iter::once(head).chain(rows.iter().map(Row::cells)).collect()
}

fn times(ratio: f64) -> String {
    format!("{ratio:.2} x")
}

/// A number with three or four digits that matter.
fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        small if small < 1.0 => format!("{value:.3}"),
        few if few < 100.0 && few.fract() > 0.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_held_against_its_limit() {
        let row = |ours, limit| Row::ratio("IOPS".to_owned(), ours, 100.0, "k", Some(limit));
        assert!(row(150.0, Limit::Least(1.5)).holds());
        assert!(!row(149.0, Limit::Least(1.5)).holds());
        assert!(row(65.0, Limit::Most(0.65)).holds());
        assert!(!row(f64::NAN, Limit::Most(0.65)).holds(), "what was not measured does not hold");
    }

    #[test]
    fn the_table_is_markdown_and_text() {
        let rows = [Row::own("system calls per I/O", 0.031, "", 0.15)];
        let markdown = markdown(&rows);
        assert!(
            markdown.contains("| system calls per I/O | 0.031 |  | 0.031 | ≤ 0.150 | holds |"),
            "{markdown}"
        );
        assert_eq!(text(&rows).lines().count(), 2);
    }
}
