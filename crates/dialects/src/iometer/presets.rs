//! The access specifications that people know by name, in IOMeter's words.

use workload::Mix;
use workload::specs::{Spec, spec};

use super::config::{AccessSpec, Assignment};

/// An access specification that people know by its name; no worker gets it by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset(pub &'static Spec);

impl Preset {
    /// The access specification itself, without its name in lists.
    #[must_use]
    pub fn spec(&self) -> AccessSpec {
        let mix = Mix { parts: self.0.parts.to_vec() };
        // A test holds that each of them is one.
        let none = || AccessSpec {
            name: self.0.name.to_owned(),
            assignment: Assignment::None,
            rows: Vec::new(),
        };
        AccessSpec::from_mix(self.0.name, &mix).map_or_else(|_| none(), |(spec, _)| spec)
    }
}

/// The preset of this name, as people write it.
#[must_use]
pub fn preset(name: &str) -> Option<Preset> {
    spec(name).map(Preset)
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::*;

    #[test]
    fn a_preset_is_what_iometer_has_by_default() {
        let rows = preset("default").unwrap().spec().rows;
        assert_eq!(rows, [Row { align_bytes: 0, ..Row::default() }]);
        assert_eq!(preset("no such thing"), None);
    }
}
