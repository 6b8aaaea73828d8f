//! A batch file is worked through, command by command, as `cmd` would.

use std::collections::{HashMap, HashSet};

use super::arithmetic;
use super::command::{Does, Pieces, does, pieces};
use super::source::{
    Expanded, Logical, Place, TOO_LONG, Values, first_word, logical_lines, parted, unset_words,
    without_unset,
};
use super::syntax::{Asks, Condition, List, Node, commands};
use super::{Action, Around, Budget, Complaints, LINE_BYTES_MAX, Output, Script, Step, is_sqlio};

/// How deep `call :label` may be in one another.
const CALLS_MAX: usize = 32;

/// Where a batch file continues after a command.
#[derive(Debug, PartialEq, Eq)]
enum Flow {
    /// At the command that follows.
    Next,
    /// At the label with this name.
    Goto(String),
    /// After its `call :label`; outside of a call, at the end.
    Return,
    /// Nowhere, because the script ends.
    Exit,
}

/// A statement at hand: where its bytes come from.
struct Source<'a> {
    whole: &'a Logical,
    expanded: &'a Expanded,
}

impl Source<'_> {
    fn place(&self, at: usize) -> Place {
        self.whole.place(self.expanded.origin(at))
    }
}

/// The values of the variables of loops.
type Loops = Vec<(char, String)>;

/// Runs through a batch file and collects its steps.
pub(super) struct Machine<'a> {
    values: Values<'a>,
    lines: Vec<Logical>,
    labels: HashMap<String, usize>,
    script: Script,
    /// Places that have a note, with it: a command in a loop has one.
    noted: HashSet<(Place, String)>,
    wrong: Vec<String>,
    budget: Budget,
    /// Whether `!name!` stands for a variable: `setlocal enabledelayedexpansion`.
    delayed: bool,
    /// Where the output of a block goes.
    output: Option<Output>,
    calls: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn new(text: &str, around: &'a Around<'a>) -> Self {
        let lines = logical_lines(text);
        let mut labels = HashMap::new();
        for (index, line) in lines.iter().enumerate() {
            if let Some(label) = line.label() {
                labels.entry(label).or_insert(index);
            }
        }
        let arguments = around.arguments.to_vec();
        Self {
            values: Values { around, variables: HashMap::new(), arguments },
            lines,
            labels,
            script: Script::default(),
            noted: HashSet::new(),
            wrong: Vec::new(),
            budget: Budget::new(),
            delayed: false,
            output: None,
            calls: 0,
        }
    }

    pub(super) fn run(mut self) -> Result<Script, Complaints> {
        self.from(0);
        if self.wrong.is_empty() { Ok(self.script) } else { Err(Complaints(self.wrong)) }
    }

    /// Works from a line on; `Exit` where nothing at all comes after it.
    fn from(&mut self, start: usize) -> Flow {
        let mut at = start;
        while at < self.lines.len() {
            let (statement, next) = self.statement(at);
            let flow = self.do_statement(&statement);
            at = match flow {
                Flow::Next => next,
                Flow::Goto(label) if label == "eof" => return Flow::Return,
                Flow::Goto(label) => {
                    let Some(line) = self.labels.get(&label) else {
                        let why = format!("there is no label `:{label}`: the batch ends here");
                        self.note(statement.place(0), &why);
                        return Flow::Exit;
                    };
                    *line
                }
                other => return other,
            };
        }
        Flow::Return
    }

    /// The statement that begins at a line, and the line after it.
    fn statement(&self, at: usize) -> (Logical, usize) {
        let Some(first) = self.lines.get(at) else { return (Logical::default(), at + 1) };
        let mut whole = first.clone();
        let mut next = at + 1;
        if whole.begins_block() {
            let mut open = whole.open_after(0);
            while open > 0 && whole.text.len() <= LINE_BYTES_MAX {
                let Some(line) = self.lines.get(next) else { break };
                open = line.open_after(open);
                whole.join(line);
                next += 1;
            }
        }
        (whole, next)
    }

    fn do_statement(&mut self, whole: &Logical) -> Flow {
        if whole.text.trim().is_empty() || whole.label().is_some() {
            return self.take(whole.place(0), "").map_or(Flow::Exit, |()| Flow::Next);
        }
        let expanded = match self.values.expanded(&whole.text) {
            Ok(expanded) if whole.text.len() <= LINE_BYTES_MAX => expanded,
            _ => return self.fails(whole.place(0), TOO_LONG),
        };
        let source = Source { whole, expanded: &expanded };
        let nodes = commands(&expanded.text);
        self.all(&nodes, &source, &mut Vec::new())
    }

    /// Takes a command from the budget.
    fn take(&mut self, place: Place, text: &str) -> Option<()> {
        match self.budget.take(text) {
            Ok(()) => Some(()),
            Err(why) => {
                self.fails(place, &why);
                None
            }
        }
    }

    /// Ends the script with an error at a place.
    fn fails(&mut self, (line, column): Place, why: &str) -> Flow {
        self.wrong.push(format!("line {line}, column {column}: {why}"));
        Flow::Exit
    }

    fn note(&mut self, place: Place, what: &str) {
        let (line, column) = place;
        if self.noted.insert((place, what.to_owned())) {
            self.script.notes.push(format!("line {line}, column {column}: {what}"));
        }
    }

    fn all(&mut self, nodes: &[Node], source: &Source<'_>, loops: &mut Loops) -> Flow {
        for node in nodes {
            let flow = self.node(node, source, loops);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn node(&mut self, node: &Node, source: &Source<'_>, loops: &mut Loops) -> Flow {
        match node {
            Node::Skipped { at, why } => {
                self.note(source.place(*at), why);
                Flow::Next
            }
            Node::Block { commands, redirected } => {
                let output = pieces(&without_unset(redirected).0).output;
                let Some(output) = output else { return self.all(commands, source, loops) };
                let before = self.output.replace(output);
                let flow = self.all(commands, source, loops);
                self.output = before;
                flow
            }
            Node::If { at, condition, then, otherwise } => {
                let holds = self.holds(condition, source.place(*at), loops);
                match (holds, otherwise) {
                    (Ok(true), _) => self.node(then, source, loops),
                    (Ok(false), Some(otherwise)) => self.node(otherwise, source, loops),
                    (Ok(false), None) => Flow::Next,
                    (Err(why), _) => self.fails(source.place(*at), why),
                }
            }
            Node::For { at, variable, list, body } => {
                let place = source.place(*at);
                let values = match self.list(list, place, loops) {
                    Ok(values) => values,
                    Err(why) => return self.fails(place, why),
                };
                for value in values {
                    if self.take(place, &value).is_none() {
                        return Flow::Exit;
                    }
                    loops.push((*variable, value));
                    let flow = self.node(body, source, loops);
                    loops.pop();
                    if flow != Flow::Next {
                        return flow;
                    }
                }
                Flow::Next
            }
            Node::Simple { at, text, piped } => {
                let place = source.place(*at);
                if *piped {
                    let why = "what comes after `|` is skipped: no other program is started";
                    self.note(place, why);
                }
                match self.filled(text, loops) {
                    Ok(text) => self.simple(&text, place),
                    Err(why) => self.fails(place, why),
                }
            }
        }
    }

    /// A text with the values of the loops and of `!NAME!`.
    fn filled(&self, text: &str, loops: &Loops) -> Result<String, &'static str> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('%') {
            out.push_str(before);
            let bare = after.strip_prefix('~').unwrap_or(after);
            let variable = bare.chars().next();
            let value = loops.iter().rev().find(|(name, _)| Some(*name) == variable);
            rest = if let (Some((_, value)), Some(name)) = (value, variable) {
                let bare_value = value.trim_matches('"');
                out.push_str(if bare == after { value } else { bare_value });
                bare.get(name.len_utf8()..).unwrap_or_default()
            } else {
                out.push('%');
                after
            };
            if out.len() > LINE_BYTES_MAX {
                return Err(TOO_LONG);
            }
        }
        out.push_str(rest);
        if self.delayed { self.values.delayed(&out) } else { Ok(out) }
    }

    /// The values that a loop goes over.
    fn list(
        &mut self,
        list: &List,
        place: Place,
        loops: &Loops,
    ) -> Result<Vec<String>, &'static str> {
        match list {
            List::Words(words) => {
                let words = without_unset(&self.filled(words, loops)?).0;
                let words: Vec<String> = parted(&words);
                let (files, words): (Vec<String>, Vec<String>) =
                    words.into_iter().partition(|word| word.contains(['*', '?']));
                for file in files {
                    let why = format!("`{file}`: a loop over files finds none here");
                    self.note(place, &why);
                }
                Ok(words)
            }
            List::Numbers(numbers) => {
                let numbers = without_unset(&self.filled(numbers, loops)?).0;
                let numbers: Vec<i64> =
                    numbers.split([',', ' ']).filter_map(|n| n.trim().parse().ok()).collect();
                let [first, step, end] = numbers[..] else {
                    self.note(place, "`for /L` has not three numbers; it is skipped");
                    return Ok(Vec::new());
                };
                if step == 0 {
                    return Err("`for /L` with a step of 0 does not end");
                }
                let mut found = Vec::new();
                let mut number = first;
                let within = |n: i64| if step > 0 { n <= end } else { n >= end };
                while within(number) {
                    found.push(number.to_string());
                    if found.len() > super::COMMANDS_MAX as usize {
                        break;
                    }
                    let Some(next) = number.checked_add(step) else { break };
                    number = next;
                }
                Ok(found)
            }
        }
    }

    fn holds(
        &mut self,
        condition: &Condition,
        place: Place,
        loops: &Loops,
    ) -> Result<bool, &'static str> {
        let text = |text: &str| self.filled(text, loops).map(|text| without_unset(&text).0);
        let found = match &condition.asks {
            Asks::Defined(name) => without_unset(&self.values.variable(&text(name)?)).1.is_none(),
            Asks::Exists(name) => {
                let found = (self.values.around.exists)(text(name)?.trim_matches('"'));
                let what = "`if exist` is answered as it is before the batch begins";
                self.note(place, what);
                found
            }
            // Every command is taken to succeed.
            Asks::ErrorLevel(level) => text(level)?.trim().parse::<i64>().is_ok_and(|l| l <= 0),
            Asks::Compares { left, how, right } => {
                let (mut left, mut right) = (text(left)?, text(right)?);
                if condition.ignore_case {
                    (left, right) = (left.to_lowercase(), right.to_lowercase());
                }
                let order = match (left.trim().parse::<i64>(), right.trim().parse::<i64>()) {
                    (Ok(left), Ok(right)) if how != "==" => left.cmp(&right),
                    _ => left.cmp(&right),
                };
                match how.as_str() {
                    "==" | "equ" => order.is_eq(),
                    "neq" => order.is_ne(),
                    "lss" => order.is_lt(),
                    "leq" => order.is_le(),
                    "gtr" => order.is_gt(),
                    _ => order.is_ge(),
                }
            }
        };
        Ok(found != condition.negated)
    }

    /// A command without blocks in it.
    fn simple(&mut self, text: &str, place: Place) -> Flow {
        if self.take(place, text).is_none() {
            return Flow::Exit;
        }
        let word = first_word(text);
        let rest = text.get(word.len()..).unwrap_or_default();
        match word.as_str() {
            "set" => self.set(rest, place),
            "goto" => {
                let label = without_unset(rest).0;
                return Flow::Goto(label.trim().trim_start_matches(':').to_ascii_lowercase());
            }
            "exit" => {
                let returns = rest.trim_start().to_ascii_lowercase().starts_with("/b");
                return if returns { Flow::Return } else { Flow::Exit };
            }
            "shift" => {
                if !self.values.arguments.is_empty() {
                    self.values.arguments.remove(0);
                }
            }
            "setlocal" => {
                let asked = rest.to_ascii_lowercase();
                self.delayed |= asked.contains("enabledelayedexpansion");
                self.delayed &= !asked.contains("disabledelayedexpansion");
            }
            "call" if rest.trim_start().starts_with(':') => return self.call(rest.trim(), place),
            _ => return self.step(text, place),
        }
        Flow::Next
    }

    /// Runs the commands from a label on, for `call :label words`.
    fn call(&mut self, target: &str, place: Place) -> Flow {
        let words = pieces(&without_unset(target).0).words;
        let Some((label, arguments)) = words.split_first() else { return Flow::Next };
        let label = label.trim_start_matches(':').to_ascii_lowercase();
        let Some(line) = self.labels.get(&label).copied() else {
            self.note(place, &format!("there is no label `:{label}`; the call is skipped"));
            return Flow::Next;
        };
        if self.calls >= CALLS_MAX {
            let why = format!("`call` is more than {CALLS_MAX} deep: it calls itself without end");
            return self.fails(place, &why);
        }
        let own = std::mem::replace(&mut self.values.arguments, arguments.to_vec());
        self.calls += 1;
        let flow = self.from(line);
        self.calls -= 1;
        self.values.arguments = own;
        if flow == Flow::Exit { Flow::Exit } else { Flow::Next }
    }

    fn step(&mut self, text: &str, place: Place) -> Flow {
        let Pieces { words, plain, output, notes } = pieces(text);
        let calls_sqlio = words.iter().any(|word| is_sqlio(&without_unset(word).0));
        let program = words.iter().position(|word| is_sqlio(&without_unset(word).0));
        let asked = words.get(program.map_or(0, |at| at + 1)..).unwrap_or_default();
        let file = output.iter().filter_map(|output| output.file.as_ref());
        let unset = asked.iter().chain(file).find_map(|word| without_unset(word).1);
        let clean = |text: String| without_unset(&text).0;
        let words = words.into_iter().map(clean).collect();
        let pieces = Pieces { words, plain: clean(plain), output, notes };
        match does(&pieces) {
            Does::Nothing => return Flow::Next,
            Does::Skipped(why) => {
                self.note(place, &why);
                return Flow::Next;
            }
            Does::Step(Action::Call(_)) if calls_sqlio && unset.is_some() => {
                let why = unset_words(&unset.unwrap_or_default());
                if self.noted.insert((place, why.clone())) {
                    self.fails(place, &why);
                }
                return Flow::Next;
            }
            Does::Step(action) => {
                for note in &pieces.notes {
                    self.note(place, note);
                }
                let (line, column) = place;
                let output = pieces
                    .output
                    .map(|output| Output { file: output.file.map(clean), append: output.append });
                let output = output.or_else(|| self.output.clone());
                if let Some(of_block) = &mut self.output {
                    // A block opens its file once.
                    of_block.append = true;
                }
                self.script.steps.push(Step { line, column, action, output });
            }
        }
        Flow::Next
    }

    /// Runs `set NAME=VALUE` and `set /a NAME=1+2`.
    fn set(&mut self, rest: &str, place: Place) {
        let rest = without_unset(rest).0;
        let rest = rest.trim();
        let lower = rest.to_ascii_lowercase();
        if lower.starts_with("/a") {
            let asked = rest.get(2..).unwrap_or_default().trim().trim_matches('"').to_owned();
            return asked.split(',').for_each(|part| self.set_number(part, place));
        }
        if lower.starts_with("/p") {
            self.note(place, "`set /p` is skipped: nothing here waits for an answer");
            return;
        }
        let rest = rest.strip_prefix('"').map_or(rest, |r| r.rsplit_once('"').map_or(r, |p| p.0));
        let plain = rest.split_once('=').filter(|(name, _)| !name.trim().is_empty());
        let Some((name, value)) = plain else {
            self.note(place, "a `set` that only shows variables is skipped");
            return;
        };
        self.values.variables.insert(name.trim().to_ascii_uppercase(), value.to_owned());
    }

    fn set_number(&mut self, text: &str, place: Place) {
        let parted = text.split_once('=').map(|(name, value)| (name.trim(), value));
        let (name, value) = parted.unwrap_or_default();
        let (name, value) = match name.strip_suffix(['+', '-', '*', '/', '%']) {
            Some(own) => {
                let sign = name.get(own.len()..).unwrap_or_default();
                (own.trim(), format!("{}{sign}({value})", own.trim()))
            }
            None => (name, value.to_owned()),
        };
        let known = |name: &str| without_unset(&self.values.variable(name)).0.parse().ok();
        let number = arithmetic::value(&value, &known).filter(|_| !name.is_empty());
        if let Some(number) = number {
            self.values.variables.insert(name.to_ascii_uppercase(), number.to_string());
        } else {
            let why = format!("`set /a {text}` is not understood; it is skipped");
            self.note(place, &why);
        }
    }
}
