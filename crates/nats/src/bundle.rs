//! What one client of the server is given: where the server is, who signs, who the client is.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::NatsError;
use crate::files;
use crate::names::{self, Address};

/// The schema of the file. A file with another one is refused.
const SCHEMA: &str = "iosonde.credentials/1";

/// A file longer than this is another file.
const BYTES_MAX: u64 = 64 << 10;

/// The content of a file `NAME.creds`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bundle {
    schema: String,
    /// The name of the client in the fleet: a host, the coordinator or the observer.
    pub name: String,
    /// Where the server is, as [`Address`] reads it.
    pub servers: Vec<String>,
    /// The certificate of the fleet's authority, as PEM.
    pub authority: String,
    /// The client's certificate, which the authority signed, as PEM.
    pub certificate: String,
    /// The client's private key, as PEM.
    pub key: String,
}

impl Bundle {
    /// How the file begins: a comment for its reader.
    pub(crate) const HEAD: &'static str =
        "# Anyone with this file can act as the host it names. Copy it to that host only.\n";

    pub(crate) fn new(
        name: &str,
        servers: &[String],
        authority: &str,
        signed: crate::authority::Signed,
    ) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            name: name.to_owned(),
            servers: servers.to_vec(),
            authority: authority.to_owned(),
            certificate: signed.certificate,
            key: signed.key,
        }
    }

    /// Reads and checks the credentials in a file.
    pub(crate) fn read(path: &Path) -> Result<Self, NatsError> {
        Self::parse(&files::read(path, BYTES_MAX)?)
            .map_err(|why| NatsError::NotCredentials { path: path.to_owned(), why })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let bundle: Self = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        if bundle.schema != SCHEMA {
            return Err(format!("it is `{}` and not `{SCHEMA}`", bundle.schema));
        }
        if ![names::COORDINATOR, names::OBSERVER].contains(&bundle.name.as_str()) {
            names::check(&bundle.name).map_err(|error| error.to_string())?;
        }
        if bundle.servers.is_empty() {
            return Err("it names no server".to_owned());
        }
        for server in &bundle.servers {
            Address::parse(server).map_err(|error| error.to_string())?;
        }
        Ok(bundle)
    }

    /// The text of the credentials' file.
    pub(crate) fn text(&self) -> Result<String, NatsError> {
        let body =
            toml::to_string_pretty(self).map_err(|e| NatsError::Certificates(e.to_string()))?;
        Ok(format!("{}{body}", Self::HEAD))
    }

    /// The URLs of the servers, as the NATS client takes them.
    pub(crate) fn urls(&self) -> Result<Vec<String>, NatsError> {
        self.servers.iter().map(|server| Ok(Address::parse(server)?.url())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bundle(name: &str) -> Bundle {
        let pem = |what: &str| format!("-----BEGIN {what}-----\nAA'\"\n-----END {what}-----\n");
        let signed =
            crate::authority::Signed { certificate: pem("CERTIFICATE"), key: pem("PRIVATE KEY") };
        Bundle::new(name, &["ctl:4222".to_owned()], &pem("CERTIFICATE"), signed)
    }

    #[test]
    fn what_is_written_is_read() {
        let written = bundle("db1");
        assert_eq!(Bundle::parse(&written.text().unwrap()), Ok(written));
    }

    #[test]
    fn other_files_are_refused() {
        let text = bundle("db1").text().unwrap();
        for (right, wrong) in [
            ("credentials/1", "credentials/2"),
            ("\"db1\"", "\"db1.>\""),
            ("ctl:4222", "ctl:x"),
            ("schema", "scheme"),
        ] {
            assert!(text.contains(right));
            assert!(Bundle::parse(&text.replace(right, wrong)).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_bundle_or_not(text in "\\PC{0,200}") {
            let _ = Bundle::parse(&text);
        }

        #[test]
        fn any_change_is_read_or_refused(at in 0_usize..600, with in "\\PC{0,3}") {
            let mut text = bundle("db1").text().unwrap();
            if let Some(at) = (at < text.len() && text.is_char_boundary(at)).then_some(at) {
                text.insert_str(at, &with);
            }
            if let Ok(bundle) = Bundle::parse(&text) {
                prop_assert_eq!(Bundle::parse(&bundle.text().unwrap()), Ok(bundle));
            }
        }
    }
}
