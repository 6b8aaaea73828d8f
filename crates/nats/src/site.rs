//! The directory of a fleet: who signs, who belongs to it, and what its server is told.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::NatsError;
use crate::authority::{self, AUTHORITY_DAYS, Authority, Holder, Signed};
use crate::bundle::Bundle;
use crate::files;
use crate::names::{self, Address, COORDINATOR, OBSERVER};

/// The version of the directory's list.
const SCHEMA: &str = "iosonde.site/1";

/// The configuration of the server, without its clients.
const TEMPLATE: &str = include_str!("server.conf");

const LIST: &str = "site.toml";
const CONFIGURATION: &str = "server.conf";
const AUTHORITY: (&str, &str) = ("ca.crt", "ca.key");
const SERVER: (&str, &str) = ("server.crt", "server.key");

/// A certificate that ends within so many days should be renewed.
const SOON_DAYS: u32 = 30;

/// A list longer than this is another file.
const BYTES_MAX: u64 = 16 << 20;

/// What `iosonde fleet init` makes, adds or renews.
#[derive(Debug, Clone)]
pub struct SiteRequest {
    /// The directory of the fleet; [`Site::init`] makes it if it does not exist.
    pub directory: PathBuf,
    /// The names of the hosts to add, or whose certificates are renewed.
    pub hosts: Vec<String>,
    /// Under which addresses hosts reach the server, `NAME` or `NAME:PORT`.
    pub servers: Vec<String>,
    /// How long the certificates of hosts last.
    pub days: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    schema: String,
    /// A random number that tells this authority from those of other fleets.
    authority: String,
    servers: Vec<String>,
    coordinator: Member,
    observer: Member,
    #[serde(default)]
    hosts: Vec<Member>,
}

/// Who may connect. The number is that of a certificate: a host that was removed and added again
/// has another one, so its old certificate stays useless.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    name: String,
    number: String,
    /// The last day of the certificate, as `2027-11-25`; absent in older directories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

impl Member {
    fn new(name: &str, days: u32) -> Result<Self, NatsError> {
        let until = Some(authority::day(days));
        Ok(Self { name: name.to_owned(), number: number()?, until })
    }

    /// What nats-server calls the holder of the certificate.
    fn user(&self) -> String {
        format!("CN={},OU={}", self.name, self.number)
    }
}

/// A random number of 64 bits, so that hardly ever two are alike.
fn number() -> Result<String, NatsError> {
    let random = getrandom::u64().map_err(|e| NatsError::Certificates(e.to_string()))?;
    Ok(format!("{random:016x}"))
}

/// The directory of a fleet: its certificates, its server's configuration and its list of hosts.
#[derive(Debug)]
pub struct Site {
    directory: PathBuf,
    list: List,
}

impl Site {
    /// Makes a directory with an authority, a server and a coordinator, and adds hosts; to a
    /// directory that is there, only adds hosts. Nothing is overwritten.
    ///
    /// # Errors
    /// A name is wrong or taken, or a file cannot be made.
    pub fn init(request: &SiteRequest) -> Result<Self, NatsError> {
        request.hosts.iter().try_for_each(|name| names::check(name))?;
        let mut seen = HashSet::new();
        if let Some(twice) = request.hosts.iter().find(|name| !seen.insert(*name)) {
            return Err(NatsError::Usage(format!("the host `{twice}` is named twice")));
        }
        let mut site = if request.directory.join(LIST).exists() {
            Self::to_extend(request)?
        } else {
            Self::make(request)?
        };
        for name in &request.hosts {
            site.add(name, request.days)?;
        }
        site.write()?;
        Ok(site)
    }

    /// Makes new certificates for these hosts of a directory; without any, for those whose
    /// certificate ends soon. Authority, names and rights stay, and so do the certificates before:
    /// each lets its host in until it ends. Whose were made anew.
    ///
    /// # Errors
    /// There is no such host, or a file cannot be written.
    pub fn renew(request: &SiteRequest) -> Result<(Self, Vec<String>), NatsError> {
        let mut site = Self::open(&request.directory)?;
        request.hosts.iter().try_for_each(|host| site.find(host))?;
        if !request.servers.is_empty() {
            return Err(NatsError::Usage(
                "the server keeps its addresses: leave out `--server`".to_owned(),
            ));
        }
        let authority = site.authority()?;
        let soon = authority::day(SOON_DAYS);
        let (mut members, mut renewed) = (std::mem::take(&mut site.list.hosts), Vec::new());
        for member in &mut members {
            let is_meant = match request.hosts.as_slice() {
                // An older directory does not know the day.
                [] => member.until.as_ref().is_none_or(|until| *until <= soon),
                hosts => hosts.contains(&member.name),
            };
            if is_meant {
                member.until = Some(authority::day(request.days));
                let text = site.bundle(&authority, member, request.days)?;
                files::replace(&site.file_of(&member.name), &text)?;
                renewed.push(member.name.clone());
            }
        }
        site.list.hosts = members;
        site.write()?;
        Ok((site, renewed))
    }

    /// What the user has to do after these hosts got new certificates.
    #[must_use]
    pub fn after_renewal(&self, renewed: &[String]) -> String {
        let mut text = String::new();
        if renewed.is_empty() {
            let first = self.list.hosts.iter().filter_map(|m| Some((m.until.as_ref()?, &m.name)));
            return first.min().map_or("the fleet has no hosts\n".to_owned(), |(until, name)| {
                format!(
                    "no certificate ends within {SOON_DAYS} days. The first to end is that of \
                     `{name}`, on {until}; `--host {name}` renews it now\n"
                )
            });
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "Copy each file to its host, and restart the agent there:\n");
        for host in renewed {
            let _ = writeln!(text, "  scp {} {host}:", self.file_of(host).display());
        }
        let _ = writeln!(text, "\nUntil its own end, the file before lets the host in as well.");
        text
    }

    fn to_extend(request: &SiteRequest) -> Result<Self, NatsError> {
        let site = Self::open(&request.directory)?;
        if request.hosts.is_empty() {
            return Err(NatsError::Exists(request.directory.join(LIST)));
        }
        if !request.servers.is_empty() {
            return Err(NatsError::Usage(format!(
                "the server of `{}` already has its addresses ({}). Make another directory for \
                 other addresses",
                request.directory.display(),
                site.list.servers.join(", ")
            )));
        }
        match request.hosts.iter().find(|name| site.hosts().contains(name)) {
            Some(name) => Err(NatsError::Usage(format!(
                "`{}` already has the host `{name}`. For a new certificate: iosonde fleet init {} \
                 --renew --host {name}",
                request.directory.display(),
                request.directory.display()
            ))),
            None => Ok(site),
        }
    }

    fn make(request: &SiteRequest) -> Result<Self, NatsError> {
        let addresses = request.servers.iter().map(|server| Address::parse(server));
        let addresses: Vec<Address> = addresses.collect::<Result<_, _>>()?;
        if addresses.is_empty() {
            return Err(NatsError::Usage(
                "name the address by which hosts reach the server with `--server NAME`".to_owned(),
            ));
        }
        let directory = &request.directory;
        files::directory(directory)?;
        let authority_number = number()?;
        let (authority, own) = Authority::new(&authority_number)?;
        keep(directory, AUTHORITY, &own)?;
        let mut hosts: Vec<String> = addresses.iter().map(|a| a.host.clone()).collect();
        for local in ["localhost", "127.0.0.1", "::1"] {
            if !hosts.iter().any(|host| host == local) {
                hosts.push(local.to_owned());
            }
        }
        // These keys never leave the directory that has the authority's key: they last as long.
        let server = authority.sign(&Holder::Server(&hosts), AUTHORITY_DAYS)?;
        keep(directory, SERVER, &server)?;
        let list = List {
            schema: SCHEMA.to_owned(),
            authority: authority_number,
            servers: addresses.iter().map(Address::text).collect(),
            coordinator: Member::new(COORDINATOR, AUTHORITY_DAYS)?,
            observer: Member::new(OBSERVER, AUTHORITY_DAYS)?,
            hosts: Vec::new(),
        };
        let site = Self { directory: directory.clone(), list };
        site.give(&authority, &site.list.coordinator, AUTHORITY_DAYS)?;
        site.give(&authority, &site.list.observer, AUTHORITY_DAYS)?;
        Ok(site)
    }

    /// Opens a directory that [`Site::init`] made.
    ///
    /// # Errors
    /// It is not one.
    pub fn open(directory: &Path) -> Result<Self, NatsError> {
        let path = directory.join(LIST);
        if !path.exists() {
            return Err(NatsError::NotASite(directory.to_owned()));
        }
        let text = files::read(&path, BYTES_MAX)?;
        let list = parse(&text).map_err(|why| NatsError::NotCredentials { path, why })?;
        Ok(Self { directory: directory.to_owned(), list })
    }

    /// The names of all hosts of the fleet, as its list has them.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        self.list.hosts.iter().map(|host| host.name.clone()).collect()
    }

    /// Under which addresses hosts reach the server.
    #[must_use]
    pub fn servers(&self) -> &[String] {
        &self.list.servers
    }

    /// What to do next, after these hosts were added: lines that can be typed.
    #[must_use]
    pub fn instructions(&self, added: &[String]) -> String {
        let directory = self.directory.display();
        let mut text = String::new();
        // Writing to a string does not fail.
        if !added.is_empty() {
            let _ = writeln!(text, "Copy each file to its host, and to nowhere else:\n");
            for host in added {
                let _ = writeln!(text, "  scp {} {host}:", self.file_of(host).display());
            }
            let _ = writeln!(text);
        }
        let first = self.list.hosts.first().map(|host| host.name.clone());
        let Some(host) = first else {
            let _ = writeln!(
                text,
                "Add the hosts:\n\n  iosonde fleet init {directory} --host NAME --host NAME"
            );
            return text;
        };
        let _ = writeln!(
            text,
            "Start the server here, on {}:\n\n  iosonde fleet up {directory}\n\nThen on each \
             host, with the directory or device that it lends:\n\n  iosonde agent --join \
             {host}.creds --allow PATH\n\nThen here:\n\n  iosonde fleet run --site {directory} \
             --target PATH",
            self.list.servers.join(", ")
        );
        text
    }

    /// Removes a host: its certificate is worth nothing once the server has read its configuration.
    ///
    /// # Errors
    /// There is no such host, or the files cannot be written.
    pub fn revoke(&mut self, host: &str) -> Result<(), NatsError> {
        self.find(host)?;
        self.list.hosts.retain(|member| member.name != host);
        self.write()?;
        files::remove(&self.file_of(host), Bundle::HEAD)
    }

    /// What to do about certificates of hosts that end soon, a sentence each.
    pub(crate) fn ending(&self) -> Vec<String> {
        let soon = authority::day(SOON_DAYS);
        let directory = self.directory.display();
        let ends = self.list.hosts.iter().filter_map(|member| {
            let until = member.until.as_ref().filter(|until| **until <= soon)?;
            let name = &member.name;
            Some(format!(
                "the certificate of `{name}` ends on {until}. For a new one: iosonde fleet init \
                 {directory} --renew"
            ))
        });
        ends.collect()
    }

    /// Checks that the fleet has a host of this name.
    pub(crate) fn find(&self, host: &str) -> Result<(), NatsError> {
        if self.list.hosts.iter().any(|member| member.name == host) {
            return Ok(());
        }
        let names = self.hosts();
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(NatsError::UnknownHost {
            host: host.to_owned(),
            directory: self.directory.clone(),
            has,
        })
    }

    /// Reads the credentials of the coordinator.
    pub(crate) fn coordinator(&self) -> Result<Bundle, NatsError> {
        Bundle::read(&self.file_of(COORDINATOR))
    }

    /// The credentials with which the coordinator hears who disconnects.
    pub(crate) fn observer(&self) -> Result<Bundle, NatsError> {
        Bundle::read(&self.file_of(OBSERVER))
    }

    /// What the server calls a host, where the fleet has it.
    pub(crate) fn user_of(&self, host: &str) -> Option<String> {
        self.list.hosts.iter().find(|member| member.name == host).map(Member::user)
    }

    /// Where the credentials of a client are.
    #[must_use]
    pub fn file_of(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.creds"))
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn configuration_file(&self) -> PathBuf {
        self.directory.join(CONFIGURATION)
    }

    /// The address where the server listens, and its port.
    pub(crate) fn listens(&self) -> Result<(&'static str, u16), NatsError> {
        let first = self.list.servers.first().map_or("", String::as_str);
        let address = Address::parse(first)?;
        Ok((if address.host.contains(':') { "::" } else { "0.0.0.0" }, address.port))
    }

    fn add(&mut self, name: &str, days: u32) -> Result<(), NatsError> {
        let authority = self.authority()?;
        let member = Member::new(name, days)?;
        self.give(&authority, &member, days)?;
        self.list.hosts.push(member);
        Ok(())
    }

    fn authority(&self) -> Result<Authority, NatsError> {
        let key = files::read(&self.directory.join(AUTHORITY.1), BYTES_MAX)?;
        Authority::of_key(&self.list.authority, &key)
    }

    fn give(&self, authority: &Authority, to: &Member, days: u32) -> Result<(), NatsError> {
        files::create(&self.file_of(&to.name), &self.bundle(authority, to, days)?)
    }

    /// New credentials of a client, as text.
    fn bundle(&self, authority: &Authority, to: &Member, days: u32) -> Result<String, NatsError> {
        let holder = Holder::Client { name: &to.name, number: &to.number };
        let signed = authority.sign(&holder, days)?;
        let of_authority = files::read(&self.directory.join(AUTHORITY.0), BYTES_MAX)?;
        Bundle::new(&to.name, &self.list.servers, &of_authority, signed).text()
    }

    fn write(&self) -> Result<(), NatsError> {
        let list = toml::to_string(&self.list);
        let list = list.map_err(|error| NatsError::Certificates(error.to_string()))?;
        files::replace(&self.directory.join(LIST), &list)?;
        files::replace(&self.configuration_file(), &self.configuration()?)
    }

    /// What nats-server is told: nobody connects without a certificate, and each client publishes
    /// and reads under its own name only.
    pub(crate) fn configuration(&self) -> Result<String, NatsError> {
        let (listen, port) = self.listens()?;
        let mut users = user(&self.list.coordinator, &quoted(&to(">")), &from(">"));
        for host in &self.list.hosts {
            users.push_str(&user(host, &quoted(&from(&host.name)), &to(&host.name)));
        }
        let observer = user(&self.list.observer, "{ deny: \">\" }", DISCONNECTED);
        Ok(TEMPLATE
            .replace("{listen}", listen)
            .replace("{port}", &port.to_string())
            .replace("{users}", &users)
            .replace("{observer}", &observer))
    }
}

/// A line of the configuration: who may publish on what, and read what.
fn user(member: &Member, publish: &str, read: &str) -> String {
    let (user, read) = (quoted(&member.user()), quoted(read));
    format!(
        "            {{ user: {user}, permissions: {{ publish: {publish}, subscribe: {read} }} }}\n"
    )
}

fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}

/// The subject on which the server reports clients of the fleet that have disconnected.
pub(crate) const DISCONNECTED: &str = "$SYS.ACCOUNT.FLEET.DISCONNECT";

/// The subject on which a host hears; `>` stands for all hosts.
pub(crate) fn to(host: &str) -> String {
    format!("iosonde.to.{host}")
}

/// The subject on which a host speaks; `>` stands for all hosts.
pub(crate) fn from(host: &str) -> String {
    format!("iosonde.from.{host}")
}

fn keep(directory: &Path, names: (&str, &str), signed: &Signed) -> Result<(), NatsError> {
    files::create(&directory.join(names.1), &signed.key)?;
    files::create(&directory.join(names.0), &signed.certificate)
}

fn parse(text: &str) -> Result<List, String> {
    let list: List = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    if list.schema != SCHEMA {
        return Err(format!("it is `{}` and not `{SCHEMA}`", list.schema));
    }
    // What is in the list becomes part of the server's configuration.
    let is_number = |n: &str| n.len() == 16 && n.chars().all(|c| c.is_ascii_hexdigit());
    for host in &list.hosts {
        names::check(&host.name).map_err(|error| error.to_string())?;
    }
    let own = [&list.coordinator, &list.observer];
    let are_ours = own[0].name == COORDINATOR && own[1].name == OBSERVER;
    if !are_ours || !list.hosts.iter().chain(own).all(|m| is_number(&m.number)) {
        return Err("it was changed by hand".to_owned());
    }
    for server in &list.servers {
        Address::parse(server).map_err(|error| error.to_string())?;
    }
    Ok(list)
}
