//! Cells of access specifications: of those that are listed by name, and of one's own.

use super::Cell;
use crate::specs::{OwnSpec, Spec, spec};
use crate::stream::Stream;

impl Cell {
    fn own_spec(&self) -> Option<OwnSpec> {
        let name = self.spec.clone().filter(|_| !self.parts.is_empty())?;
        Some(OwnSpec { name, parts: self.parts.clone() })
    }

    pub(super) fn spec_title(&self) -> Option<String> {
        let known = || spec(self.spec.as_deref()?).map(Spec::title);
        self.own_spec().map(|own| own.title()).or_else(known)
    }

    pub(super) fn spec_stream(&self) -> Option<Stream> {
        let known = || spec(self.spec.as_deref()?).map(Spec::stream);
        self.own_spec().map(|own| own.stream()).or_else(known)
    }
}
