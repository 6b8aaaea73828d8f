//! CPUs that threads are to be bound to, known before anything is made.

use workload::{EngineChoice, Workload};

/// Every CPU of a workload must be one that this process may use; a simulated device has no use for
/// them.
pub(crate) fn check_cpus(workload: &Workload) -> Result<(), String> {
    let allowed = engine::allowed_cpus();
    if allowed.is_empty() || workload.engine == EngineChoice::Sim {
        return Ok(());
    }
    let asked = workload.streams.iter().flat_map(|stream| stream.cpus.iter().copied());
    let mut outside: Vec<u32> = asked.filter(|cpu| !allowed.contains(cpu)).collect();
    outside.sort_unstable();
    outside.dedup();
    if outside.is_empty() {
        return Ok(());
    }
    let cpu = if outside.len() == 1 { "CPU" } else { "CPUs" };
    Err(format!(
        "threads cannot be bound to {cpu} {}: this process may run on {} only",
        ranges(&outside),
        ranges(&allowed)
    ))
}

/// Writes rising numbers as `0-3, 8`.
fn ranges(numbers: &[u32]) -> String {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match found.last_mut().filter(|(_, last)| last.checked_add(1) == Some(number)) {
            Some((_, last)) => *last = number,
            None => found.push((number, number)),
        }
    }
    let range = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    found.iter().map(range).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Stream, Target};

    #[test]
    fn what_is_outside_is_named_and_simulated_devices_do_not_care() {
        let allowed = engine::allowed_cpus();
        let Some(&mine) = allowed.first() else { return };
        let with = |cpus: Vec<u32>| {
            let target = Target { path: "x".into(), size_bytes: None };
            Workload::single(target, Stream { cpus, ..Stream::default() })
        };
        assert_eq!(check_cpus(&with(vec![mine])), Ok(()));
        assert_eq!(check_cpus(&with(Vec::new())), Ok(()));
        let error = check_cpus(&with(vec![mine, 5001, 5000, 5003])).unwrap_err();
        assert!(error.contains("CPUs 5000-5001, 5003: this process may run on"), "{error}");
        let sim = Workload { engine: EngineChoice::Sim, ..with(vec![5000]) };
        assert_eq!(check_cpus(&sim), Ok(()));
    }
}
