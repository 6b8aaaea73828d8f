//! Errors of a load in the words that were typed: a rule names a field of the workload, and a user
//! who typed a flag has never seen that field.

use workload::Violation;

/// Fields of a stream, and of what holds it, with their flags. Where a command has the plural of a
/// flag, `sweep` does, that is named.
const FIELDS: [(&str, &str); 37] = [
    ("blocks", "--block"),
    ("threads", "--threads"),
    ("depth", "--depth"),
    ("write_percent", "--write"),
    ("random_percent", "--random"),
    ("distribution", "--distribution"),
    ("distribution.theta", "--distribution"),
    ("pattern", "--pattern"),
    ("pattern.stride_bytes", "--stride"),
    ("align_bytes", "--align"),
    ("offset_bytes", "--offset"),
    ("span_bytes", "--span"),
    ("content", "--content"),
    ("content.percent", "--content"),
    ("cpus", "--cpus"),
    ("priority", "--priority"),
    ("priority.level", "--priority"),
    ("durable", "--durable"),
    ("sync", "--sync-every"),
    ("sync.every_writes", "--sync-every"),
    ("think", "--think"),
    ("think.pause_ns", "--think"),
    ("think.burst_ios", "--burst"),
    ("rate", "--rate"),
    ("rate.limit", "--rate"),
    ("rate.arrival", "--arrival"),
    ("size_bytes", "--size"),
    ("path", "TARGET"),
    ("seconds", "--seconds"),
    ("warmup_seconds", "--warmup"),
    ("interval_ns", "--interval"),
    ("settle_seconds", "--settle"),
    ("cell_seconds", "--cell-seconds"),
    ("precision.percent", "--precision"),
    ("precision.at_least_seconds", "--at-least"),
    ("completion", "--wait"),
    ("adaptive", "--adaptive"),
];

/// Fields that other words than the lists of a sweep are typed for.
const LISTS: [(&str, &str); 3] =
    [("--block", "--blocks"), ("--depth", "--depths"), ("--write", "--writes")];

/// A rule that flags break, with the flag instead of the field.
#[must_use]
pub fn in_flags(violation: Violation, has_lists: bool) -> Violation {
    // The load of flags is one stream, and each target was typed.
    let inner = violation.field.split_once("].").map_or(violation.field.as_str(), |(_, name)| name);
    let Some((_, flag)) = FIELDS.iter().find(|(field, _)| *field == inner) else {
        return violation;
    };
    let typed = |flag| {
        let list = LISTS.iter().find(|(one, _)| has_lists && *one == flag);
        list.map_or(flag, |(_, list)| *list)
    };
    let rule = violation.rule.split(' ').map(|word| {
        let plain = word.trim_end_matches([',', ';', '.']);
        let known = FIELDS.iter().find(|(field, _)| plain.contains('_') && *field == plain);
        let rest = word.get(plain.len()..).unwrap_or_default();
        known.map_or(word.to_owned(), |(_, flag)| format!("`{}`{rest}", typed(*flag)))
    });
    let rule = rule.collect::<Vec<_>>().join(" ");
    Violation { field: typed(flag).to_owned(), rule, ..violation }
}
