//! Who may connect to a fleet's server and what they may say, with a real nats-server.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use async_nats::rustls::crypto::ring;
use async_nats::rustls::pki_types::pem::PemObject as _;
use async_nats::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use async_nats::rustls::version::{TLS12, TLS13};
use async_nats::rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use async_nats::{Client, ConnectError, ConnectOptions};
use futures_util::StreamExt as _;
use nats::{Joined, NatsError, Site, SiteRequest};
use rcgen::{CertificateParams, DnType, IsCa, Issuer, KeyPair};
use time::{Duration as Days, OffsetDateTime};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::unbounded_channel;

use crate::common::{Fleet, is_possible, request, wait};

/// What is allowed arrives long before.
const NOTHING: Duration = Duration::from_millis(300);

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// What a client shows: a certificate and its key.
type Shown = (String, String);

fn of_file(path: &Path) -> Shown {
    let bundle: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    let part = |name: &str| bundle[name].as_str().unwrap().to_owned();
    (part("certificate"), part("key"))
}

fn tls(
    fleet: &Fleet,
    shown: Option<&Shown>,
    version: &'static SupportedProtocolVersion,
) -> ClientConfig {
    let certificate = |pem: &[u8]| CertificateDer::from_pem_slice(pem).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate(&fs::read(fleet.file("ca.crt")).unwrap())).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots);
    match shown {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => {
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            builder.with_client_auth_cert(vec![certificate(chain.as_bytes())], key).unwrap()
        }
    }
}

async fn connect(fleet: &Fleet, shown: Option<&Shown>) -> Result<Client, ConnectError> {
    connect_with(fleet, ConnectOptions::new().tls_client_config(tls(fleet, shown, &TLS13))).await
}

async fn connect_with(fleet: &Fleet, options: ConnectOptions) -> Result<Client, ConnectError> {
    let client = options.connect(format!("127.0.0.1:{}", fleet.port())).await?;
    // The server's word on a certificate comes after the client's half of the handshake.
    client.flush().await.unwrap();
    Ok(client)
}

#[test]
fn a_host_speaks_and_hears_under_its_own_name_only() {
    if !is_possible("a_host_speaks_and_hears_under_its_own_name_only") {
        return;
    }
    let fleet = Fleet::new(&["db1", "db2", "db1.x"]);
    runtime().block_on(async {
        let coordinator = connect(&fleet, Some(&of_file(&fleet.file("coordinator.creds")))).await;
        let coordinator = coordinator.unwrap();
        let mut heard = coordinator.subscribe("iosonde.from.>").await.unwrap();
        let (violations, mut refused) = unbounded_channel();
        let shown = of_file(&fleet.file("db1.creds"));
        let options = ConnectOptions::new().tls_client_config(tls(&fleet, Some(&shown), &TLS13));
        let options = options.event_callback(move |event| {
            let _ = violations.send(event.to_string());
            std::future::ready(())
        });
        let db1 = connect_with(&fleet, options).await.unwrap();
        let mut own = db1.subscribe("iosonde.to.db1").await.unwrap();
        // To read others, or everything.
        let mut others = Vec::new();
        for subject in
            ["iosonde.to.db2", "iosonde.to.db1.x", "iosonde.to.*", "iosonde.from.>", ">", "$SYS.>"]
        {
            others.push((subject, db1.subscribe(subject).await.unwrap()));
        }
        // To speak as others, or as the coordinator.
        for subject in
            ["iosonde.from.db2", "iosonde.from.db1.x", "iosonde.to.db2", "iosonde.to.db1", "x"]
        {
            db1.publish(subject, "forged".into()).await.unwrap();
        }
        db1.publish("iosonde.from.db1", "own".into()).await.unwrap();
        db1.flush().await.unwrap();
        let message = heard.next().await.unwrap();
        assert_eq!(
            (message.subject.as_str(), &message.payload[..]),
            ("iosonde.from.db1", &b"own"[..])
        );
        for subject in ["iosonde.to.db2", "iosonde.to.db1.x", "iosonde.to.db1"] {
            coordinator.publish(subject, "secret".into()).await.unwrap();
        }
        coordinator.flush().await.unwrap();
        assert_eq!(own.next().await.unwrap().subject.as_str(), "iosonde.to.db1");
        for (subject, subscription) in &mut others {
            let heard = tokio::time::timeout(NOTHING, subscription.next()).await;
            assert!(!matches!(heard, Ok(Some(_))), "it hears `{subject}`: {heard:?}");
        }
        assert!(tokio::time::timeout(NOTHING, heard.next()).await.is_err(), "a forged message");
        let mut named = Vec::new();
        while let Ok(text) = refused.try_recv() {
            named.extend(text.contains("ermissions").then_some(text));
        }
        assert_eq!(named.len(), 6 + 5, "{named:?}");
    });
}

/// A certificate of this name, signed with this key of an authority, valid from so many days to so
/// many.
fn certificate(fleet: &Fleet, key: &str, user: (&str, &str), days: (i64, i64)) -> Shown {
    let list: toml::Table = fs::read_to_string(fleet.file("site.toml")).unwrap().parse().unwrap();
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    authority.distinguished_name = rcgen::DistinguishedName::new();
    let number = list["authority"].as_str().unwrap();
    authority.distinguished_name.push(DnType::OrganizationalUnitName, number);
    authority.distinguished_name.push(DnType::CommonName, "iosonde fleet");
    let issuer = Issuer::new(authority, KeyPair::from_pem(key).unwrap());
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters.distinguished_name.push(DnType::OrganizationalUnitName, user.1);
    parameters.distinguished_name.push(DnType::CommonName, user.0);
    parameters.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    let now = OffsetDateTime::now_utc();
    parameters.not_before = now + Days::days(days.0);
    parameters.not_after = now + Days::days(days.1);
    let own = KeyPair::generate().unwrap();
    (parameters.signed_by(&own, &issuer).unwrap().pem(), own.serialize_pem())
}

#[test]
fn only_certificates_of_the_fleet_let_in() {
    if !is_possible("only_certificates_of_the_fleet_let_in") {
        return;
    }
    let fleet = Fleet::new(&["db1"]);
    let other = Fleet::new(&["db1"]);
    let list: toml::Table = fs::read_to_string(fleet.file("site.toml")).unwrap().parse().unwrap();
    let number = list["hosts"][0]["number"].as_str().unwrap();
    let ours = fs::read_to_string(fleet.file("ca.key")).unwrap();
    let theirs = fs::read_to_string(other.file("ca.key")).unwrap();
    let made = |key: &str, user, days| certificate(&fleet, key, user, days);
    runtime().block_on(async {
        let good = made(&ours, ("db1", number), (-1, 1));
        connect(&fleet, Some(&good)).await.unwrap();
        for (what, shown) in [
            ("none", None),
            ("expired", Some(made(&ours, ("db1", number), (-3, -1)))),
            ("not yet valid", Some(made(&ours, ("db1", number), (2, 3)))),
            ("of another authority", Some(made(&theirs, ("db1", number), (-1, 1)))),
            ("of another fleet", Some(of_file(&other.file("db1.creds")))),
            ("of an unknown host", Some(made(&ours, ("db2", number), (-1, 1)))),
            ("with another number", Some(made(&ours, ("db1", "0123456789abcdef"), (-1, 1)))),
        ] {
            let joined = connect(&fleet, shown.as_ref()).await;
            assert!(joined.is_err(), "a certificate {what} lets in");
        }
        let older = ConnectOptions::new().tls_client_config(tls(&fleet, Some(&good), &TLS12));
        assert!(connect_with(&fleet, older).await.is_err(), "TLS 1.2 lets in");
        let user = ConnectOptions::new()
            .tls_client_config(tls(&fleet, None, &TLS13))
            .user_and_password(format!("CN=db1,OU={number}"), String::new());
        assert!(connect_with(&fleet, user).await.is_err(), "a name without its key lets in");
    });
    // Without TLS, the server says who it is and nothing more.
    let said = plain(fleet.port(), "CONNECT {\"verbose\":false}\r\nSUB > 1\r\nPING\r\n");
    assert!(said.starts_with("INFO ") && said.contains("\"tls_required\":true"), "{said}");
    assert!(!said.contains("PONG"), "{said}");
    // The other way round: an agent does not believe a server of another authority.
    let (text, foreign) = (fs::read_to_string(fleet.file("db1.creds")).unwrap(), "foreign.creds");
    let [own, another] = [&fleet, &other].map(|f| fs::read_to_string(f.file("ca.crt")).unwrap());
    assert!(text.contains(&own));
    let foreign = fleet.file(foreign);
    fs::write(&foreign, text.replace(&own, &another)).unwrap();
    fs::set_permissions(&foreign, fs::Permissions::from_mode(0o600)).unwrap();
    let mut joined = Joined::start(&foreign).unwrap();
    let refused = joined.next(&AtomicBool::new(false), &mut |_| {}).err().unwrap();
    assert!(matches!(refused, NatsError::Refused { .. }), "{refused}");
}

/// What a server says to these lines without encryption.
fn plain(port: u16, lines: &str) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let _ = stream.write_all(lines.as_bytes());
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn a_host_that_was_removed_is_thrown_out_and_stays_out() {
    if !is_possible("a_host_that_was_removed_is_thrown_out_and_stays_out") {
        return;
    }
    let fleet = Fleet::new(&["db1", "db2"]);
    let (old, copy) = (fleet.file("db1.creds"), fleet.file("copy.creds"));
    fs::copy(&old, &copy).unwrap();
    let stop = AtomicBool::new(false);
    let mut agent = Joined::start(&old).unwrap();
    let mut said = Vec::new();
    let refused = std::thread::scope(|scope| {
        let next = scope.spawn(|| agent.next(&stop, &mut |text| said.push(text)).err());
        wait("the agent connects", || runtime().block_on(is_there(&fleet, "db1")));
        Site::open(&fleet.path()).unwrap().revoke("db1").unwrap();
        assert!(!old.exists(), "its key stays");
        next.join().unwrap()
    });
    let refused = refused.unwrap().to_string();
    assert!(refused.contains("no longer lets this host in"), "{refused} {said:?}");
    // Its name is given to another, and the old file is still worth nothing.
    Site::init(&request(&fleet.path(), &["db1"], &[])).unwrap();
    wait("the new host is let in", || {
        runtime().block_on(async { connect(&fleet, Some(&of_file(&old))).await.is_ok() })
    });
    runtime().block_on(async {
        assert!(connect(&fleet, Some(&of_file(&copy))).await.is_err(), "the old file lets in");
        connect(&fleet, Some(&of_file(&fleet.file("db2.creds")))).await.unwrap();
    });
}

/// Whether an agent answers: it does not know this session.
async fn is_there(fleet: &Fleet, host: &str) -> bool {
    let Ok(client) = connect(fleet, Some(&of_file(&fleet.file("coordinator.creds")))).await else {
        return false;
    };
    let mut heard = client.subscribe(format!("iosonde.from.{host}")).await.unwrap();
    let mut frame = b"ioF1\0".to_vec();
    for number in [1_u64, 2, 3, 0] {
        frame.extend_from_slice(&number.to_le_bytes());
    }
    client.publish(format!("iosonde.to.{host}"), frame.into()).await.unwrap();
    tokio::time::timeout(NOTHING, heard.next()).await.is_ok_and(|message| message.is_some())
}

#[test]
fn keys_are_private_and_nothing_is_overwritten() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("site");
    let site = Site::init(&request(&path, &["db1"], &["ctl"])).unwrap();
    assert_eq!(site.hosts(), ["db1"]);
    let all = || {
        let files = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
        let mut all: Vec<_> = files.map(|f| (f.clone(), fs::read(f).unwrap())).collect();
        all.sort();
        all
    };
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    for (file, _) in all() {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    let before = all();
    for (hosts, servers) in [(&["db1"][..], &[][..]), (&[], &[]), (&["db2"], &["other"])] {
        assert!(Site::init(&request(&path, hosts, servers)).is_err(), "{hosts:?} {servers:?}");
        assert!(before == all(), "a refused request changed a file");
    }
    for bad in ["../x", "a*", "db2,db3", "", "coordinator"] {
        assert!(Site::init(&request(&path, &[bad], &[])).is_err(), "{bad}");
    }
    assert!(Site::init(&request(&path, &["db2", "db2"], &[])).is_err());
    assert!(before == all(), "a refused request changed a file");
    // A file in the way is not replaced.
    fs::write(path.join("db2.creds"), "mine").unwrap();
    assert!(matches!(
        Site::init(&request(&path, &["db2"], &[])).unwrap_err(),
        NatsError::Exists(_)
    ));
    assert_eq!(fs::read(path.join("db2.creds")).unwrap(), b"mine");
    // Adding leaves what the first host was given.
    let site = Site::init(&request(&path, &["db3"], &[])).unwrap();
    assert_eq!(site.hosts(), ["db1", "db3"]);
    let creds = |all: &[(std::path::PathBuf, Vec<u8>)]| {
        all.iter().find(|f| f.0.ends_with("db1.creds")).unwrap().1.clone()
    };
    assert!(creds(&before) == creds(&all()));
    // A copy that everybody may read is refused.
    fs::set_permissions(path.join("db3.creds"), fs::Permissions::from_mode(0o644)).unwrap();
    let refused = Joined::start(&path.join("db3.creds")).err().unwrap();
    assert!(matches!(refused, NatsError::Open(_)), "{refused}");
    assert!(matches!(Site::open(place.path()).unwrap_err(), NatsError::NotASite(_)));
}

/// Certificates that end soon get new ones of the same authority, and nothing else changes.
#[test]
fn certificates_that_end_soon_are_renewed() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("site");
    let asked = |hosts: &[&str], days| SiteRequest { days, ..request(&path, hosts, &[]) };
    Site::init(&SiteRequest { days: 20, ..request(&path, &["db1"], &["ctl"]) }).unwrap();
    Site::init(&asked(&["db2"], 300)).unwrap();
    let text = |name: &str| fs::read_to_string(path.join(name)).unwrap();
    let files = ["db1.creds", "db2.creds", "ca.key", "coordinator.creds", "server.conf"];
    let before = files.map(text);
    let (site, renewed) = Site::renew(&asked(&[], 365)).unwrap();
    assert_eq!(renewed, ["db1"]);
    assert_eq!(site.hosts(), ["db1", "db2"]);
    let after = files.map(text);
    let changed: Vec<bool> = before.iter().zip(&after).map(|(old, new)| old != new).collect();
    assert_eq!(changed, [true, false, false, false, false], "the server's configuration stays");
    let (site, none) = Site::renew(&asked(&[], 365)).unwrap();
    assert!(none.is_empty() && site.after_renewal(&none).contains("`db2`"), "{none:?}");
    assert_eq!(Site::renew(&asked(&["db2"], 365)).unwrap().1, ["db2"]);
    let unknown = Site::renew(&asked(&["db3"], 365)).unwrap_err();
    assert!(matches!(unknown, NatsError::UnknownHost { .. }), "{unknown}");
}

#[test]
fn a_server_is_not_started_with_what_iosonde_did_not_write() {
    if !is_possible("a_server_is_not_started_with_what_iosonde_did_not_write") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("site");
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let at = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
    Site::init(&request(&path, &["db1"], &[&at])).unwrap();
    let up = || nats::up(&path, &AtomicBool::new(true), &mut |_| {}).unwrap_err();
    assert!(matches!(up(), NatsError::PortInUse(_)));
    drop(listener);
    let file = path.join("server.conf");
    let text = fs::read_to_string(&file).unwrap();
    for changed in [
        text.replace("verify_and_map: true", "verify_and_map: false"),
        text.split("tls {").next().unwrap().to_owned(),
        format!("{text}no_auth_user: \"x\"\n"),
        String::new(),
    ] {
        assert_ne!(changed, text);
        fs::write(&file, changed).unwrap();
        assert!(matches!(up(), NatsError::Changed(_)));
    }
    let list = path.join("site.toml");
    let text = fs::read_to_string(&list).unwrap();
    fs::write(&list, text.replace("db1", "db1\\\", permissions: {} }")).unwrap();
    assert!(matches!(up(), NatsError::NotCredentials { .. }));
}
