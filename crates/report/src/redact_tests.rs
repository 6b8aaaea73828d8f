//! What a redacted copy still tells, and what it must not.

use super::*;
use proptest::prelude::*;

fn of(pairs: &[(&'static str, &str)]) -> Secrets {
    let mut secrets = Secrets::default();
    for (kind, name) in pairs {
        secrets.add(kind, name);
    }
    secrets.finish();
    secrets
}

#[test]
fn the_longest_name_is_replaced_and_words_only_where_they_stand_alone() {
    let secrets = of(&[("host", "acme"), ("target", "/srv/acme"), ("target", "/srv/acme/pg")]);
    assert_eq!(secrets.replaced("/srv/acme/pg/x on acme"), "target-2/x on host-1");
    assert_eq!(secrets.replaced("acmeology /srv/acmeology"), "acmeology target-1ology");
    assert_eq!(of(&[("serial", "1000")]).replaced("11000 IOPS, 1000"), "11000 IOPS, serial-1");
}

#[test]
fn a_database_and_what_people_named_in_it_lose_their_names() {
    let mut secrets = Secrets::default();
    let row = |source: &str, object: &str| results::RecordedRow {
        source: source.to_owned(),
        object: object.to_owned(),
        ..results::RecordedRow::default()
    };
    secrets.row(&row("mysql://anna@db7.bank.example:3306", "payments/cards.ibd"));
    secrets.row(&row("postgres://bob@localhost/hr", "client backend/relation/normal"));
    secrets.finish();
    let text = "mysql://anna@db7.bank.example:3306 payments/cards.ibd on db7.bank.example; \
                postgres://bob@localhost/hr client backend/relation/normal";
    let shown = secrets.replaced(text);
    for name in ["anna", "db7", "bank", "payments", "bob", "hr"] {
        assert!(!shown.contains(name), "{name}: {shown}");
    }
    assert!(shown.contains("client backend/relation/normal"), "{shown}");
}

#[test]
fn a_server_is_known_by_all_of_its_names() {
    let mut secrets = Secrets::default();
    secrets.source("filer.corp.example:/vol/erp");
    secrets.finish();
    assert_eq!(secrets.replaced("filer.corp.example:/vol/erp"), "source-1");
    assert_eq!(secrets.replaced("filer and filer.corp.example"), "host-1 and host-1");
    assert_eq!(secrets.replaced("/vol/erp of corp.example"), "source-1 of domain-1");
}

/// A pool of ZFS, a device of GPFS and a tag of virtiofs stayed, and so did the values of options
/// that no list had.
#[test]
fn sources_and_options_of_any_mount_lose_their_names() {
    let mount = |source: &str, kind: &str, options: &[&str]| inspect::Storage {
        file_system: Some(inspect::FileSystem {
            kind: kind.to_owned(),
            mount_point: "/srv/acme".into(),
            source: source.to_owned(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            ..Default::default()
        }),
        ..Default::default()
    };
    for (source, kind, options) in [
        ("acmepool", "zfs", &["rw", "xattr", "posixacl"][..]),
        ("acmepool/erp", "zfs", &["rw"]),
        ("/dev/gpfs_acme", "gpfs", &["rw", "dev=gpfs_acme"]),
        ("acme-share", "virtiofs", &["rw"]),
        (
            "//acme/erp",
            "cifs",
            &["rw", "srcaddr=acme.example", "prefixpath=acme/erp", "vers=3.1.1"],
        ),
        ("none", "fuse.glusterfs", &["volfile-server=acme1", "acme", "allow_other"]),
        ("filer:/acme", "nfs4", &["addr=192.0.2.17", "clientaddr=192.0.2.99", "rsize=65536"]),
    ] {
        let storage = mount(source, kind, options);
        let mut secrets = Secrets::default();
        secrets.storage(&storage);
        secrets.finish();
        let mut value = serde_json::to_value(&storage).unwrap();
        secrets.replace(&mut value, "");
        let shown = value.to_string();
        let hidden = ["acme", "192.0.2", "erp", "filer"];
        assert!(hidden.iter().all(|name| !shown.contains(name)), "{source}: {shown}");
        for option in options.iter().filter(|option| may_stay(option)) {
            assert!(shown.contains(&format!("\"{option}\"")), "{option}: {shown}");
        }
    }
}

/// The names of volume groups and volumes, which often are those of customers and databases,
/// stayed.
#[test]
fn volumes_that_people_named_lose_their_names_and_devices_of_the_kernel_do_not() {
    let mut secrets = Secrets::default();
    secrets.source("/dev/vda1");
    secrets.source("/dev/mapper/acme-erp");
    secrets.path("target", "/dev/disk/by-label/payroll");
    secrets.finish();
    let text = "/dev/vda1, /dev/mapper/acme-erp (acme-erp), /dev/disk/by-label/payroll";
    assert_eq!(secrets.replaced(text), "/dev/vda1, source-1 (source-1), target-1");
}

/// Only `/` parted names: the program of a recorded command kept the whole of
/// `C:\Users\anna\tool.exe`, and a share the name of its server.
#[test]
fn places_of_windows_lose_their_names() {
    let mut secrets = Secrets::default();
    secrets.path("target", r"C:\Users\anna\payroll.dat");
    secrets.path("target", r"\\.\PhysicalDrive3");
    secrets.path("target", r"D:\");
    secrets.source(r"\\filer.bank.example\erp");
    secrets.finish();
    let text = r"C:\Users\anna\payroll.dat; C:\Users\anna\x; payroll.dat; D:\; \\.\PhysicalDrive3";
    let shown = r"target-1; C:\Users\user-1\x; target-1; D:\; \\.\PhysicalDrive3";
    assert_eq!(secrets.replaced(text), shown);
    assert_eq!(secrets.replaced(r"\\filer.bank.example\erp on filer"), "source-1 on host-1");
    assert_eq!(windows_user(r"C:\Users\Public\x"), None);
    let mut value = serde_json::json!({ "line": [r"C:\Users\anna\tool.exe", "--now"] });
    without_origin(&mut value);
    assert_eq!(value, serde_json::json!({ "line": ["tool.exe"] }));
}

#[test]
fn closed_words_stay() {
    let secrets = of(&[("host", "random"), ("host", "measured")]);
    let text = r#"{"pattern":"random","source":"measured","content":"random","title":"random"}"#;
    let mut value: Value = serde_json::from_str(text).unwrap();
    secrets.replace(&mut value, "");
    let shown = value.to_string();
    assert_eq!(shown.matches("random").count(), 2, "{shown}");
    assert!(shown.contains(r#""source":"measured""#) && shown.contains("host-1"), "{shown}");
}

proptest! {
    #[test]
    fn no_name_survives_in_any_text(
        names in prop::collection::vec("[/a-zA-Z0-9.-]{5,12}[0-9A-Z]{2}", 1..6),
        text in "[ -~µ–]{0,40}", at in 0usize..6,
    ) {
        let pairs: Vec<(&'static str, &str)> = names.iter().map(|n| ("target", n.as_str()))
            .collect();
        let secrets = of(&pairs);
        let name = &names[at % names.len()];
        let shown = secrets.replaced(&format!("{text}{name}{text} {name}"));
        for name in secrets.words.keys().filter(|n| !is_word(n)) {
            let left = shown.contains(name.as_str());
            prop_assert!(!left || "target-123456".contains(name.as_str()), "{name} in {shown}");
        }
    }
}
