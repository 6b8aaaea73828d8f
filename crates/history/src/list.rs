//! Finding results: lists, filters, and the one that a selector names.

use results::{Conclusion as _, Load, Status};
use serde::{Serialize, Serializer};

use crate::connection::Connection;
use crate::error::HistoryError;
use crate::load;
use crate::value::{FromValue, Mismatch, Row, Value, values};

/// A list says exactly how many there are up to this.
const COUNTED: u64 = 10_000;
/// Measurements of a load that are looked up one by one.
const RARE: u64 = 5_000;
/// How many candidates an ambiguous name shows.
const CANDIDATES: u64 = 6;

/// A result as a list shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Unique name, by which a command selects the result.
    pub id: String,
    /// Schema name of the result document.
    pub schema: String,
    /// The command that measured, for example `run`.
    pub kind: String,
    /// What was measured, in a phrase.
    pub title: String,
    /// When it started: UTC, RFC 3339.
    pub started: String,
    /// End, UTC, RFC 3339; none while it runs and after a crash.
    pub finished: Option<String>,
    /// How it ended; none while it runs and after a crash.
    #[serde(serialize_with = "state")]
    pub status: Option<Status>,
    /// Version of the program that measured.
    pub tool_version: Option<String>,
    /// The machine; absent for a simulated device.
    pub host: Option<String>,
    /// What received the I/O; several are joined by `, `.
    pub targets: String,
    /// Model of the disk under the first target, else its name.
    pub device: Option<String>,
    /// The backend of the first measurement.
    pub engine: Option<String>,
    /// Bytes of all targets that I/O could use.
    pub file_bytes: Option<u64>,
    /// How many measurements are stored so far.
    pub measurements: u32,
    /// The most I/Os a second of any measurement.
    pub best_iops: Option<f64>,
    /// The most MiB (2^20 bytes) a second of any measurement.
    pub best_mib_per_s: Option<f64>,
    /// I/Os in flight of the measurement with the most I/Os a second; only lists have this.
    pub best_in_flight: Option<u32>,
    /// Mean latency of that measurement, in nanoseconds.
    pub best_mean_ns: Option<f64>,
    /// The 99th percentile of its latency.
    pub best_p99_ns: Option<u64>,
    /// The tags of the result, sorted.
    pub tags: Vec<String>,
    /// How many notes there are on it.
    pub notes: u32,
    /// Name of the plan; empty without one.
    #[serde(skip)]
    pub plan_id: String,
    /// The plan as JSON text.
    #[serde(skip)]
    pub plan: String,
}

impl Entry {
    /// How it ended, in a word.
    #[must_use]
    pub fn state(&self) -> &'static str {
        self.status.map_or("unfinished", Status::word)
    }
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn state<S: Serializer>(status: &Option<Status>, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(status.map_or("unfinished", Status::word))
}

/// Whether a result is finished, and how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It ended, with this status.
    Ended(Status),
    /// It runs, or was lost in a crash.
    Unfinished,
}

/// Which results are meant; nothing set means all of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Words that all occur in its title, targets, host, device, kind, id, tags or notes; case does
    /// not matter.
    pub text: Option<String>,
    /// Results of this command, one of [`results::kind_words`].
    pub kind: Option<String>,
    /// Results of the machine with exactly this name.
    pub host: Option<String>,
    /// A target, exactly as it was named.
    pub target: Option<String>,
    /// Results with exactly this tag.
    pub tag: Option<String>,
    /// Results that ended this way, or have not ended.
    pub status: Option<State>,
    /// Begun at this moment or later: the beginning of an RFC 3339 date in UTC.
    pub since: Option<String>,
    /// Results that began before this moment.
    pub until: Option<String>,
    /// The word of a [`workload::PatternKind`], of any measurement.
    pub pattern: Option<String>,
    /// Size of an I/O, in any measurement.
    pub block_bytes: Option<u64>,
    /// Share of I/Os that write, percent, in any measurement.
    pub write_percent: Option<u32>,
    /// Name of the conditions of any measurement.
    pub conditions_id: Option<String>,
    /// The one result with exactly this id.
    pub experiment_id: Option<String>,
}

/// What a list is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// The time at which it began.
    #[default]
    Started,
    /// The command that measured, alphabetically.
    Kind,
    /// The name of the machine.
    Host,
    /// The names of the targets, alphabetically.
    Target,
    /// The title of the result, alphabetically.
    Title,
    /// Whether it ended, and how.
    Status,
    /// Bytes of the targets that I/O could use.
    FileBytes,
    /// The most I/Os per second of any measurement.
    Iops,
    /// The most MiB per second of any measurement.
    MibPerS,
}

/// The order of a list; the default is the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Order {
    /// The column whose values are compared.
    pub by: By,
    /// Whether values rise instead of falling.
    pub rising: bool,
}

impl Order {
    /// The newest result first.
    pub const NEWEST: Self = Self { by: By::Started, rising: false };
    /// The oldest result first.
    pub const OLDEST: Self = Self { by: By::Started, rising: true };
}

/// The part of a list to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// How many entries come before it.
    pub offset: u64,
    /// At most so many entries are shown.
    pub limit: u64,
}

impl Page {
    /// The whole list at once, however long it is.
    pub const ALL: Self = Self { offset: 0, limit: i64::MAX as u64 };
}

impl Default for Page {
    /// The first 50 entries.
    fn default() -> Self {
        Self { offset: 0, limit: 50 }
    }
}

/// A part of a list, and how long the whole is.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The entries of this part, in the order of the list.
    pub entries: Vec<Entry>,
    /// How many there are in all.
    pub total: u64,
    /// Whether there are more than `total`, which were not counted.
    pub more: bool,
}

/// A condition that is made while its parameters are counted.
#[derive(Debug, Clone, Default)]
struct Where {
    parts: Vec<String>,
    values: Vec<Value>,
}

impl Where {
    /// Adds a condition, in which `?` is the value.
    fn add(&mut self, condition: &str, value: impl Into<Value>) {
        self.values.push(value.into());
        self.parts.push(condition.replace('?', &format!("${}", self.values.len())));
    }

    fn sql(&self) -> String {
        if self.parts.is_empty() {
            return String::new();
        }
        format!(" WHERE {}", self.parts.join(" AND "))
    }

    /// The place of one more value.
    fn next(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("${}", self.values.len())
    }
}

/// The conditions that a filter has on the table `experiments`, named `e`.
fn on_experiments(filter: &Filter) -> Where {
    let mut to = Where::default();
    for (condition, value) in [
        ("e.id = ?", &filter.experiment_id),
        ("e.kind = ?", &filter.kind),
        ("e.host = ?", &filter.host),
        ("e.started >= ?", &filter.since),
        ("e.started < ?", &filter.until),
        ("e.number IN (SELECT t.experiment FROM tags t WHERE t.tag = ?)", &filter.tag),
    ] {
        if let Some(value) = value {
            to.add(condition, value);
        }
    }
    match filter.status {
        Some(State::Ended(status)) => to.add("e.status = ?", status.word()),
        Some(State::Unfinished) => to.parts.push("e.status IS NULL".to_owned()),
        None => {}
    }
    if let Some(target) = &filter.target {
        to.add(&on_target("e.targets"), inside(target));
    }
    for word in filter.text.iter().flat_map(|text| text.split_whitespace()) {
        to.add(
            "(e.words LIKE ? ESCAPE '\\' OR e.number IN (SELECT n.experiment FROM notes n WHERE \
             lower(n.note) LIKE ? ESCAPE '\\') OR e.number IN (SELECT g.experiment FROM tags g \
             WHERE lower(g.tag) LIKE ? ESCAPE '\\'))",
            format!("%{}%", like(&word.to_lowercase())),
        );
    }
    to
}

/// How the measurements of a load are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lookup {
    /// By the indexes of the load.
    ByLoad,
    /// Among results that other conditions have found. A value that is computed from a column uses
    /// no index: SQLite would take the one of the load for each experiment, and read all of it.
    Among,
}

/// The conditions that a filter has on the table `measurements`, named `m`.
fn add_load(to: &mut Where, filter: &Filter, way: Lookup) {
    let text = |column: &str| match way {
        Lookup::ByLoad => format!("{column} = ?"),
        Lookup::Among => format!("({column} || '') = ?"),
    };
    let number = |column: &str| match way {
        Lookup::ByLoad => format!("{column} = ?"),
        Lookup::Among => format!("({column} + 0) = ?"),
    };
    if let Some(pattern) = &filter.pattern {
        to.add(&text("m.pattern"), pattern);
    }
    if let Some(percent) = filter.write_percent {
        to.add(&number("m.write_percent"), percent);
    }
    if let Some(bytes) = filter.block_bytes {
        to.add(&number("m.block_bytes"), bytes);
    }
    if let Some(id) = &filter.conditions_id {
        to.add(&text("m.conditions_id"), id);
    }
}

/// The condition that a target is one of those that are joined in a column.
fn on_target(column: &str) -> String {
    format!("', ' || {column} || ', ' LIKE ? ESCAPE '\\'")
}

fn inside(target: &str) -> String {
    format!("%, {}, %", like(target))
}

/// A text to be found as it is by LIKE.
fn like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

/// Every condition of a filter, on experiments.
fn conditions(connection: &Connection, filter: &Filter) -> Result<Where, HistoryError> {
    let rare = is_rare(connection, filter)?;
    let mut to = on_experiments(filter);
    let before = to.parts.len();
    add_load(&mut to, filter, if rare { Lookup::ByLoad } else { Lookup::Among });
    let load = to.parts.split_off(before).join(" AND ");
    if !load.is_empty() {
        // Two ways to the same: from the few measurements to their experiments, or along the list,
        // which soon has enough.
        to.parts.push(if rare {
            format!("e.number IN (SELECT m.experiment FROM measurements m WHERE {load})")
        } else {
            format!(
                "EXISTS (SELECT 1 FROM measurements m WHERE m.experiment = e.number AND {load})"
            )
        });
    }
    Ok(to)
}

/// Whether few measurements are of the load that a filter names.
fn is_rare(connection: &Connection, filter: &Filter) -> Result<bool, HistoryError> {
    let mut to = Where::default();
    add_load(&mut to, filter, Lookup::ByLoad);
    if to.parts.is_empty() {
        return Ok(false);
    }
    let condition = to.sql();
    let most = to.next(RARE);
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM measurements m{condition} LIMIT {most}) counted"
    );
    Ok(one::<u64>(connection, &sql, &to.values)? < RARE)
}

fn order(order: Order) -> String {
    let way = if order.rising { "ASC" } else { "DESC" };
    let column = match order.by {
        By::Started => return format!("e.started {way}, e.id {way}"),
        By::Kind => "e.kind",
        By::Host => "e.host",
        By::Target => "e.targets",
        By::Title => "e.title",
        By::Status => "e.status",
        By::FileBytes => "e.file_bytes",
        By::Iops => "e.best_iops",
        By::MibPerS => "e.best_mib_per_s",
    };
    // Unknown values come last in either order.
    format!("{column} {way} NULLS LAST, e.started DESC, e.id DESC")
}

const ENTRY: &str = "SELECT e.number, e.id, e.schema, e.kind, e.title, e.started, e.finished, \
                     e.status, e.tool_version, e.host, e.targets, e.device, e.engine, \
                     e.file_bytes, e.measurements, e.best_iops, e.best_mib_per_s, (SELECT \
                     count(*) FROM notes n WHERE n.experiment = e.number), e.plan_id, d.plan FROM \
                     experiments e JOIN documents d ON d.experiment = e.number";

fn entry(row: &mut Row) -> Result<(i64, Entry), Mismatch> {
    let number = row.take()?;
    let entry = Entry {
        id: row.take()?,
        schema: row.take()?,
        kind: row.take()?,
        title: row.take()?,
        started: row.take()?,
        finished: row.take()?,
        status: row.take::<Option<String>>()?.as_deref().and_then(Status::of_word),
        tool_version: row.take()?,
        host: row.take()?,
        targets: row.take()?,
        device: row.take()?,
        engine: row.take()?,
        file_bytes: row.take()?,
        measurements: row.take()?,
        best_iops: row.take()?,
        best_mib_per_s: row.take()?,
        notes: row.take()?,
        plan_id: row.take()?,
        plan: row.take()?,
        best_in_flight: None,
        best_mean_ns: None,
        best_p99_ns: None,
        tags: Vec::new(),
    };
    Ok((number, entry))
}

/// The results that fit a filter.
pub(crate) fn list(
    connection: &Connection,
    filter: &Filter,
    sorted: Order,
    page: Page,
) -> Result<Listing, HistoryError> {
    let mut to = conditions(connection, filter)?;
    let mut entries = entries(connection, to.clone(), sorted, page)?;
    for entry in &mut entries {
        add_best(connection, entry)?;
    }
    let seen = page.offset.saturating_add(entries.len() as u64);
    if (entries.len() as u64) < page.limit && (page.offset == 0 || !entries.is_empty()) {
        // The list ends here.
        return Ok(Listing { entries, total: seen, more: false });
    }
    let condition = to.sql();
    if to.parts.is_empty() {
        let total = one(connection, "SELECT count(*) FROM experiments", &[])?;
        return Ok(Listing { entries, total, more: false });
    }
    let most = to.next(COUNTED + 1);
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM experiments e{condition} LIMIT {most}) counted"
    );
    let count: u64 = one(connection, &sql, &to.values)?;
    let more = count > COUNTED;
    Ok(Listing { entries, total: if more { COUNTED.max(seen) } else { count }, more })
}

/// Adds depth and latency of the best measurement; of a load on many hosts, those of all. No
/// percentile of theirs follows from those of the hosts.
fn add_best(connection: &Connection, entry: &mut Entry) -> Result<(), HistoryError> {
    if entry.best_iops.is_none() {
        return Ok(());
    }
    if entry.schema == results::Fleet::SCHEMA {
        let sql = "SELECT CAST(SUM(m.in_flight) AS BIGINT), \
                   SUM(m.latency_mean_ns * m.iops) / NULLIF(SUM(m.iops), 0) FROM measurements m \
                   JOIN experiments e ON e.number = m.experiment WHERE e.id = $1";
        let all =
            connection.query_one(sql, values![&entry.id], |row| Ok((row.take()?, row.take()?)))?;
        (entry.best_in_flight, entry.best_mean_ns) = all.unwrap_or_default();
        return Ok(());
    }
    let sql = "SELECT m.in_flight, m.latency_mean_ns, m.latency_p99_ns FROM measurements m \
               JOIN experiments e ON e.number = m.experiment WHERE e.id = $1 \
               ORDER BY m.iops DESC NULLS LAST, m.cell LIMIT 1";
    let best = connection
        .query_one(sql, values![&entry.id], |row| Ok((row.take()?, row.take()?, row.take()?)))?;
    if let Some((in_flight, mean, p99)) = best {
        (entry.best_in_flight, entry.best_mean_ns, entry.best_p99_ns) = (in_flight, mean, p99);
    }
    Ok(())
}

/// The one value that a statement gives.
fn one<T: FromValue + Default>(
    connection: &Connection,
    sql: &str,
    values: &[Value],
) -> Result<T, HistoryError> {
    Ok(connection.query_one(sql, values, Row::take)?.unwrap_or_default())
}

fn entries(
    connection: &Connection,
    mut to: Where,
    sorted: Order,
    page: Page,
) -> Result<Vec<Entry>, HistoryError> {
    let condition = to.sql();
    let (limit, offset) = (to.next(page.limit), to.next(page.offset));
    // The page is found in the narrow table first.
    let sql = format!(
        "{ENTRY} WHERE e.number IN (SELECT e.number FROM experiments e{condition} ORDER BY {by} \
         LIMIT {limit} OFFSET {offset}) ORDER BY {by}",
        by = order(sorted)
    );
    let mut rows = connection.query(&sql, &to.values, entry)?;
    let sql = "SELECT tag FROM tags WHERE experiment = $1 ORDER BY tag";
    for (number, entry) in &mut rows {
        entry.tags = connection.query(sql, values![*number], Row::take)?;
    }
    Ok(rows.into_iter().map(|(_, entry)| entry).collect())
}

/// When results began and their ids, the oldest first: those that fit a filter and come after
/// `last`.
pub(crate) fn following(
    connection: &Connection,
    filter: &Filter,
    last: Option<&(String, String)>,
    limit: u64,
) -> Result<Vec<(String, String)>, HistoryError> {
    let mut to = conditions(connection, filter)?;
    if let Some((started, id)) = last {
        let (started, id) = (to.next(started), to.next(id));
        to.parts.push(format!("(e.started, e.id) > ({started}, {id})"));
    }
    let condition = to.sql();
    let limit = to.next(limit);
    let sql = format!(
        "SELECT e.started, e.id FROM experiments e{condition} ORDER BY e.started, e.id LIMIT \
         {limit}"
    );
    connection.query(&sql, &to.values, |row| Ok((row.take()?, row.take()?)))
}

/// The one result that is meant: by its id, by the beginning of its id, or `latest`.
pub(crate) fn find(connection: &Connection, selector: &str) -> Result<Entry, HistoryError> {
    let not_found = || HistoryError::NotFound {
        selector: selector.to_owned(),
        place: connection.place().clone(),
    };
    if selector.is_empty() {
        return Err(not_found());
    }
    if selector == "latest" {
        let page = Page { offset: 0, limit: 1 };
        let newest = entries(connection, Where::default(), Order::NEWEST, page)?;
        return newest.into_iter().next().ok_or_else(not_found);
    }
    if let Some(entry) = by_id(connection, selector)? {
        return Ok(entry);
    }
    let sql = "SELECT id FROM experiments WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT $3";
    let end = format!("{selector}\u{10FFFF}");
    let mut found =
        connection.query(sql, values![selector, end, CANDIDATES], Row::take::<String>)?;
    if found.len() > 1 {
        return Err(HistoryError::Ambiguous { selector: selector.to_owned(), candidates: found });
    }
    let id = found.pop().ok_or_else(not_found)?;
    by_id(connection, &id)?.ok_or_else(not_found)
}

fn by_id(connection: &Connection, id: &str) -> Result<Option<Entry>, HistoryError> {
    let mut exact = Where::default();
    exact.add("e.id = ?", id);
    Ok(entries(connection, exact, Order::NEWEST, Page::ALL)?.into_iter().next())
}

/// The results that are meant: the one that [`find`] finds, or all with a tag, the oldest first.
pub(crate) fn select(connection: &Connection, selector: &str) -> Result<Vec<Entry>, HistoryError> {
    let Some(tag) = selector.strip_prefix('@') else {
        return find(connection, selector).map(|entry| vec![entry]);
    };
    let filter = Filter { tag: Some(tag.to_owned()), ..Filter::default() };
    let found = entries(connection, conditions(connection, &filter)?, Order::OLDEST, Page::ALL)?;
    if found.is_empty() {
        let place = connection.place().clone();
        return Err(HistoryError::NotFound { selector: selector.to_owned(), place });
    }
    Ok(found)
}

/// The measurements that fit a filter.
pub(crate) fn loads(
    connection: &Connection,
    filter: &Filter,
    sorted: Order,
    page: Page,
) -> Result<Vec<Load>, HistoryError> {
    // A measurement has host and target itself: the order of its own index is kept while others are
    // left out.
    let (host, target) = (filter.host.as_ref(), filter.target.as_ref());
    let others = Filter { host: None, target: None, ..filter.clone() };
    let mut to = on_experiments(&others);
    if let Some(host) = host {
        to.add("m.host = ?", host);
    }
    if let Some(target) = target {
        to.add(&on_target("m.target"), inside(target));
    }
    add_load(&mut to, filter, Lookup::ByLoad);
    let condition = to.sql();
    let (limit, offset) = (to.next(page.limit), to.next(page.offset));
    let sql = format!(
        "SELECT {} FROM measurements m JOIN experiments e ON e.number = m.experiment{condition} \
         ORDER BY {} LIMIT {limit} OFFSET {offset}",
        *load::SELECTED,
        load_order(sorted)
    );
    connection.query(&sql, &to.values, load::read)
}

fn load_order(order: Order) -> String {
    let way = if order.rising { "ASC" } else { "DESC" };
    let column = match order.by {
        By::Started => return format!("m.started {way}, m.number {way}"),
        By::Kind => "e.kind",
        By::Host => "m.host",
        By::Target => "m.target",
        By::Title => "m.load",
        By::Status => "m.status",
        By::FileBytes => "m.file_bytes",
        By::Iops => "m.iops",
        By::MibPerS => "m.mib_per_s",
    };
    format!("{column} {way} NULLS LAST, m.started DESC, m.number DESC")
}
