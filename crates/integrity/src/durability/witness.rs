//! The witness: keeps the promises of a writer that may be gone at any moment.
//!
//! It speaks lines. The writer begins with `run` and the [`Header`] as JSON; the witness answers
//! `ready` and what it holds as JSON ([`State`](crate::durability::State)), or `error` and why not.
//! Then the writer sends `keep` with the milliseconds it has written for and two numbers per
//! thread, the batches of its log and of its pages. The witness answers `have` and the number of
//! the message, counted from 1, when they are on stable media. So only promises that the witness
//! has are promises.

use std::io::{self, BufRead, Read as _, Write};
use std::path::Path;

use thiserror::Error;

use crate::durability::plan::Header;
use crate::durability::state::{Promised, StateError, StateFile};

/// Why a witness ends before its writer does.
#[derive(Debug, Error)]
pub enum WitnessError {
    /// The connection to the writer broke.
    #[error("the connection to the writer: {0}")]
    Connection(#[from] io::Error),
    /// The witness's file cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The writer sent a line that is not understood.
    #[error("the writer said what a witness does not understand: {0}")]
    NotUnderstood(String),
}

/// A line of the writer, as the witness understands it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WriterMessage {
    /// The run that it begins or resumes.
    Run(Box<Header>),
    /// Promises to keep, and how long it has written.
    Keep { elapsed_ms: u64, threads: Vec<Promised> },
}

/// The line by which the writer promises what is durable.
pub(crate) fn keep_line(elapsed_ms: u64, threads: &[Promised]) -> String {
    let numbers = threads.iter().flat_map(|p| [p.log, p.data]);
    let words: Vec<String> = numbers.map(|n| n.to_string()).collect();
    format!("keep {elapsed_ms} {}\n", words.join(" "))
}

/// Reads a line of the writer; `None` if it is not understood.
pub(crate) fn parse_said(line: &str) -> Option<WriterMessage> {
    let (word, rest) = line.trim_end().split_once(' ')?;
    match word {
        "run" => serde_json::from_str(rest).ok().map(WriterMessage::Run),
        "keep" => {
            let numbers: Result<Vec<u64>, _> = rest.split(' ').map(str::parse).collect();
            let numbers = numbers.ok()?;
            let (elapsed_ms, marks) = numbers.split_first()?;
            let (pairs, odd) = marks.as_chunks::<2>();
            let threads = pairs.iter().map(|[log, data]| Promised { log: *log, data: *data });
            odd.is_empty().then(|| WriterMessage::Keep {
                elapsed_ms: *elapsed_ms,
                threads: threads.collect(),
            })
        }
        _ => None,
    }
}

/// No message of a writer is longer.
const MESSAGE_BYTES: u64 = 1 << 20;

/// Serves one writer until it is gone, and keeps what it promises in this file.
pub fn serve(
    path: &Path,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), WitnessError> {
    let served = match serve_writer(path, input, output) {
        // A writer that dies does not hear the answer.
        Err(WitnessError::Connection(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        served => served,
    };
    if let Err(error) = &served {
        // A writer that cannot be reached has gone.
        let _ = writeln!(output, "error {}", error.to_string().replace('\n', " "));
        let _ = output.flush();
    }
    served
}

fn serve_writer(
    path: &Path,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), WitnessError> {
    let mut line = String::new();
    if (&mut *input).take(MESSAGE_BYTES).read_line(&mut line)? == 0 {
        return Ok(());
    }
    let not_understood = |line: &str| WitnessError::NotUnderstood(line.chars().take(200).collect());
    let Some(WriterMessage::Run(header)) = parse_said(&line) else {
        return Err(not_understood(&line));
    };
    let mut file = StateFile::open(path, &header)?;
    writeln!(output, "ready {}", serde_json::to_string(file.state()).unwrap_or_default())?;
    output.flush()?;
    let mut number = 0u64;
    loop {
        line.clear();
        // A line that was cut off when its writer died is not a message.
        if (&mut *input).take(MESSAGE_BYTES).read_line(&mut line)? == 0 || !line.ends_with('\n') {
            return Ok(());
        }
        match parse_said(&line) {
            Some(WriterMessage::Keep { elapsed_ms, threads })
                if threads.len() == file.state().threads.len() =>
            {
                file.keep(elapsed_ms, threads)?;
            }
            _ => return Err(not_understood(&line)),
        }
        number += 1;
        writeln!(output, "have {number}")?;
        output.flush()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::durability::state::parse_state;
    use crate::durability::state::tests::header;
    use proptest::prelude::*;

    fn said(path: &Path, text: &str) -> (String, Result<(), WitnessError>) {
        let mut out = Vec::new();
        let served = serve(path, &mut text.as_bytes(), &mut out);
        (String::from_utf8(out).unwrap(), served)
    }

    #[test]
    fn a_witness_keeps_what_it_says_it_has_and_goes_on_later() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("witness");
        let run = format!("run {}\n", serde_json::to_string(&header(2)).unwrap());
        // The last message is cut off: its writer died.
        let (answers, served) =
            said(&path, &format!("{run}keep 5 1 2 3 4\nkeep 6 2 2 3 4\nkeep 7 9 9 9"));
        served.unwrap();
        assert!(answers.starts_with("ready {"), "{answers}");
        assert!(answers.ends_with("have 1\nhave 2\n"), "{answers}");
        let (_, state) = parse_state("w", &std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((state.elapsed_ms, state.threads[0].log, state.threads[1].data), (6, 2, 4));
        let (answers, _) = said(&path, &run);
        assert!(answers.contains("\"log\":2,\"data\":2"), "{answers}");
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("witness");
        let run = format!("run {}\n", serde_json::to_string(&header(2)).unwrap());
        for wrong in
            ["hello\n", "keep 1 2 3\n", &format!("{run}keep 1 2 3\n"), &format!("{run}keep x\n")]
        {
            let (answers, served) = said(&path, wrong);
            assert!(matches!(served, Err(WitnessError::NotUnderstood(_))), "{wrong}");
            assert!(answers.contains("error "), "{answers}");
        }
        assert_eq!(said(&path, "").0, "");
    }

    proptest! {
        #[test]
        fn messages_read_back_and_others_do_not_panic(
            elapsed_ms: u64, marks in prop::collection::vec((any::<u64>(), any::<u64>()), 1..9),
                noise in ".*"
        ) {
            let threads: Vec<Promised> = marks.into_iter()
                .map(|(log, data)| Promised { log, data }).collect();
            let line = keep_line(elapsed_ms, &threads);
            prop_assert_eq!(parse_said(&line), Some(WriterMessage::Keep { elapsed_ms, threads }));
            let _ = parse_said(&noise);
            let _ = parse_said(&format!("keep {noise}"));
            let _ = parse_said(&format!("run {noise}"));
        }
    }
}
