//! What a job is about: what lists and watchers show of it before there is a result.

use history::LiveRun;
use serde::Serialize;
use workload::{EngineChoice, Target};

/// The subject of a measurement that is about to begin.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The command that measures, such as `run`.
    pub kind: &'static str,
    /// The schema of its document.
    pub schema: &'static str,
    /// The title of the measurement, in a phrase.
    pub title: String,
    /// What receives the I/O, in words.
    pub targets: String,
    /// JSON text: the plan, or the document of a recording without its points. `null` of a check
    /// after a crash.
    pub plan: String,
    /// Name of the plan: the same plan has the same name.
    pub plan_id: String,
    /// Whether it takes real time, in which others can watch.
    pub watched: bool,
}

impl Subject {
    /// The subject of a measurement with these options.
    ///
    /// # Errors
    /// The options cannot be written as JSON.
    pub fn new<T: Serialize>(
        kind: &'static str,
        schema: &'static str,
        title: String,
        (targets, engine): (&[Target], EngineChoice),
        options: &T,
    ) -> Result<Self, serde_json::Error> {
        let plan = serde_json::to_string(options)?;
        let name = |target: &Target| {
            let path = if engine.is_artificial() { None } else { target.path.canonicalize().ok() };
            path.as_ref().unwrap_or(&target.path).display().to_string()
        };
        let names: Vec<String> = targets.iter().map(name).collect();
        Ok(Self {
            kind,
            schema,
            title,
            targets: names.join(", "),
            plan_id: name_of(&plan),
            plan,
            watched: engine != EngineChoice::Sim,
        })
    }

    /// The run as viewers see it.
    pub(crate) fn live(&self, id: &str, started: &str) -> LiveRun {
        LiveRun {
            id: id.to_owned(),
            kind: self.kind.to_owned(),
            title: self.title.clone(),
            host: Some(inspect::Inspector::new().host().hostname),
            targets: self.targets.clone(),
            started: started.to_owned(),
            updated: String::new(),
            silent_seconds: 0.0,
            ended: false,
        }
    }
}

/// FNV-1a of 64 bits over the JSON form of a plan.
pub(crate) fn name_of(plan: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", plan.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_plan_has_the_same_name() {
        assert_eq!(name_of("{}"), name_of("{}"));
        assert_ne!(name_of("{}"), name_of("[]"));
        assert_eq!(name_of(""), "cbf29ce484222325", "the offset basis of FNV-1a");
    }
}
