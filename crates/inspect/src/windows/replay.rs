//! The answers of a recording, given again.

use crate::ANSWERS;
use crate::windows_answers::{Answer, Question, System};

/// What is answered to a question that nobody asked when the recording was made.
const NOT_SUPPORTED: u32 = 50;

/// A machine whose answers were recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replay {
    answers: Vec<(String, String, Answer)>,
}

impl Replay {
    /// Reads the answers of a recording.
    pub(crate) fn parse(recording: &str) -> Result<Self, String> {
        let mut lines = recording.lines();
        if lines.next() != Some(ANSWERS) {
            return Err(format!("it does not begin with {ANSWERS}"));
        }
        let mut answers = Vec::new();
        for (number, line) in (2..).zip(lines) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = || format!("line {number} is not an answer: {line}");
            let mut parts = line.split('\t');
            let (Some(about), Some(question), Some(answer), None) =
                (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                return Err(wrong());
            };
            let answer = match answer.strip_prefix("error ") {
                Some(number) => Err(number.parse().map_err(|_| wrong())?),
                None => Ok(unhex(answer).ok_or_else(wrong)?),
            };
            answers.push((about.to_owned(), question.to_owned(), answer));
        }
        Ok(Self { answers })
    }

    /// With another answer to a question.
    pub(crate) fn with(mut self, about: &str, question: &Question, answer: Answer) -> Self {
        let question = question.to_string();
        self.answers.retain(|(a, q, _)| (a.as_str(), q) != (about, &question));
        self.answers.push((about.to_owned(), question, answer));
        self
    }
}

impl System for Replay {
    fn ask(&self, about: &str, question: &Question) -> Answer {
        let question = question.to_string();
        let known = self.answers.iter().find(|(a, q, _)| a == about && *q == question);
        known.map_or(Err(NOT_SUPPORTED), |(_, _, answer)| answer.clone())
    }
}

/// The bytes that a text of hexadecimal digits stands for.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| Some(digit(*high)? << 4 | digit(*low)?);
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}
