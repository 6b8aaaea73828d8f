//! Whole numbers of `set /a`: `+ - * / %`, parentheses, names of variables.

/// How deep parentheses may be in one another.
const DEPTH_MAX: usize = 50;

/// The value of an expression; `None` if it is not understood. `value` looks up a name.
pub(super) fn value(text: &str, value: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    let text: String = text.chars().filter(|c| !c.is_whitespace() && *c != '"').collect();
    let mut reader = Reader { rest: &text, value, depth: 0 };
    let found = reader.sum()?;
    reader.rest.is_empty().then_some(found)
}

struct Reader<'a> {
    rest: &'a str,
    value: &'a dyn Fn(&str) -> Option<i64>,
    depth: usize,
}

impl Reader<'_> {
    fn next_of(&mut self, of: &str) -> Option<char> {
        let c = self.rest.chars().next().filter(|c| of.contains(*c))?;
        self.rest = self.rest.get(c.len_utf8()..)?;
        Some(c)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut sum = self.product()?;
        while let Some(sign) = self.next_of("+-") {
            let next = self.product()?;
            sum = if sign == '+' { sum.checked_add(next)? } else { sum.checked_sub(next)? };
        }
        Some(sum)
    }

    fn product(&mut self) -> Option<i64> {
        let mut product = self.factor()?;
        while let Some(sign) = self.next_of("*/%") {
            let next = self.factor()?;
            product = match sign {
                '*' => product.checked_mul(next)?,
                '/' => product.checked_div(next)?,
                _ => product.checked_rem(next)?,
            };
        }
        Some(product)
    }

    fn factor(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let found = if self.next_of("-").is_some() {
            self.factor()?.checked_neg()
        } else if self.next_of("(").is_some() {
            let inside = self.sum()?;
            self.next_of(")").map(|_| inside)
        } else {
            self.name_or_number()
        };
        self.depth -= 1;
        found
    }

    fn name_or_number(&mut self) -> Option<i64> {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let hex = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
            return hex.map_or_else(|| word.parse().ok(), |h| i64::from_str_radix(h, 16).ok());
        }
        // As `cmd`: a name that is not set is 0.
        (!word.is_empty()).then(|| (self.value)(word).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Option<i64> {
        value(text, &|name| (name == "n").then_some(8))
    }

    #[test]
    fn numbers_are_those_of_cmd() {
        for (text, number) in [
            ("n*2", Some(16)),
            ("1 + 2 * (n - 3) / 2", Some(6)),
            ("-7 %% 4", None),
            ("-7 % 4", Some(-3)),
            ("0x10+nowhere", Some(16)),
            ("1/0", None),
            ("9223372036854775807+1", None),
            ("(1", None),
            ("", None),
            ("1<<2", None),
        ] {
            assert_eq!(of(text), number, "{text}");
        }
        assert_eq!(of(&"(".repeat(100_000)), None);
        assert_eq!(of(&"-".repeat(100_000)), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "[0-9n+*/%() -]{0,40}|.{0,20}") {
            of(&text);
        }
    }
}
