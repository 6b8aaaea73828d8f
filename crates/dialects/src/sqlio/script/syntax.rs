//! The commands of a line, or of a block over several lines.

use super::source::first_word;

/// How deep blocks, loops and conditions may be in one another.
const DEPTH_MAX: usize = 40;

/// A command. `at` is the byte where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// A command that is done as written. The commands that its output is piped into are left out.
    Simple { at: usize, text: String, piped: bool },
    /// `( … )`, and where its output goes.
    Block { commands: Vec<Node>, redirected: String },
    /// `for %i in (…) do …`
    For { at: usize, variable: char, list: List, body: Box<Node> },
    /// A condition: `if … … else …`.
    If { at: usize, condition: Condition, then: Box<Node>, otherwise: Option<Box<Node>> },
    /// A part that is skipped, and why.
    Skipped { at: usize, why: String },
}

/// The list that a loop goes over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum List {
    /// Words, separated by blanks, `,`, `;` or `=`.
    Words(String),
    /// Numbers of `/L`: first, step, last.
    Numbers(String),
}

/// The condition of an `if`, with its switches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) negated: bool,
    pub(super) ignore_case: bool,
    pub(super) asks: Asks,
}

/// What the condition of an `if` tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asks {
    Exists(String),
    Defined(String),
    ErrorLevel(String),
    Compares { left: String, how: String, right: String },
}

/// The commands of a text, whatever it is.
pub(super) fn commands(text: &str) -> Vec<Node> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let mut found = Vec::new();
    while parser.at < text.len() {
        found.extend(parser.sequence(false));
        // A parenthesis that closes nothing.
        parser.at = (parser.at + 1).min(text.len());
    }
    found
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, what: &[char]) {
        self.at += self.rest().len() - self.rest().trim_start_matches(what).len();
    }

    fn blanks(&mut self) {
        self.skip(&[' ', '\t', ',', ';', '=']);
    }

    /// Takes these letters, whatever their case.
    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let is_there = first_word(rest) == word;
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    fn take(&mut self, mark: &str) -> bool {
        let is_there = self.rest().starts_with(mark);
        if is_there {
            self.at += mark.len();
        }
        is_there
    }

    /// Commands up to the end, or up to the parenthesis that closes the block.
    fn sequence(&mut self, inside: bool) -> Vec<Node> {
        let mut found = Vec::new();
        loop {
            self.skip(&[' ', '\t', '\n', '&', '@', ';', ',', '=']);
            if self.rest().is_empty() || self.rest().starts_with(')') {
                return found;
            }
            found.extend(self.command(inside));
            self.skip(&[' ', '\t']);
            // Every command is assumed to succeed, so the part after `||` is not done.
            while self.take("||") {
                self.blanks();
                self.command(inside);
                self.skip(&[' ', '\t']);
            }
        }
    }

    fn command(&mut self, inside: bool) -> Option<Node> {
        self.skip(&[' ', '\t', '@', ',', ';', '=']);
        let at = self.at;
        if self.depth >= DEPTH_MAX {
            self.line();
            let why = format!("blocks are more than {DEPTH_MAX} deep in one another");
            return Some(Node::Skipped { at, why });
        }
        self.depth += 1;
        let word = first_word(self.rest());
        let found = if self.take("(") {
            Some(self.block())
        } else if self.rest().starts_with(':') || word == "rem" {
            self.line();
            None
        } else if word == "for" {
            Some(self.for_loop(inside))
        } else if word == "if" {
            Some(self.condition(inside))
        } else {
            self.simple(inside)
        };
        self.depth -= 1;
        found
    }

    fn block(&mut self) -> Node {
        let commands = self.sequence(true);
        self.take(")");
        let from = self.at;
        self.skip(&[' ', '\t']);
        let digits = self.rest().trim_start_matches(['1', '2']);
        let redirected = if digits.starts_with('>') { self.until_separator(true) } else { "" };
        if redirected.is_empty() {
            self.at = from;
        }
        Node::Block { commands, redirected: redirected.to_owned() }
    }

    /// Skips the rest of the line.
    fn line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Takes a text up to what ends a command, outside of quotation marks.
    fn until_separator(&mut self, inside: bool) -> &'a str {
        let (mut quoted, mut escaped, mut before) = (false, false, ' ');
        let rest = self.rest();
        let mut end = rest.len();
        for (index, c) in rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\n' => {
                    end = index;
                    break;
                }
                '"' => quoted = !quoted,
                '^' if !quoted => escaped = true,
                // Of `2>&1`.
                '&' if !quoted && before == '>' => {}
                '&' | '|' if !quoted => {
                    end = index;
                    break;
                }
                ')' if !quoted && inside => {
                    end = index;
                    break;
                }
                _ => {}
            }
            before = c;
        }
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn simple(&mut self, inside: bool) -> Option<Node> {
        let at = self.at;
        let text = self.until_separator(inside).trim_end().to_owned();
        let mut piped = false;
        while self.rest().starts_with('|') && !self.rest().starts_with("||") {
            self.at += 1;
            piped = true;
            self.until_separator(inside);
        }
        (!text.is_empty()).then_some(Node::Simple { at, text, piped })
    }

    fn for_loop(&mut self, inside: bool) -> Node {
        let at = self.at;
        self.word("for");
        self.blanks();
        let option = self.rest().strip_prefix('/').and_then(|rest| rest.chars().next());
        let option = option.map(|c| c.to_ascii_uppercase());
        if option.is_some() {
            // The text before the variable belongs to `/F` and `/R`.
            let length = self.rest().find('%').unwrap_or(self.rest().len());
            self.at += length;
        }
        let Some((variable, list)) = self.head_of_loop() else {
            self.line();
            let why = "this `for` is not understood; it is skipped".to_owned();
            return Node::Skipped { at, why };
        };
        let body = self.command(inside);
        let list = match option {
            None => List::Words(list),
            Some('L') => List::Numbers(list),
            Some(option) => {
                let why = format!(
                    "`for /{option}` goes over what a shell finds in files and directories, and \
                     none is started here; the loop is skipped"
                );
                return Node::Skipped { at, why };
            }
        };
        let empty = Node::Block { commands: Vec::new(), redirected: String::new() };
        Node::For { at, variable, list, body: Box::new(body.unwrap_or(empty)) }
    }

    /// Reads the head of a loop, `%i in (…) do`.
    fn head_of_loop(&mut self) -> Option<(char, String)> {
        self.take("%").then_some(())?;
        let variable = self.rest().chars().next().filter(|c| !c.is_whitespace())?;
        self.at += variable.len_utf8();
        self.blanks();
        self.word("in").then_some(())?;
        self.skip(&[' ', '\t']);
        self.take("(").then_some(())?;
        let length = self.rest().find(')')?;
        let list = self.rest().get(..length)?.replace('\n', " ");
        self.at += length + 1;
        self.skip(&[' ', '\t']);
        self.word("do").then_some((variable, list))
    }

    fn condition(&mut self, inside: bool) -> Node {
        let at = self.at;
        self.word("if");
        let (mut negated, mut ignore_case) = (false, false);
        loop {
            self.skip(&[' ', '\t']);
            if self.take("/i") || self.take("/I") {
                ignore_case = true;
            } else if self.word("not") {
                negated = !negated;
            } else {
                break;
            }
        }
        let Some(asks) = self.question() else {
            self.line();
            let why = "this `if` is not understood; it is skipped".to_owned();
            return Node::Skipped { at, why };
        };
        self.skip(&[' ', '\t']);
        let is_block = self.rest().starts_with('(');
        let empty = || Node::Block { commands: Vec::new(), redirected: String::new() };
        let then = self.command(inside).unwrap_or_else(empty);
        let from = self.at;
        self.skip(&[' ', '\t']);
        let otherwise = if is_block && self.word("else") {
            Some(self.command(inside).unwrap_or_else(empty))
        } else {
            self.at = from;
            None
        };
        let condition = Condition { negated, ignore_case, asks };
        Node::If { at, condition, then: Box::new(then), otherwise: otherwise.map(Box::new) }
    }

    fn question(&mut self) -> Option<Asks> {
        for (word, asks) in [
            ("exist", Asks::Exists as fn(String) -> Asks),
            ("defined", Asks::Defined),
            ("errorlevel", Asks::ErrorLevel),
        ] {
            let from = self.at;
            if self.word(word) && self.rest().starts_with([' ', '\t']) {
                self.skip(&[' ', '\t']);
                return self.operand().map(asks);
            }
            self.at = from;
        }
        let left = self.operand()?;
        self.skip(&[' ', '\t']);
        let how = if self.take("==") {
            "==".to_owned()
        } else {
            let how = first_word(self.rest());
            ["equ", "neq", "lss", "leq", "gtr", "geq"].contains(&how.as_str()).then_some(())?;
            self.at += how.len();
            how
        };
        self.skip(&[' ', '\t']);
        let right = self.operand()?;
        Some(Asks::Compares { left, how, right })
    }

    /// A word, with the quotation marks around it.
    fn operand(&mut self) -> Option<String> {
        let (mut quoted, rest) = (false, self.rest());
        let mut end = rest.len();
        for (index, c) in rest.char_indices() {
            let ends = c.is_whitespace() || rest.get(index..).is_some_and(|r| r.starts_with("=="));
            if c == '\n' || (ends || c == '(') && !quoted {
                end = index;
                break;
            }
            quoted ^= c == '"';
        }
        self.at += end;
        (end > 0).then(|| rest.get(..end).unwrap_or_default().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn simple(text: &str) -> Vec<String> {
        let text_of = |node| match node {
            Node::Simple { text, .. } => Some(text),
            _ => None,
        };
        commands(text).into_iter().filter_map(text_of).collect()
    }

    #[test]
    fn commands_are_parted_as_in_a_shell() {
        assert_eq!(simple("a 1 & b 2 && c || d & e"), ["a 1", "b 2", "c", "e"]);
        assert_eq!(
            simple("a \"x & y\" ^& z 2>&1 | more | find \"q\" & b"),
            ["a \"x & y\" ^& z 2>&1", "b"]
        );
        assert_eq!(simple("rem a & b\n:label c\n@d"), ["d"]);
    }

    #[test]
    fn blocks_loops_and_conditions_hold_commands() {
        let found = commands("for %i in (1 2) do (a %i\nb) >> x.txt & c");
        let [Node::For { variable: 'i', list: List::Words(list), body, .. }, Node::Simple { .. }] =
            found.as_slice()
        else {
            panic!("{found:?}")
        };
        assert_eq!(list, "1 2");
        assert!(matches!(&**body, Node::Block { commands, redirected }
            if commands.len() == 2 && redirected == ">> x.txt "));
        let found = commands("if /i not \"a b\"==\"c\" (a) else if exist \"x y\" b else c");
        let [Node::If { condition, otherwise: Some(otherwise), .. }] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert!(condition.negated && condition.ignore_case);
        assert!(matches!(&**otherwise, Node::If { condition, otherwise: None, .. }
            if condition.asks == Asks::Exists("\"x y\"".to_owned())));
        assert!(matches!(commands("for %i in 1 do x")[..], [Node::Skipped { .. }]));
        assert!(matches!(commands("for /F \"x\" %i in (y) do x")[..], [Node::Skipped { .. }]));
        assert!(matches!(commands(&"(".repeat(5000))[..], [Node::Block { .. }]));
    }

    proptest! {
        #[test]
        fn nothing_panics(
            text in "(for |if |in |do |else |exist |not |%i |[()&|^\"=> \n/La1é]){0,60}",
        ) {
            commands(&text);
        }
    }
}
