//! What a request asks for, by name. An empty value is one that was not given: forms send every
//! field.

use form_urlencoded::{Serializer, parse};

/// The parameters of a request, in the order of the address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads the part of an address after `?`. Anything that is not UTF-8 is replaced.
    pub(crate) fn of(query: Option<&str>) -> Self {
        let pairs = parse(query.unwrap_or_default().as_bytes());
        let pairs = pairs.map(|(name, value)| (name.into_owned(), value.trim().to_owned()));
        Self(pairs.filter(|(_, value)| !value.is_empty()).collect())
    }

    /// The first value of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The same as an owned text; empty without a value.
    pub(crate) fn text(&self, name: &str) -> String {
        self.get(name).unwrap_or_default().to_owned()
    }

    /// Every value that this name has.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// An address of `path` with these parameters, the named ones replaced; an empty value takes
    /// one away.
    pub(crate) fn address(&self, path: &str, changes: &[(&str, &str)]) -> String {
        let mut query = Serializer::new(String::new());
        let replaced = |name: &str| changes.iter().any(|(n, _)| *n == name);
        query.extend_pairs(self.0.iter().filter(|(name, _)| !replaced(name)));
        query.extend_pairs(changes.iter().filter(|(_, value)| !value.is_empty()));
        let query = query.finish();
        if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
    }
}

/// The first value of this name in a query, as it is.
pub(crate) fn first(query: &str, name: &str) -> Option<String> {
    parse(query.as_bytes()).find(|(n, _)| n == name).map(|(_, value)| value.into_owned())
}

/// A query without the parameters of this name.
pub(crate) fn without(query: &str, name: &str) -> String {
    let rest = parse(query.as_bytes()).filter(|(n, _)| n != name);
    Serializer::new(String::new()).extend_pairs(rest).finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_change_replaces_takes_away_and_keeps_the_rest() {
        let asked = Parameters::of(Some("host=db7&page=3&tag=&with=a&with=b"));
        assert_eq!(asked.get("host"), Some("db7"));
        assert_eq!(asked.get("tag"), None, "forms send empty fields");
        assert_eq!(asked.all("with").collect::<Vec<_>>(), ["a", "b"]);
        let to = asked.address("/", &[("page", ""), ("host", "a&b"), ("order", "iops")]);
        assert_eq!(to, "/?with=a&with=b&host=a%26b&order=iops");
        assert_eq!(Parameters::default().address("/trends", &[]), "/trends");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(value in "\\PC{1,30}", other in "\\PC{0,30}") {
            let asked = Parameters::of(Some(&format!("x={other}")));
            let to = asked.address("/", &[("y", &value)]);
            let again = Parameters::of(to.split_once('?').map(|(_, query)| query));
            prop_assert_eq!(again.text("y"), value.trim());
        }

        #[test]
        fn no_query_is_a_panic(query in any::<String>()) {
            let asked = Parameters::of(Some(&query));
            let _ = (asked.address("/", &[]), first(&query, "token"), without(&query, "token"));
        }

        #[test]
        fn nothing_of_the_token_is_left(query in "[a-z&=%0-9]{0,40}", token in "[!-~]{16,20}") {
            let with = Serializer::new(query).append_pair("token", &token).finish();
            prop_assert_eq!(first(&without(&with, "token"), "token"), None);
        }
    }
}
