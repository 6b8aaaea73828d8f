//! Which backend a stream gets: the one that was asked for, or the better of those that work.

use workload::{EngineChoice, Mode, Stream, Workload};

use crate::error::EngineError;
use crate::prepared::PreparedTarget;
use crate::windows_pieces::{is_in_pieces, layout};

/// The kinds of backends on Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Iocp,
    Sync,
    Null,
}

impl Kind {
    /// The word for it in results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Iocp => "iocp",
            Self::Sync => "sync",
            Self::Null => "null",
        }
    }
}

/// The backend that one stream uses on its targets.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(super) kind: Kind,
    pub(super) reason: String,
}

/// Takes the backend that was asked for, or the better one for a thread that has so many I/Os in
/// flight.
pub(crate) fn choose(
    workload: &Workload,
    in_flight: u64,
    targets: &[(&Stream, &PreparedTarget)],
) -> Result<Choice, EngineError> {
    check(workload.engine)?;
    let unavailable =
        |engine, cause: &str| Err(EngineError::Unavailable { engine, cause: cause.to_owned() });
    let chosen = |kind, reason: &str| Ok(Choice { kind, reason: reason.to_owned() });
    let is_null = matches!(workload.engine, EngineChoice::Null | EngineChoice::Sim);
    if !is_null && targets.iter().any(|(s, _)| workload.mode_of(s) == Mode::Mapped) {
        return unavailable(
            "mmap",
            "this version does not map files into memory on Windows; use direct or buffered I/O",
        );
    }
    // A database's pages are scattered where that can be, also one I/O at a time.
    let in_pieces = |(stream, _): &(&Stream, &PreparedTarget)| {
        let is_direct = workload.mode_of(stream) == Mode::Direct;
        let scatters = workload.engine != EngineChoice::Sync;
        layout(stream, is_direct && scatters)
    };
    let mut scatters = false;
    for target in targets.iter().filter(|_| !is_null) {
        match in_pieces(target) {
            Ok(layout) => scatters |= is_in_pieces(layout),
            Err(cause) => return unavailable(workload.engine.name(), cause),
        }
    }
    match workload.engine {
        EngineChoice::Auto if in_flight == 1 && !scatters => {
            chosen(Kind::Sync, "at depth 1 a plain ReadFile or WriteFile has the least overhead")
        }
        // `check` has refused those of Linux.
        EngineChoice::Auto | EngineChoice::Uring | EngineChoice::Aio => {
            chosen(Kind::Iocp, "a completion port is what Windows has for many I/Os at a time")
        }
        EngineChoice::Iocp => chosen(Kind::Iocp, "asked for"),
        EngineChoice::Sync => chosen(Kind::Sync, "asked for"),
        EngineChoice::Null | EngineChoice::Sim => chosen(Kind::Null, "asked for"),
    }
}

/// Whether the backend that was asked for works here: known before a test file is written.
pub(crate) fn check(engine: EngineChoice) -> Result<(), EngineError> {
    match engine {
        EngineChoice::Uring | EngineChoice::Aio => Err(EngineError::Unavailable {
            engine: engine.name(),
            cause: "it is an interface of Linux".to_owned(),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At depth 1 plain calls cost less, so `auto` takes them; what was asked for is taken at any
    /// depth.
    #[test]
    fn what_is_asked_for_is_taken() {
        for (engine, in_flight, kind) in [
            (EngineChoice::Auto, 1, Kind::Sync),
            (EngineChoice::Auto, 2, Kind::Iocp),
            (EngineChoice::Iocp, 1, Kind::Iocp),
            (EngineChoice::Sync, 8, Kind::Sync),
        ] {
            let workload = Workload { engine, ..Workload::default() };
            assert_eq!(choose(&workload, in_flight, &[]).unwrap().kind, kind, "{engine:?}");
        }
    }
}
