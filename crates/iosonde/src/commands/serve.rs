//! `iosonde serve`: the history in a browser.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::serve::{Listener, ServeError, Server, Token};
use clap::Args;
use inspect::reading;

use crate::exit::{self, Failure, Outcome};
use crate::language::LanguageArgs;
use crate::recording::HistoryPlace;

/// A longer file is not a token file.
const TOKEN_FILE_BYTES: u64 = 4096;

/// `iosonde serve`
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub place: HistoryPlace,

    /// Listen here, for example 0.0.0.0:7468. An address that other computers can reach needs a
    /// token, which iosonde makes and prints unless a file has one [default: 127.0.0.1:7468, or the
    /// next port
    /// that is free]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,

    /// A file with the token that a browser must know, at least 16 characters
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// Open it in this user's browser
    #[arg(long)]
    pub open: bool,

    #[command(flatten)]
    pub language: LanguageArgs,
}

/// Shows the history until a signal comes.
pub(crate) fn serve(args: &ServeArgs, stop: &Arc<AtomicBool>) -> Result<Outcome, Failure> {
    let place = args.place.place()?;
    let token = args.token_file.as_deref().map(token_of).transpose()?;
    let listener = Listener::bind(args.listen, token).map_err(failure)?;
    let (url, local) = (listener.url(&host_name()), listener.is_local());
    let server = Server::open(listener, &place, args.language.language).map_err(failure)?;
    exit::print(&format!("{url}\n"))?;
    if !local {
        eprintln!(
            "The connection is not encrypted: anyone who can listen on the way reads the token."
        );
    }
    if args.open {
        open(&url);
    }
    server.run(stop).map_err(failure)?;
    Ok(Outcome::Done)
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of map_err")]
fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Token(_) => Failure::WrongUsage(error.to_string()),
        _ => Failure::CannotRun(error.to_string()),
    }
}

/// The token in a file.
pub(crate) fn token_of(path: &Path) -> Result<Token, Failure> {
    let shown = path.display();
    let text = reading::text(path, TOKEN_FILE_BYTES).map_err(|error| {
        Failure::CannotRun(format!("cannot read the token file `{shown}`: {error}"))
    })?;
    Token::parse(&text)
        .map_err(|error| Failure::WrongUsage(format!("the token file `{shown}`: {error}")))
}

/// A name by which other computers may know this one.
fn host_name() -> String {
    let name = inspect::Inspector::new().host().hostname;
    if name.is_empty() { "localhost".to_owned() } else { name }
}

/// Asks the system to open an address. If that fails, the address is on stdout anyway.
fn open(url: &str) {
    let (program, args): (&str, &[&str]) = if cfg!(target_os = "windows") {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else if cfg!(target_os = "macos") {
        ("open", &[])
    } else {
        ("xdg-open", &[])
    };
    let started = Command::new(program)
        .args(args)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        eprintln!("no browser could be started ({program}: {error}); open the address by hand");
    }
}
