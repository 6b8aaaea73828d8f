//! What of a workload is lost when it is written in another tool's format.

/// Sentences about what the format has no words for, each once.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    sentences: Vec<String>,
    /// What is lost while a file is written, after a word and a colon.
    prefix: String,
}

impl Losses {
    /// What follows is lost from this stream.
    pub(crate) fn begin_stream(&mut self, name: &str) {
        self.prefix = format!("`{name}`: ");
    }

    /// What follows is lost from the whole workload.
    pub(crate) fn end_streams(&mut self) {
        self.prefix.clear();
    }

    pub(crate) fn add(&mut self, what: &str) {
        let sentence = format!("{}{what}", self.prefix);
        if !self.sentences.contains(&sentence) {
            self.sentences.push(sentence);
        }
    }

    pub(crate) fn add_if(&mut self, lost: bool, what: &str) {
        if lost {
            self.add(what);
        }
    }

    /// Adds the losses of any number of streams, naming the first of them.
    pub(crate) fn add_once(&mut self, what: &str) {
        if !self.sentences.iter().any(|sentence| sentence.ends_with(what)) {
            self.add(what);
        }
    }

    pub(crate) fn into_sentences(self) -> Vec<String> {
        self.sentences
    }
}
