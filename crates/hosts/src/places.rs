//! The targets of all hosts in one list, and the part of a load that each host has.

use std::collections::BTreeSet;

use results::AssessedHost;
use workload::{Stream, Target, Workload};

use crate::plan::{seed_of, targets_of};
use crate::site::on_host;

/// Every target of every host, host by host.
pub(crate) struct Places {
    hosts: Vec<String>,
    all: Vec<(usize, Target)>,
}

impl Places {
    /// These targets on each of these hosts.
    pub(crate) fn of(hosts: &[String], targets: &[Target]) -> Self {
        let mut all = Vec::new();
        for (at, host) in hosts.iter().enumerate() {
            all.extend(targets_of(host, targets).into_iter().map(|target| (at, target)));
        }
        Self { hosts: hosts.to_vec(), all }
    }

    /// Targets that have their host in their names, as `host:/path`.
    ///
    /// # Errors
    /// One has none of these hosts, or is not named wholly; a sentence.
    pub(crate) fn named(hosts: &[String], targets: &[Target]) -> Result<Self, String> {
        let place = |target: &Target| {
            let name = target.path.display().to_string();
            let own = hosts.iter().enumerate().find_map(|(at, host)| {
                Some((at, host, name.strip_prefix(host.as_str())?.strip_prefix(':')?))
            });
            let (at, host, path) =
                own.ok_or_else(|| format!("`{name}` is on none of the hosts of this plan"))?;
            if !path.starts_with('/') {
                return Err(format!("`{name}`: name a place of another host by its whole path"));
            }
            let path = Target { path: path.into(), size_bytes: target.size_bytes };
            let path = targets_of(host, &[path]).pop();
            path.map(|target| (at, target)).ok_or_else(|| format!("`{name}` has no place"))
        };
        let all = targets.iter().map(place).collect::<Result<_, _>>()?;
        Ok(Self { hosts: hosts.to_vec(), all })
    }

    /// The place of a host's target among all targets.
    pub(crate) fn index(&self, host: &str, own: usize) -> Option<usize> {
        let of_host = |at: &usize| {
            let name = self.all.get(*at).and_then(|(host, _)| self.hosts.get(*host));
            name.is_some_and(|name| name == host)
        };
        (0..self.all.len()).filter(of_host).nth(own)
    }

    /// The targets on the host with this index.
    pub(crate) fn of_host(&self, host: usize) -> impl Iterator<Item = &Target> {
        self.all.iter().filter(move |(at, _)| *at == host).map(|(_, target)| target)
    }

    /// The name of the host of each target, in the order of the targets.
    pub(crate) fn hosts(&self) -> Vec<&str> {
        let name = |(host, _): &(usize, Target)| self.hosts.get(*host).map_or("", String::as_str);
        self.all.iter().map(name).collect()
    }

    /// Each host with its target, where it has one.
    pub(crate) fn assessed(&self) -> Vec<AssessedHost> {
        let one = |(host, target): &(usize, Target)| {
            let name = self.hosts.get(*host)?.clone();
            Some(AssessedHost { name, target: target.path.clone() })
        };
        self.all.iter().filter_map(one).collect()
    }

    /// As a search has them: `host:/path`.
    pub(crate) fn targets(&self) -> Vec<Target> {
        let named = |(host, target): &(usize, Target)| {
            let host = self.hosts.get(*host).map_or("", String::as_str);
            Target { path: on_host(host, &target.path).into(), ..target.clone() }
        };
        self.all.iter().map(named).collect()
    }

    /// The part of a load that one host has; `None` where it has none.
    pub(crate) fn part(&self, host: usize, workload: &Workload) -> Option<Workload> {
        let here: Vec<usize> = (0..self.all.len())
            .filter(|at| self.all.get(*at).is_some_and(|place| place.0 == host))
            .collect();
        let count = workload.targets.len();
        let stream = |stream: &Stream| {
            let used: BTreeSet<usize> = stream.target_indexes(count).into_iter().collect();
            let own = here.iter().enumerate().filter(|(_, at)| used.contains(at));
            let own: Vec<usize> = own.map(|(place, _)| place).collect();
            let all = own.len() == here.len();
            (!own.is_empty())
                .then(|| Stream { targets: if all { Vec::new() } else { own }, ..stream.clone() })
        };
        let streams: Vec<Stream> = workload.streams.iter().filter_map(stream).collect();
        if streams.is_empty() {
            return None;
        }
        // A search may have chosen sizes.
        let sized = |at: &usize| {
            let (_, target) = self.all.get(*at)?;
            let size_bytes = workload.targets.get(*at).and_then(|t| t.size_bytes);
            Some(Target { size_bytes, ..target.clone() })
        };
        let targets = here.iter().filter_map(sized).collect();
        Some(Workload { targets, streams, seed: seed_of(workload.seed, host), ..workload.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        let target = |path: &str| Target { path: path.into(), size_bytes: None };
        let hosts = ["a", "b", "c"].map(str::to_owned);
        Places::of(&hosts, &[target("/x/{host}"), target("/y")])
    }

    fn load(targets: Vec<usize>) -> Workload {
        let stream = Stream { targets, ..Stream::default() };
        Workload { targets: places().targets(), streams: vec![stream], ..Workload::default() }
    }

    #[test]
    fn every_host_has_its_part_of_a_load() {
        let names: Vec<String> =
            places().targets().iter().map(|t| t.path.display().to_string()).collect();
        assert_eq!(names, ["a:/x/a", "a:/y", "b:/x/b", "b:/y", "c:/x/c", "c:/y"]);
        let whole = places().part(1, &load(Vec::new())).unwrap();
        assert_eq!(whole.targets[0].path.to_str(), Some("/x/b"));
        assert_eq!((whole.targets.len(), &whole.streams[0].targets), (2, &Vec::new()));
        let other = places().part(2, &load(Vec::new())).unwrap();
        assert_ne!(whole.seed, other.seed, "both would ask for the same offsets");
    }

    #[test]
    fn a_host_without_a_target_of_the_load_takes_no_part() {
        let some = load(vec![1, 4, 5]);
        let parts = [0, 1, 2].map(|host| places().part(host, &some));
        assert_eq!(parts[0].as_ref().unwrap().streams[0].targets, [1]);
        assert!(parts[1].is_none());
        assert!(parts[2].as_ref().unwrap().streams[0].targets.is_empty(), "both of its targets");
    }
}
