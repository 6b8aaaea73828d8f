//! The verdicts: the trials, the reasons to doubt them, and the load that is needed.

use analysis::honesty::Honesty;
use analysis::levels::LevelChange;
use analysis::noise;
use analysis::verdict::{Basis, Class, Doubt, Extent, Limits, Role, Trial, Verdict, judge};
use results::{
    BesideLoad, Environment, Latency, Measurement, Pace, PatternResult, Statistics, Status,
};
use workload::{Bytes, show_ns, show_number};

use super::AssessOptions;
use super::conclude::{self, Changed, is_complete};
use super::offer::{self, Frozen};
use super::plan::Load;
use super::session::Results;
use crate::{Publish, medium};

/// I/O of others, in percent of the device's, that leaves an indication; and that is worth a word.
const FOREIGN_PERCENT: (f64, f64) = (10.0, 2.0);
/// Variation from run to run, in percent either way, that leaves an indication; and that is worth a
/// word.
const RUN_PERCENT: (f64, f64) = (25.0, 10.0);
/// Share of the tool's own ceiling from which it may be the tool that was measured.
const CEILING_USED: f64 = 0.8;
/// A commit takes this much of the log, where several share a write.
const COMMIT_BYTES: u64 = 4096;

/// Everything that the verdicts are based on.
pub(super) struct Judge<'a> {
    pub(super) options: &'a AssessOptions,
    pub(super) loads: &'a [Load],
    pub(super) found: &'a Results,
    pub(super) changed: &'a Changed,
    pub(super) honesty: Option<&'a Honesty>,
    /// The file may fit a cache.
    pub(super) size_warning: bool,
    /// The log is judged next to a checkpoint.
    pub(super) is_beside: bool,
    pub(super) environment: &'a Environment,
}

impl Judge<'_> {
    /// One verdict per role, in the order of the limits; a glance judges nothing.
    pub(super) fn verdicts(&self) -> Vec<results::verdict::Verdict> {
        if self.options.pace == Pace::Glance {
            return Vec::new();
        }
        let limits = self.options.limits.iter().cloned().map(Limits::from_published);
        limits.map(|limits| self.verdict(&limits).publish()).collect()
    }

    /// A role is judged only if every load that counts for it was measured to its end without an
    /// error: the missing one might have been the slow one.
    fn verdict(&self, limits: &Limits) -> Verdict {
        let loads: Vec<&Load> =
            self.loads.iter().filter(|l| l.analysis_role() == Some(limits.role)).collect();
        let missing = loads.iter().filter_map(|load| self.missing(load)).collect();
        let trials = self.trials(limits, &loads);
        let need = self.options.needs.iter().copied().map(Publish::from_published);
        let need = need.into_iter().find(|n: &analysis::verdict::Need| n.role == limits.role);
        let not_believed = self.honesty.and_then(Honesty::disbelief);
        let not_believed = not_believed.filter(|_| limits.role == Role::Log);
        let basis = Basis {
            run_percent: self.run_percent().unwrap_or(0.0),
            doubts: self.doubts(&loads, not_believed.is_some()),
            first: not_believed.map(str::to_owned).into_iter().collect(),
            caveats: self.caveats(&loads, &trials),
            then: self.both(limits, &loads),
            also: self.also(limits, &loads),
            missing,
            class: self.class_sentence().filter(|_| limits.role == Role::OltpData),
            trials,
        };
        let verdict = judge(limits, need, basis);
        match self.frozen(limits, &loads) {
            Some(frozen) => with_lead(verdict, frozen),
            None => verdict,
        }
    }

    fn pattern(&self, load: &Load) -> Option<&PatternResult> {
        self.found.patterns.iter().find(|p| p.name == load.name)
    }

    /// What happened to a load that was not measured to its end.
    fn missing(&self, load: &Load) -> Option<String> {
        let title = &load.title;
        match self.pattern(load) {
            Some(p) if !p.measurement.errors.is_empty() => {
                Some(format!("{title} failed with I/O errors"))
            }
            Some(p) if p.measurement.status == Status::Complete => {
                let offered = self.found.offered.iter().any(|o| o.name == load.name);
                if load.offered && !offered {
                    return Some(format!("{title} was not offered at set rates"));
                }
                let beside = !self.is_beside || self.beside(load).is_some();
                let is_missing = load.role == Some(results::verdict::Role::Log) && !beside;
                is_missing.then(|| format!("{title} was not measured alongside a checkpoint"))
            }
            _ => Some(format!("{title} was not measured")),
        }
    }

    /// The trials for a role, in the unit of the role.
    fn trials(&self, limits: &Limits, loads: &[&Load]) -> Vec<Trial> {
        match limits.role {
            Role::OltpData => {
                let offered = self.found.offered.iter();
                let of_role = offered.filter(|o| loads.iter().any(|l| l.name == o.name));
                let points = of_role.flat_map(|o| offer::lasting(o).map(move |m| (o, m)));
                points.map(|(o, m)| offer::trial(&o.title, m, limits)).collect()
            }
            Role::Log => loads.iter().filter_map(|load| self.commits(limits, load)).collect(),
            Role::DssData => loads.iter().flat_map(|load| self.streams(limits, load)).collect(),
            // Whole files are read and written: the slower of the two decides.
            Role::Compaction => {
                let all = loads.iter().map(|load| self.streams(limits, load));
                let most =
                    |trials: &Vec<Trial>| trials.iter().map(|t| t.per_second).fold(0.0, f64::max);
                all.min_by(|a, b| most(a).total_cmp(&most(b))).unwrap_or_default()
            }
        }
    }

    /// A write of the log: one commit, or as many as fit in it. If it was also measured while data
    /// files are written, that counts.
    fn commits(&self, limits: &Limits, load: &Load) -> Option<Trial> {
        let commits = (load.stream.largest_block() / COMMIT_BYTES).max(1);
        let label = if commits > 1 {
            format!("{} ({commits} commits of {} in each)", load.title, Bytes(COMMIT_BYTES))
        } else {
            format!("{} (one commit after the other)", load.title)
        };
        let known = self.freezes(limits, load);
        if !self.is_beside {
            let measurement = self.sustained(load)?;
            return Some(offer::of_role(&label, measurement, limits, commits as f64, known));
        }
        let found = self.beside(load)?;
        let label = format!("{label}, alongside {}", word(found));
        offer::beside(&label, &found.measurement, limits, commits as f64, known)
    }

    /// Freezes of the loads of a role, in a sentence; `None` if there was one at most.
    fn frozen(&self, limits: &Limits, loads: &[&Load]) -> Option<String> {
        let found = loads.iter().filter_map(|load| self.freezes(limits, load));
        let worst = found.max_by(|a, b| a.share.total_cmp(&b.share))?;
        Some(format!(
            "The storage froze for {} % of the time, up to {} at once.",
            show_number((1000.0 * worst.share).round() / 10.0),
            show_ns(worst.longest_ns as f64)
        ))
    }

    /// How a load froze, unless that can be chance.
    fn freezes(&self, limits: &Limits, load: &Load) -> Option<Frozen> {
        let m = self.sustained(load)?;
        let found = Frozen::of(&m.total, m.in_flight as f64, m.seconds, limits);
        found.filter(Frozen::is_no_chance)
    }

    /// A load that was measured to its end next to another.
    fn beside(&self, load: &Load) -> Option<&BesideLoad> {
        let mut all = self.found.beside.iter();
        all.find(|b| b.name == load.name).filter(|b| is_complete(&b.measurement))
    }

    /// The write of one commit, or else the smallest.
    fn commit<'l>(loads: &[&'l Load]) -> Option<&'l Load> {
        loads.iter().copied().min_by_key(|load| {
            let bytes = load.stream.largest_block();
            if bytes <= COMMIT_BYTES { COMMIT_BYTES - bytes } else { bytes }
        })
    }

    /// Single commits alone and while the data files are written, in a sentence.
    fn both(&self, limits: &Limits, loads: &[&Load]) -> Option<String> {
        let load = Self::commit(loads).filter(|_| limits.role == Role::Log)?;
        let (alone, found) = (self.sustained(load)?, self.beside(load)?);
        let (word, both) = (word(found), found.measurement.streams.first()?);
        let (alone, both) = (figures(&alone.total), figures(&both.total));
        Some(format!("Single commits alone: {alone}; alongside {word}: {both}."))
    }

    /// Sentences that come before those of the single loads.
    fn also(&self, limits: &Limits, loads: &[&Load]) -> Vec<String> {
        let sides = loads.iter().filter_map(|load| self.beside(load));
        let sides = sides.map(|found| found.sentence.clone());
        self.alone(limits, loads).into_iter().chain(sides).collect()
    }

    /// One commit after the other, in a sentence.
    fn alone(&self, limits: &Limits, loads: &[&Load]) -> Option<String> {
        let load = Self::commit(loads).filter(|_| limits.role == Role::Log)?;
        let total = &self.sustained(load)?.total;
        let latency = total.latency_ns?;
        Some(format!(
            "One after the other, alone ({}): {} a second, 99th percentile {}, 99.9th {}.",
            load.title,
            show_number(total.iops),
            percentile(latency.p99),
            percentile(latency.p99_9)
        ))
    }

    /// A load in order, at every depth.
    fn streams(&self, limits: &Limits, load: &Load) -> Vec<Trial> {
        let shallow = at_one(&load.name);
        let shallow = self.found.patterns.iter().filter(move |p| p.name == shallow);
        let shallow = shallow.map(|p| &p.measurement).filter(|m| is_complete(m));
        let ramp = self.found.ramps.iter().find(|r| r.name == load.name);
        let points = ramp.map_or(&[][..], |ramp| &ramp.points).iter();
        let points = points.filter(|m| is_complete(m) && !self.changed.is_past(&load.name, m));
        points
            .chain(self.sustained(load))
            .chain(shallow)
            .map(|m| {
                let label = format!("{}, {} in flight", load.title, m.in_flight);
                offer::of_role(&label, m, limits, 1.0, self.freezes(limits, load))
            })
            .collect()
    }

    /// The measurement of a load that counts: the last, where throughput fell.
    fn sustained(&self, load: &Load) -> Option<&Measurement> {
        let pattern = self.pattern(load).map(|p| &p.measurement).filter(|m| is_complete(m));
        self.changed.sustained(&load.name).or(pattern)
    }

    /// How far a run may be from another of the same load, in percent either way: every load that
    /// was measured more than once at the same depth says something of it. A level that fell is not
    /// a variation.
    fn run_percent(&self) -> Option<f64> {
        let runs = |pattern: &PatternResult| {
            let ramp = self.found.ramps.iter().filter(|r| r.name == pattern.name);
            let points = ramp.flat_map(|r| &r.points);
            let repeats = self.found.repeats.iter().filter(|r| r.name == pattern.name);
            let again = points.chain(repeats.flat_map(|r| &r.measurements));
            let depth = pattern.measurement.in_flight;
            let alike = again.filter(|m| m.in_flight == depth).chain([&pattern.measurement]);
            alike.filter(|m| is_complete(m)).map(|m| m.total.iops).collect()
        };
        let steady = self.found.patterns.iter().filter(|p| self.changed.of(&p.name).is_none());
        let groups: Vec<Vec<f64>> = steady.map(runs).collect();
        noise::run_to_run(&groups)
    }

    fn doubts(&self, loads: &[&Load], not_believed: bool) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        if not_believed {
            doubts.push(Doubt::grave("durable writes are not believed"));
        }
        if self.size_warning {
            doubts.push(Doubt::grave("the test file may fit a cache"));
        }
        doubts.extend(self.run_percent().and_then(|percent| {
            let percent_shown = show_number(percent);
            let reason = format!("runs of the same load are up to ±{percent_shown} % apart");
            by_size(percent, RUN_PERCENT, reason)
        }));
        let of_loads = || loads.iter().filter_map(|load| self.sustained(load));
        let kernels = || of_loads().filter_map(|m| m.kernel.as_ref());
        let foreign = kernels().filter_map(|k| k.foreign_percent).fold(0.0, f64::max);
        let reason = format!("{} % of the device's I/O was foreign", show_number(foreign));
        doubts.extend(by_size(foreign, FOREIGN_PERCENT, reason));
        if kernels().any(|k| k.agreement.as_ref().is_some_and(|a| !a.within_tolerance)) {
            doubts.push(Doubt::slight("the kernel counted something else"));
        }
        let used = self
            .found
            .tool_ceiling_iops
            .is_some_and(|ceiling| of_loads().any(|m| m.total.iops > CEILING_USED * ceiling));
        if used {
            doubts.push(Doubt::grave("this program was near its own limit on this host"));
        }
        if loads.iter().any(|l| self.changed.of(&l.name).is_some())
            || self.burst(loads).is_some()
            || of_loads().any(|m| m.phases.is_some())
        {
            doubts.push(Doubt::slight("throughput had several levels"));
        }
        let elsewhere = self.found.offered.iter().any(|o| o.burst_iops.is_some())
            || self.changed.all().any(LevelChange::fell);
        if elsewhere && !loads.iter().any(|load| load.offered) {
            let reason = "another load lived on credits or a cache, and this one was not held";
            doubts.push(Doubt::grave(reason));
        }
        // Disks and flash have no credits, and their caches are small; of a volume, nobody knows.
        let volume = matches!(self.class(), None | Some(Class::Cloud | Class::Array));
        let short = match self.options.pace {
            Pace::Glance | Pace::Quick => true,
            Pace::Normal => volume,
            Pace::Long => false,
        };
        if short {
            doubts.push(Doubt::slight("short: credits and caches may outlast it"));
        }
        doubts
    }

    /// The load that fitted at first and did not last.
    fn burst(&self, loads: &[&Load]) -> Option<f64> {
        let mut offered = self.found.offered.iter();
        offered.find(|o| loads.iter().any(|l| l.name == o.name))?.burst_iops
    }

    fn caveats(&self, loads: &[&Load], trials: &[Trial]) -> Vec<String> {
        let mut caveats = Vec::new();
        caveats.extend(self.burst(loads).map(|iops| {
            format!(
                "A burst of {} IOPS fitted at first and did not last; what lasted is judged.",
                show_number(iops)
            )
        }));
        let uneven = conclude::uneven(loads.iter().filter_map(|load| self.pattern(load)));
        if !uneven.is_empty() && loads.iter().any(|load| load.offered) {
            caveats.push(
                "Each host had the same part of the rates that were offered, so the slowest host \
                 decides how much fits."
                    .to_owned(),
            );
        }
        caveats.extend(uneven);
        let measured = loads.iter().filter_map(|load| Some((load, self.sustained(load)?)));
        let measured: Vec<_> = measured.collect();
        caveats.extend(measured.iter().filter_map(|(load, m)| {
            Some(format!("{}: {}", load.title, m.phases.as_ref()?.explanation))
        }));
        let changes = loads.iter().filter_map(|load| self.changed.of(&load.name));
        caveats.extend(changes.map(|change| change.statement.clone()));
        let windows = measured.iter().map(|(_, m)| (m.seconds, m.write.bytes));
        let of_trials = trials.iter().map(|t| (t.seconds, 0));
        caveats.extend(Extent::of_windows(windows.chain(of_trials)).map(|e| e.unseen()));
        if loads.iter().any(|l| l.stream.durable) && !self.is_beside {
            caveats.push(
                "The log was written alone; alongside a checkpoint it may take longer, which \
                 `--pace normal` measures."
                    .to_owned(),
            );
        }
        caveats
    }

    /// The class that was named, or else what the storage says of itself.
    fn class(&self) -> Option<Class> {
        let named = self.options.class.map(Class::from_published);
        named.or_else(|| medium::class(self.environment))
    }

    /// How a single random read compares with those of other storage of the class.
    fn class_sentence(&self) -> Option<String> {
        let class = self.class()?;
        // The first point of the first ramp reads single blocks at random places.
        let first = self.found.ramps.first()?.points.first()?;
        let alone = Some(first).filter(|m| m.in_flight == 1 && is_complete(m) && !m.is_unsure())?;
        class.compare(alone.read.latency_ns?.mean)
    }
}

/// A verdict that begins with a sentence.
fn with_lead(mut verdict: Verdict, lead: String) -> Verdict {
    if let Some((role, rest)) = verdict.headline.split_once(": ") {
        let mut letters = rest.chars();
        let first = letters.next().map_or_else(String::new, |c| c.to_uppercase().to_string());
        verdict.headline = format!("{role}: {lead} {first}{}", letters.as_str());
    }
    verdict.caveats.insert(0, lead);
    verdict
}

/// What ran alongside a load, without its figures.
fn word(found: &BesideLoad) -> &str {
    found.beside.split_once(" (").map_or(&*found.beside, |(word, _)| word)
}

/// How many each second, and their 99th percentile, or of few their mean.
fn figures(statistics: &Statistics) -> String {
    let per_second = show_number(statistics.iops);
    match statistics.latency_ns {
        Some(Latency { p99: Some(ns), .. }) => {
            format!("{per_second}/s, p99 {}", show_ns(ns as f64))
        }
        Some(latency) => format!("{per_second}/s, mean {}", show_ns(latency.mean)),
        None => format!("{per_second}/s"),
    }
}

fn percentile(ns: Option<u64>) -> String {
    ns.map_or_else(|| "not known".to_owned(), |ns| show_ns(ns as f64))
}

/// The name of a load that is also measured with one I/O in flight.
pub(super) fn at_one(name: &str) -> String {
    format!("{name}_at_1")
}

/// A doubt by how large something is.
fn by_size(percent: f64, (grave, slight): (f64, f64), reason: String) -> Option<Doubt> {
    if percent > grave {
        Some(Doubt::grave(reason))
    } else if percent > slight {
        Some(Doubt::slight(reason))
    } else {
        None
    }
}
