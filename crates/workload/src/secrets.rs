//! Recognises connection strings and the passwords in them, so that none becomes the name of a
//! file or is printed.
//!
//! People paste connection strings where a path is expected. The text is then refused and not
//! repeated. In doubt it is refused: a path can begin with `./`, but a printed password cannot be
//! taken back.

use std::borrow::Cow;
use std::net::Ipv4Addr;

/// What stands in place of a secret.
const CONCEALED: &str = "***";

/// Schemes of databases and queues in URLs. The text after them may contain a password, whatever
/// the punctuation.
const SERVERS: &str = "\
    amqp amqps cassandra clickhouse cockroachdb couchdb db2 firebird hana informix jdbc \
    mariadb mongodb mssql mysql mysqlx nats odbc oledb oracle pgsql postgres postgresql psql \
    redis rediss redshift snowflake sqlserver sybase tds vertica";

/// Endings of keys whose values are secret: `Password`, `AccountKey`, `auth_token` …
const SECRET_ENDINGS: &str = "\
    accesskey accountkey apikey authkey credentials kennwort passcode passphrase passwd \
    password passwort privatekey pwd secret secretkey token";

/// Whole keys whose values are secret.
const SECRET_KEYS: &str = "authorization bearer pass pw sig";

/// Keys whose values are also secret after a `:`.
const PLAIN_KEYS: &str = "passphrase passwd password pwd";

/// Keys of connection strings of libpq, ADO and ODBC, without spaces and `_`.
const CONNECTION_KEYS: &str = "\
    addr address connecttimeout database datasource dbname driver dsn encrypt host \
    initialcatalog integratedsecurity passfile port provider server service sslmode \
    trustedconnection uid user userid username";

/// How many times a text may be percent-encoded: twice in a URL within a URL.
const ENCODINGS: usize = 2;

/// Whether a text is the address of a server and not a path: a URL, or a list of keys and values,
/// with or without a password.
#[must_use]
pub fn is_connection(text: &str) -> bool {
    holds_secret(text)
        || readings(text).iter().any(|text| {
            let text = text.trim_start_matches(is_wrapping);
            is_url(text) || scheme(text).is_some_and(|(name, _)| is_server(name)) || is_list(text)
        })
}

/// Whether a text may contain a password: the login of a URL, or the value of a key such as
/// `password`.
#[must_use]
pub fn holds_secret(text: &str) -> bool {
    readings(text).iter().any(|text| {
        secret_values(text).next().is_some()
            || logins(text).next().is_some()
            || words(text).any(is_login_without_scheme)
    })
}

/// The directory in which a text would be a file, if it also has the form of Oracle's logins:
/// `user/password@host`. The caller knows whether there is such a directory.
#[must_use]
pub fn login_like_path(text: &str) -> Option<&str> {
    let (user, rest) = text.trim_matches(is_wrapping).split_once('/')?;
    let (password, host) = rest.rsplit_once('@')?;
    let is_name = |c: char| c.is_alphanumeric() || "_$#.[]\"-".contains(c);
    let is_login = user.starts_with(char::is_alphabetic)
        && user.chars().all(is_name)
        && password.chars().count() > 1
        && !password.contains('/')
        && is_host(host.trim_start_matches('/'));
    is_login.then_some(user)
}

/// Whether a text begins as the name or address of a host. Numbers and dates, such as the end of
/// `run@2024/a`, do not.
fn is_host(text: &str) -> bool {
    let end = text.find([':', '/']).unwrap_or(text.len());
    text.starts_with(|c: char| c.is_alphabetic() || "[(".contains(c))
        || text.get(..end).is_some_and(|address| address.parse::<Ipv4Addr>().is_ok())
}

/// The text with `***` in place of possible passwords: for text that cannot be refused, such as the
/// error of a library.
#[must_use]
pub fn concealed(text: &str) -> Cow<'_, str> {
    let parts = places(text);
    if parts.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut at) = (String::new(), 0);
    for (from, to) in parts {
        if from >= at {
            shown.push_str(text.get(at..from).unwrap_or_default());
            shown.push_str(CONCEALED);
        }
        at = at.max(to);
    }
    shown.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(shown)
}

/// The bytes of a text with `x` for each byte of a possible password, where the length must stay.
#[must_use]
pub fn masked(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (from, to) in places(text) {
        bytes.iter_mut().take(to).skip(from).for_each(|byte| *byte = b'x');
    }
    bytes
}

/// Ranges of possible passwords, in order.
fn places(text: &str) -> Vec<(usize, usize)> {
    if !text.contains(['@', '=', '%', ':']) {
        return Vec::new();
    }
    let mut parts: Vec<(usize, usize)> = secret_values(text).chain(logins(text)).collect();
    for word in words(text).filter(|word| is_login_without_scheme(word)) {
        let at = word.as_ptr().addr() - text.as_ptr().addr();
        parts.push((at, at + word.len()));
    }
    if parts.is_empty() {
        // An encoded password cannot be cut out of its word.
        for word in words(text).filter(|word| word.contains('%') && holds_secret(word)) {
            let at = word.as_ptr().addr() - text.as_ptr().addr();
            parts.push((at, at + word.len()));
        }
    }
    parts.sort_unstable();
    parts
}

/// The text, and the text decoded once or more.
fn readings(text: &str) -> Vec<Cow<'_, str>> {
    let mut all = vec![Cow::Borrowed(text)];
    for _ in 0..ENCODINGS {
        let Some(decoded) = all.last().and_then(|last| decoded(last)) else { break };
        all.push(Cow::Owned(decoded));
    }
    all
}

/// The text with each `%XX` as its character; `None` if there is none.
fn decoded(text: &str) -> Option<String> {
    let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (bytes, mut found) = (text.as_bytes(), false);
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        if let (b'%', Some(high), Some(low)) =
            (byte, hex(bytes.get(at + 1)), hex(bytes.get(at + 2)))
        {
            out.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            (at, found) = (at + 3, true);
        } else {
            out.push(*byte);
            at += 1;
        }
    }
    found.then(|| String::from_utf8_lossy(&out).into_owned())
}

/// Whether a character is put around words by people and shells.
fn is_wrapping(c: char) -> bool {
    c.is_whitespace() || "\"'`<>()[]{}".contains(c)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"'`<>".contains(c)).filter(|word| !word.is_empty())
}

/// The scheme before the first `:`, and what follows. Drives of Windows have one letter.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let is_scheme = name.len() > 1
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "+.-_".contains(c));
    is_scheme.then_some((name, rest))
}

/// Whether a scheme is that of a database or queue, alone or with others: `postgresql+ssl`.
fn is_server(scheme: &str) -> bool {
    scheme.to_ascii_lowercase().split('+').any(|part| SERVERS.split(' ').any(|name| name == part))
}

/// Whether what is before the `@` of such a URL is the name of a user. Elsewhere it may be a token.
fn shows_user(scheme: &str) -> bool {
    let name = scheme.to_ascii_lowercase();
    ["postgres", "mysql", "mariadb", "sqlserver", "mssql"].iter().any(|ours| name.starts_with(ours))
}

fn is_url(text: &str) -> bool {
    scheme(text).is_some_and(|(_, rest)| rest.starts_with("//") || rest.starts_with("\\\\"))
}

/// Whether a text is a list of keys and values as drivers take it.
fn is_list(text: &str) -> bool {
    // A key after a blank follows the previous value.
    let is_known = |key: &str| CONNECTION_KEYS.split(' ').any(|known| key.ends_with(known));
    let known = keys(text, '=').filter(|(key, _)| is_known(key));
    known.count() > 1
}

/// Each key before a sign such as `=`, as it is compared, and the place after the sign.
fn keys(text: &str, sign: char) -> impl Iterator<Item = (String, usize)> {
    text.match_indices(sign).filter_map(|(at, _)| {
        let before = text.get(..at)?.trim_end_matches(|c: char| c.is_whitespace() || c == '"');
        let is_part = |c: char| c.is_alphanumeric() || "_-. ".contains(c);
        let key = before.rsplit(|c: char| !is_part(c)).next()?;
        let directory = before.strip_suffix(key)?.ends_with(['/', '\\']);
        let plain = |c: &char| c.is_alphanumeric();
        let key: String = key.chars().filter(plain).flat_map(char::to_lowercase).collect();
        (!key.is_empty() && !directory).then_some((key, at + 1))
    })
}

/// Ranges of values with secret keys.
fn secret_values(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let is_secret = |key: &str| {
        SECRET_KEYS.split(' ').any(|known| key == known)
            || SECRET_ENDINGS.split(' ').any(|ending| key.ends_with(ending))
    };
    let with_equals = keys(text, '=').filter(move |(key, _)| is_secret(key));
    // `password: …`, as in JSON and YAML.
    let is_plain = |key: &str| PLAIN_KEYS.split(' ').any(|known| key == known);
    let with_colon = keys(text, ':').filter(move |(key, _)| is_plain(key));
    with_equals.chain(with_colon).filter_map(|(_, at)| {
        let value = text.get(at..)?;
        let from = at + (value.len() - value.trim_start().len());
        let value = value.trim_start();
        let length = match value.chars().next()? {
            '{' => value.find('}').map_or(value.len(), |end| end + 1),
            quote @ ('"' | '\'') => value.get(1..)?.find(quote).map_or(value.len(), |end| end + 2),
            // A value may contain blanks: the words after it are concealed, too.
            _ => value.find(|c: char| ";\"'`<>\n".contains(c)).unwrap_or(value.len()),
        };
        (length > 0).then_some((from, from + length))
    })
}

/// Ranges of logins in URLs: from after the slashes to before the `@`.
fn logins(text: &str) -> impl Iterator<Item = (usize, usize)> {
    text.match_indices(':').filter_map(|(colon, _)| {
        let before = text.get(..colon)?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+.-_".contains(c);
        let name = before.rsplit(|c| !is_part(c)).next()?;
        let rest = text.get(colon + 1..)?;
        let slashes = rest.len() - rest.trim_start_matches(['/', '\\']).len();
        let (from, rest) = (colon + 1 + slashes, rest.get(slashes..)?);
        let length = if is_server(name) {
            login_of_server(rest, shows_user(name))
        } else {
            login_of_url(rest, slashes)
        };
        length.map(|length| (from, from + length))
    })
}

/// Length of the login in the URL of a database, whose password may contain any character.
fn login_of_server(rest: &str, shows_user: bool) -> Option<usize> {
    if let Some(at) = rest.rfind('@') {
        let login = rest.get(..at).unwrap_or_default();
        // A user without a password is not secret.
        let has_more = login.contains([':', '/', '?', '#', ';', ' ', '%', '=']);
        return (has_more || !shows_user && !login.is_empty()).then_some(at);
    }
    // `postgres://anna:secret`: the port is not a number.
    let end = rest.find(['/', '?', ';']).unwrap_or(rest.len());
    let place = rest.get(..end).unwrap_or_default();
    let is_number = |port: &str| port.split(',').next().is_some_and(is_digits);
    let is_plain =
        place.starts_with('[') || place.split(':').skip(1).all(is_number) || rest.starts_with(':');
    // `jdbc:oracle:thin:scott/tiger` has no host, and `jdbc:mysql:` is looked at again there.
    (!is_plain && !scheme(rest).is_some_and(|(name, _)| is_server(name))).then_some(rest.len())
}

fn is_digits(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit())
}

/// Length of the login in any other URL. Its path may contain an `@`.
fn login_of_url(rest: &str, slashes: usize) -> Option<usize> {
    if slashes < 2 {
        return None;
    }
    let end = rest.find(|c: char| c.is_whitespace() || "/?#\"'`<>".contains(c));
    rest.get(..end.unwrap_or(rest.len()))?.rfind('@').filter(|length| *length > 0)
}

/// Whether a word is `user:password@host`. `host:/path` and `C:\path` are not.
fn is_login_without_scheme(word: &str) -> bool {
    // `//anna:secret@host`, `:secret@host`
    let bare = word.trim_start_matches(['/', '\\']);
    let is_cut = word.starts_with("//") || word.starts_with("\\\\") || word.starts_with(':');
    let parts = if is_cut { bare.split_once(':') } else { scheme(word) };
    let Some((user, rest)) = parts else { return false };
    let Some((password, host)) = rest.rsplit_once('@') else { return false };
    !user.eq_ignore_ascii_case("mailto")
        && !user.to_ascii_lowercase().ends_with(".icf")
        && !password.is_empty()
        && !password.starts_with(['/', '\\'])
        && is_host(host)
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
