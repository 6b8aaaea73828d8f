//! What is recognised as a connection string, and what is not.

use proptest::prelude::*;

use super::*;

/// Connection strings of databases, queues and web services with the password `Zq9xK`, as people
/// paste them: encoded, cut off, in capitals, without a scheme.
const WITH_PASSWORD: &[&str] = &[
    "host=db user=anna password=Zq9xK dbname=shop",
    "host = db password = 'Zq9xK'",
    "password=Zq9xK",
    "PASSWORD=Zq9xK",
    "postgres://anna:a?Zq9xK@db/shop",
    "postgres://anna:Zq9xK",
    "postgres://anna:Zq9xK/shop",
    "postgres://anna:Zq9xK@",
    "postgres://:Zq9xK@db",
    "postgres:/anna:Zq9xK@db",
    "postgres:anna:Zq9xK@db",
    "postgres:\\\\anna:Zq9xK@db",
    " postgres://anna:Zq9xK@db",
    "\"postgres://anna:Zq9xK@db\"",
    "postgres://anna:x Zq9xK@db",
    "postgres://anna:x/Zq9xK@db",
    "postgres://anna%3AZq9xK@db",
    "postgres%3A%2F%2Fanna%3AZq9xK%40db",
    "postgres://db/shop?password=Zq9xK",
    "postgres://db/shop?p%61ssword=Zq9xK",
    "postgres://db/shop?sslpassword=Zq9xK",
    "POSTGRES://anna:Zq9xK@db/shop",
    "PostgreSQL://anna:Zq9xK@db/shop",
    "postgresql+ssl://anna:Zq9xK@db/shop",
    "postgresql+psycopg2://anna:Zq9xK@db/shop",
    "mysql://anna:Zq9xK@db",
    "MARIADB://anna:Zq9xK@db",
    "mysql+pymysql://anna:Zq9xK@db",
    "sqlserver://db;user=sa;password=Zq9xK",
    "jdbc:postgresql://db/shop?user=anna&password=Zq9xK",
    "jdbc:mysql://anna:Zq9xK@db",
    "jdbc:oracle:thin:scott/Zq9xK@db:1521:orcl",
    "jdbc:sqlserver://db;databaseName=shop;user=sa;password=Zq9xK;",
    "Server=db;Database=shop;User Id=sa;Password=Zq9xK;",
    "Server=db;UID=sa;PWD=Zq9xK",
    "Driver={ODBC Driver 18 for SQL Server};Server=db;PWD={Zq;9xK}",
    "Data Source=db;User ID=scott; Password = \"Zq9xK\"",
    "mongodb://anna:Zq9xK@a,b,c/shop?replicaSet=r",
    "mongodb+srv://anna:Zq9xK@db",
    "redis://:Zq9xK@db:6379/0",
    "rediss://default:Zq9xK@db",
    "amqp://guest:Zq9xK@db",
    "nats://Zq9xK:Zq9xK@db:4222",
    "https://anna:Zq9xK@db/report.json",
    "https://Zq9xK@github.example/a",
    "HTTPS://db/report.json?access_token=Zq9xK",
    "sftp://anna:Zq9xK@db/data",
    "anna:Zq9xK@db",
    "anna:Zq9xK@10.0.0.1:5432/shop",
    "anna:Zq9xK@[::1]/shop",
    "anna:Zq9xK@db:5432/shop",
    "postgres ://anna:Zq9xK@db",
    "//anna:Zq9xK@db/shop",
    ":Zq9xK@db",
    "nats://Zq9xK@db:4222",
    "{\"password\": \"Zq9xK\"}",
    "password: Zq9xK",
    "password=a b Zq9xK",
    "Authorization=Bearer Zq9xK",
    "AccountName=a;AccountKey=Zq9xK==;EndpointSuffix=core",
    "https://a.blob.example/c?sv=1&sig=Zq9xK",
];

/// Names of files, targets and values of flags, all of which must stay possible.
const HARMLESS: &[&str] = &[
    "",
    "-",
    "/data",
    "/data/a@b/c=d.json",
    "/backup/password=1/x",
    "C:\\data\\a@b",
    "D:data@b",
    "\\\\server\\share\\a",
    "host1:/data",
    "host1:/data/a@b",
    "anna@host1",
    "anna@host1:22",
    "anna@[::1]:22",
    "@before-upgrade",
    "FILE.icf:All in one",
    "aws:gp3,iops=6000,mbps=250",
    "oltp=5000iops,log=2000/s,scan=800MiBps",
    "servers = 64, read_ns = \"400us\"",
    "read=1s@p99",
    "vda.average_queue > 2",
    "write_latency > 20ms for 60s",
    "127.0.0.1:9464",
    "[::1]:9464",
    "https://wiki.example/storage",
    "https://wiki.example/@anna/storage",
    "mailto:anna@example.com",
    "8K:70,64K:30",
    "zipf:0.99",
    "--token-file=/etc/iosonde/token",
    "postgres://anna@db:5432/shop?sslmode=require",
    "postgresql://a:5432,b:5433/shop",
    "postgres://[::1]:5432/shop",
    "mysql://anna@db:3306",
    "compass=north",
    "user:name@2024/file",
    "a:b@2024-11-28",
];

/// Each of these was printed whole, or became the name of a file.
#[test]
fn connection_strings_with_a_password_are_recognised_and_concealed() {
    for text in WITH_PASSWORD {
        assert!(holds_secret(text), "{text}");
        assert!(is_connection(text), "{text}");
        let shown = concealed(text);
        assert!(!shown.contains("Zq9xK") && !shown.contains("9xK"), "{text}: {shown}");
        let line = format!("error: invalid value '{text}' for '--history'");
        assert!(!concealed(&line).contains("9xK"), "{}", concealed(&line));
    }
}

#[test]
fn names_and_values_of_flags_are_not_taken_for_connection_strings() {
    for text in HARMLESS {
        assert!(!holds_secret(text), "{text}");
        assert_eq!(concealed(text), *text);
    }
}

#[test]
fn an_address_without_a_password_is_a_connection_all_the_same() {
    for text in [
        "mysql://db",
        "POSTGRES://db",
        "s3://bucket/key",
        "https://example.com",
        "host=db dbname=shop",
        "Server=db;Integrated Security=true",
    ] {
        assert!(is_connection(text) && !holds_secret(text), "{text}");
    }
    for text in ["/data/x.db", "C:\\x.db", "x.db", "host=1", "a:b", "./a b=c"] {
        assert!(!is_connection(text), "{text}");
    }
}

#[test]
fn a_login_of_oracle_looks_like_a_path() {
    assert_eq!(login_like_path("scott/tiger@orcl"), Some("scott"));
    assert_eq!(login_like_path("scott/tiger@//db:1521/orcl"), Some("scott"));
    assert_eq!(login_like_path("scott/a@b@db"), Some("scott"));
    assert_eq!(login_like_path("scott/tiger@10.0.0.1/orcl"), Some("scott"));
    assert_eq!(login_like_path("scott/tiger@(DESCRIPTION=(HOST=db))"), Some("scott"));
    // Paths that do not exist were refused as logins.
    for text in ["a/b@c", "a/run@2024/file", "a/b/run@after", "a/run@2"] {
        assert_eq!(login_like_path(text), None, "{text}");
    }
    for text in ["/data/a@b", "./a/run@b", "../a/run@b", "data/a", "a/@b", "data/a@"] {
        assert_eq!(login_like_path(text), None, "{text}");
    }
}

proptest! {
    /// Whatever the password, a URL with it is recognised and shown without it.
    #[test]
    fn no_password_of_a_url_is_shown(
        scheme in "(postgres|POSTGRESQL|mysql|mongodb\\+srv|redis|mssql|postgres\\+ssl)",
        before in "[ -~&&[^%]]{0,8}",
        after in "[ -~&&[^%]]{0,8}",
    ) {
        let text = format!("{scheme}://anna:{before}Zq9xK{after}@db.example/shop");
        prop_assert!(holds_secret(&text));
        prop_assert!(!concealed(&text).contains("Zq9xK"), "{}", concealed(&text));
    }

    #[test]
    fn nothing_panics(text in "\\PC{0,60}") {
        let _ = (is_connection(&text), login_like_path(&text), concealed(&text));
    }
}
