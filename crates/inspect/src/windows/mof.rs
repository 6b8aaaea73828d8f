//! What the management service of Windows (WMI) answers: instances of classes, as text in the
//! Managed Object Format of DMTF DSP0004. Each instance tells its values as
//! `instance of CLASS { NAME = VALUE; … };`, and a value may be an instance or a list.

use std::fmt::Write as _;

/// Deeper nesting is not from a class that is asked for.
const DEPTH_MOST: usize = 8;

/// An instance of a class with the values that it tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Instance {
    pub(crate) class: String,
    values: Vec<(String, Value)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    /// A number, `TRUE` or `FALSE`.
    Word(String),
    /// What is in quotation marks: texts, and numbers of 64 bits.
    Text(String),
    List(Vec<Value>),
    Instance(Instance),
}

impl Instance {
    fn value(&self, name: &str) -> Option<&Value> {
        let mut values = self.values.iter();
        values.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// A text, a number or a truth value as it is written.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Value::Word(text) | Value::Text(text) => Some(text),
            Value::List(_) | Value::Instance(_) => None,
        }
    }

    /// A whole number that is not negative.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| text.eq_ignore_ascii_case("TRUE"))
    }

    /// The instance that a value is, or the instances of a list.
    pub(crate) fn instances(&self, name: &str) -> Vec<&Instance> {
        fn of(value: &Value) -> Option<&Instance> {
            match value {
                Value::Instance(instance) => Some(instance),
                _ => None,
            }
        }
        match self.value(name) {
            Some(Value::List(values)) => values.iter().filter_map(of).collect(),
            Some(value) => of(value).into_iter().collect(),
            None => Vec::new(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Mark(char),
}

/// All instances of an answer. What does not belong to one is passed over.
pub(crate) fn instances(answer: &str) -> Vec<Instance> {
    let tokens = tokens(answer);
    let mut reader = Reader { rest: &tokens };
    let mut found = Vec::new();
    while !reader.rest.is_empty() {
        match reader.instance(0) {
            Some(instance) => found.push(instance),
            None => reader.skip(),
        }
    }
    found
}

/// The words, texts and marks of an answer, without its qualifiers in `[]`.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut chars = text.chars().peekable();
    let mut brackets = 0_usize;
    while let Some(c) = chars.next() {
        let token = match c {
            '"' => Token::Text(quoted(&mut chars)),
            '[' | ']' => {
                brackets =
                    if c == '[' { brackets.saturating_add(1) } else { brackets.saturating_sub(1) };
                continue;
            }
            '{' | '}' | '=' | ';' | ',' => Token::Mark(c),
            c if c.is_whitespace() => continue,
            c => {
                let mut word = String::from(c);
                let ends = |c: &char| c.is_whitespace() || "\"[]{}=;,".contains(*c);
                while let Some(c) = chars.next_if(|c| !ends(c)) {
                    word.push(c);
                }
                Token::Word(word)
            }
        };
        if brackets == 0 {
            found.push(token);
        }
    }
    found
}

/// The rest of a text after its first quotation mark.
fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some(c) => text.push(c),
                None => break,
            },
            c => text.push(c),
        }
    }
    text
}

struct Reader<'a> {
    rest: &'a [Token],
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a Token> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn skip(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// Takes this mark if it is next.
    fn takes(&mut self, mark: char) -> bool {
        let is_next = self.rest.first() == Some(&Token::Mark(mark));
        if is_next {
            self.skip();
        }
        is_next
    }

    /// Takes this word if it is next.
    fn takes_word(&mut self, expected: &str) -> bool {
        let is_next =
            matches!(self.rest.first(), Some(Token::Word(w)) if w.eq_ignore_ascii_case(expected));
        if is_next {
            self.skip();
        }
        is_next
    }

    /// `instance of CLASS { … }`. What was read of an instance that is cut off is kept.
    fn instance(&mut self, depth: usize) -> Option<Instance> {
        if depth > DEPTH_MOST || !self.takes_word("instance") || !self.takes_word("of") {
            return None;
        }
        let Some(Token::Word(class)) = self.next() else { return None };
        let mut instance = Instance { class: class.clone(), values: Vec::new() };
        if !self.takes('{') {
            return None;
        }
        while !self.rest.is_empty() && !self.takes('}') {
            let Some(Token::Word(name)) = self.next() else { continue };
            if self.takes('=')
                && let Some(value) = self.value(depth)
            {
                instance.values.push((name.clone(), value));
            }
        }
        Some(instance)
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEPTH_MOST {
            return None;
        }
        match self.rest.first()? {
            Token::Word(word) if word.eq_ignore_ascii_case("instance") => {
                self.instance(depth + 1).map(Value::Instance)
            }
            Token::Word(word) => {
                self.skip();
                (!word.eq_ignore_ascii_case("NULL")).then(|| Value::Word(word.clone()))
            }
            Token::Text(_) => {
                let mut whole = String::new();
                // Texts that follow one another are one.
                while let Some(Token::Text(text)) = self.rest.first() {
                    whole.push_str(text);
                    self.skip();
                }
                Some(Value::Text(whole))
            }
            Token::Mark('{') => {
                self.skip();
                let mut list = Vec::new();
                while !self.rest.is_empty() && !self.takes('}') {
                    match self.value(depth + 1) {
                        Some(value) => list.push(value),
                        None if self.rest.first() == Some(&Token::Mark('}')) => {}
                        None => self.skip(),
                    }
                }
                Some(Value::List(list))
            }
            Token::Mark(_) => None,
        }
    }
}

/// The same instances as a text, with another text in the place of each that is in quotation
/// marks; the function takes the name of the value and its text.
pub(crate) fn renamed(
    instances: &[Instance],
    rename: &mut impl FnMut(&str, &str) -> String,
) -> String {
    let mut text = String::new();
    for instance in instances {
        write_instance(&mut text, instance, rename);
        text.push_str(";\n");
    }
    text
}

// Writing into a string cannot fail.
fn write_instance(
    to: &mut String,
    instance: &Instance,
    rename: &mut impl FnMut(&str, &str) -> String,
) {
    let _ = writeln!(to, "instance of {}\n{{", instance.class);
    for (name, value) in &instance.values {
        let _ = write!(to, "\t{name} = ");
        write_value(to, name, value, rename);
        to.push_str(";\n");
    }
    to.push('}');
}

fn write_value(
    to: &mut String,
    name: &str,
    value: &Value,
    rename: &mut impl FnMut(&str, &str) -> String,
) {
    match value {
        Value::Word(word) => to.push_str(word),
        Value::Text(text) => {
            let escaped = rename(name, text).replace('\\', r"\\").replace('"', "\\\"");
            let _ = write!(to, "\"{escaped}\"");
        }
        Value::Instance(instance) => write_instance(to, instance, rename),
        Value::List(values) => {
            to.push('{');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    to.push_str(", ");
                }
                write_value(to, name, value, rename);
            }
            to.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANSWER: &str = r#"
[dynamic, provider("x;{")]
instance of DSM_QueryLBPolicy_V2
{
    Active = TRUE;
    InstanceName = "MPIO\\Disk&Ven_A\\1&2_0";
    LoadBalancePolicy =
instance of DSM_Load_Balance_Policy_V2
{
    DSMPathCount = 2;
    DSM_Paths = {
instance of MPIO_DSM_Path_V2
{
    DsmPathId = "1996554240"; FailedPath = 0;
},
instance of MPIO_DSM_Path_V2
{
    FailedPath = 1;
}};
    Nothing = NULL;
};
};
instance of MSFT_Disk { Number = 3; Status = {2, 5}; Name = "a \"b\"" " c"; };
"#;

    #[test]
    fn an_answer_is_read_with_what_is_in_it() {
        let found = instances(ANSWER);
        assert_eq!(found.len(), 2, "{found:?}");
        let policy = &found[0];
        assert_eq!(policy.class, "DSM_QueryLBPolicy_V2");
        assert!(policy.is_true("active") && !policy.is_true("InstanceName"));
        assert_eq!(policy.text("InstanceName"), Some(r"MPIO\Disk&Ven_A\1&2_0"));
        let inner = policy.instances("LoadBalancePolicy");
        assert_eq!((inner.len(), inner[0].number("DSMPathCount")), (1, Some(2)));
        assert_eq!(inner[0].text("Nothing"), None);
        let paths = inner[0].instances("DSM_Paths");
        assert_eq!(paths[0].number("DsmPathId"), Some(1_996_554_240));
        assert_eq!((paths.len(), paths[1].number("FailedPath")), (2, Some(1)));
        assert_eq!(
            (found[1].number("Number"), found[1].text("Name")),
            (Some(3), Some("a \"b\" c"))
        );
        assert_eq!(found[1].text("Status"), None);
    }

    #[test]
    fn texts_are_renamed_and_the_rest_stays() {
        let found = instances(ANSWER);
        let same = renamed(&found, &mut |_, text| text.to_owned());
        assert_eq!(instances(&same), found, "{same}");
        let without = renamed(&found, &mut |name, _| format!("of {name}"));
        assert!(!without.contains("Ven_A") && without.contains("of InstanceName"), "{without}");
    }

    #[test]
    fn an_answer_that_is_cut_or_nested_without_end_is_survived() {
        for length in (0..ANSWER.len()).filter(|length| ANSWER.is_char_boundary(*length)) {
            assert!(instances(&ANSWER[..length]).len() <= 2);
        }
        let deep = "instance of A { B = ".repeat(10_000);
        assert!(!instances(&deep).is_empty());
        let lists = format!("instance of A {{ B = {}", "{".repeat(100_000));
        assert_eq!(instances(&lists).len(), 1);
    }

    proptest! {
        #[test]
        fn any_answer_is_survived(
            text in "(instance of|[A-C]| = |\\{|\\}|;|,|\"|\\\\|\\[|\\]|[0-9]| |\n){0,80}"
        ) {
            let found = instances(&text);
            let again = renamed(&found, &mut |_, text| text.to_owned());
            prop_assert_eq!(instances(&again).len(), found.len());
        }
    }
}
