//! What a report says of many hosts.

use results::{
    AssessedHost, Document, Experiment, Fleet, FleetHost, FleetJob, FleetJobHost, FleetMerged,
    FleetVerdict, FleetWindow, Histogram, HostMeasurement, Latency, Measurement, OnLoss, Scale,
    ScaleUnit, Statistics, Status,
};
use workload::{Stream, Target, Workload};

use crate::sample;

fn statistics() -> Statistics {
    let mut histogram = Histogram::new();
    for us in 1..=5000 {
        histogram.record(us * 1000);
    }
    Statistics {
        ios: 5000,
        latency_ns: Latency::of(&histogram),
        histogram: Some(histogram.encode()),
        ..Statistics::default()
    }
}

fn host(name: &str, lost: Option<&str>) -> FleetHost {
    FleetHost {
        name: name.to_owned(),
        hostname: format!("{name}.example.org"),
        version: "0.2.0".to_owned(),
        measurement: lost.is_none().then_some(0),
        clock_bound_ns: Some(80_000),
        late_ns: Some(150_000),
        from_s: Some(3.0),
        to_s: Some(13.0),
        iops: Some(2500.0),
        mib_per_s: Some(19.5),
        lost: lost.map(str::to_owned),
        missing_events: 0,
        series: Vec::new(),
    }
}

fn document(hosts: Vec<FleetHost>, window: Option<FleetWindow>) -> Document {
    let conclusion = Fleet {
        transport: "ssh".to_owned(),
        on_loss: OnLoss::Continue,
        start_skew_ns: Some(1_200_000),
        clock_bound_ns: Some(80_000),
        window,
        merged: Some(FleetMerged {
            hosts: 1,
            total: statistics(),
            read: statistics(),
            write: Statistics::default(),
            sync: Statistics::default(),
        }),
        hosts,
    };
    let target = Target { path: "/data".into(), size_bytes: None };
    let workload = Workload::single(target, Stream::default());
    let measurements = vec![testing::measurement("m", workload)];
    let experiment = testing::experiment("f", "2026-11-25T12:00:00Z", conclusion);
    Document::Fleet(Box::new(Experiment { measurements, ..experiment }))
}

fn window() -> FleetWindow {
    FleetWindow {
        from_s: 3.0,
        seconds: 10.0,
        read_iops: 5000.0,
        write_iops: 0.0,
        read_mib_per_s: 39.0,
        write_mib_per_s: 0.0,
    }
}

#[test]
fn the_total_says_of_which_time_it_is_and_every_host_has_a_row() {
    let text = report::text::document(&document(
        vec![host("alpha7", None), host("beta7", None)],
        Some(window()),
    ));
    assert!(text.contains("39 MiB/s in the 10 s in which all of them"), "{text}");
    for words in ["2 hosts: ", "Start skew", "1.2 ms", "alpha7", "beta7", "p99"] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
}

#[test]
fn a_host_that_was_lost_is_named_with_its_reason() {
    let hosts = vec![host("alpha7", None), host("beta7", Some("it was silent"))];
    let text = report::text::document(&document(hosts.clone(), Some(window())));
    assert!(text.contains("Lost beta7: it was silent"), "{text}");
    let text = report::text::document(&document(hosts, None));
    assert!(text.contains("Nothing can be added up"), "{text}");
}

/// The vendor's copy does not say whose hosts they are.
#[test]
fn names_of_hosts_are_taken_out() {
    let hosts = vec![host("alpha7", None), host("beta7", Some("lost beta7.example.org"))];
    let mut documents = vec![document(hosts, Some(window()))];
    report::redact::redact(&mut documents).unwrap();
    let text = serde_json::to_string(&documents[0]).unwrap();
    assert!(!text.contains("alpha7") && !text.contains("beta7"), "{text}");
    assert!(text.contains("\"on_loss\":\"continue\""), "{text}");
}

/// Two hosts that did a job each; one has its own result.
fn jobs() -> Document {
    let target = Target { path: "/vol/gamma7".into(), size_bytes: None };
    let workload = Workload::single(target, Stream::default());
    let own = Document::Measurement(Box::new(testing::measurement("own", workload)));
    let host = |name: &str, lost: Option<&str>| FleetJobHost {
        name: name.to_owned(),
        hostname: format!("{name}.example.org"),
        version: "0.2.0".to_owned(),
        late_ns: Some(150_000),
        lost: lost.map(str::to_owned),
        document: serde_json::to_value(&own).ok().filter(|_| lost.is_none()),
        ..FleetJobHost::default()
    };
    let conclusion = FleetJob {
        job: "validate".to_owned(),
        transport: "nats".to_owned(),
        on_loss: OnLoss::Abort,
        start_skew_ns: Some(1_200_000),
        clock_bound_ns: Some(80_000),
        verdicts: vec![FleetVerdict {
            subject: "data".to_owned(),
            overall: "incomplete".to_owned(),
            hosts: vec![Some("right".to_owned()), None],
        }],
        hosts: vec![host("alpha7", None), host("beta7", Some("lost beta7.example.org"))],
    };
    let experiment = testing::experiment("j", "2026-11-25T12:00:00Z", conclusion);
    Document::FleetJob(Box::new(experiment))
}

#[test]
fn the_verdict_over_all_comes_first_and_then_every_host_in_full() {
    let text = report::text::document(&jobs());
    for words in ["not known of every host", "alpha7: ", "beta7: no result", "1.2 ms"] {
        assert!(text.to_lowercase().contains(words), "no `{words}` in {text}");
    }
    let report = report::build(&[jobs()]);
    let headings: Vec<&str> =
        report.results[0].sections.iter().map(|section| section.heading.as_str()).collect();
    assert!(headings.iter().any(|heading| heading.starts_with("alpha7: ")), "{headings:?}");
    let csv = &report.results[0].records;
    assert_eq!((csv.rows.len(), csv.columns[3].key), (2, "host"), "a record for each host");
}

/// The names are those of hosts, and of everything in their own results.
#[test]
fn names_in_the_results_of_hosts_are_taken_out() {
    let mut documents = vec![jobs()];
    report::redact::redact(&mut documents).unwrap();
    let text = serde_json::to_string(&documents[0]).unwrap();
    for name in ["alpha7", "beta7", "gamma7"] {
        assert!(!text.contains(name), "`{name}` in {text}");
    }
    assert!(text.contains("\"overall\":\"incomplete\""), "{text}");
}

/// A point of a search over two hosts with 4,111 and 3,012 IOPS; and the same load of one host.
fn points() -> [Measurement; 2] {
    let load =
        Workload::single(Target { path: "a:/data".into(), size_bytes: None }, Stream::default());
    let own = |iops| {
        let path = "/vol/gamma7".into();
        let load = Workload::single(Target { path, size_bytes: None }, Stream::default());
        let mut own = testing::measurement("own", load);
        own.total.iops = iops;
        own
    };
    let mut point = testing::measurement("p", load.clone());
    point.total.iops = 7_123.0;
    let hosts = [("alpha7", 4_111.0), ("beta7", 3_012.0)];
    point.hosts = hosts
        .map(|(name, iops)| HostMeasurement {
            name: name.to_owned(),
            late_ns: Some(150_000),
            from_s: 1.0,
            measurement: own(iops),
        })
        .into();
    [point, testing::measurement("alone", load)]
}

fn searched(point: Measurement) -> Document {
    let (alone, together) = (Vec::new(), Vec::new());
    let scale = Scale { unit: ScaleUnit::Iops, alone, doubled: None, together, scaling: None };
    let experiment = testing::experiment("s", "2026-11-25T12:00:00Z", scale);
    Document::Scale(Box::new(Experiment { measurements: vec![point], ..experiment }))
}

/// What each host measured at every point is in every format for people, and in JSON.
#[test]
fn points_of_several_hosts_show_each_of_them() {
    let [of_hosts, of_one] = points().map(|point| report::build(&[searched(point)]));
    for host in ["alpha7", "beta7"] {
        assert!(report::html::page(&of_hosts).unwrap().contains(host));
        let rows = report::markdown::text(&of_hosts);
        let row = rows.lines().find(|line| line.contains(&format!("| {host} |")));
        assert!(row.is_some_and(|row| row.contains("111") || row.contains("012")), "{rows}");
        assert!(!report::markdown::text(&of_one).contains(host));
    }
}

/// A spreadsheet has the figures of each host, too: rows after that of all, named in the last
/// column.
#[test]
fn the_table_of_loads_has_a_row_for_each_host() {
    let text = report::csv::text(&report::build(&points().map(searched)));
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = |key: &str| rows[0].iter().position(|name| *name == key).unwrap();
    let (iops, of_host) = (column("iops"), column("of_host"));
    assert_eq!(of_host, rows[0].len() - 1, "columns come at the end");
    let shown: Vec<(&str, &str)> = rows[1..].iter().map(|row| (row[of_host], row[iops])).collect();
    assert_eq!(shown[..3], [("", "7123"), ("alpha7", "4111"), ("beta7", "3012")], "{text}");
    assert_eq!((shown.len(), shown[3].0), (4, ""));
}

/// An assessment of several hosts together names each with its target, also in the command that
/// assesses them again; the vendor's copy names none.
#[test]
fn hosts_that_were_assessed_together_are_listed() {
    let mut found = sample::assessment();
    let host = |name: &str| AssessedHost { name: name.to_owned(), target: "/vol/gamma7".into() };
    found.hosts = ["alpha7", "beta7"].map(host).into();
    found.target = "/vol/{host}".into();
    found.patterns[0].measurement.hosts.clone_from(&points()[0].hosts);
    found.status = Status::Interrupted;
    let mut documents = vec![Document::Assessment(Box::new(found))];
    assert_eq!(documents[0].targets()[1].to_str(), Some("beta7:/vol/gamma7"));
    let text = report::markdown::text(&report::build(&documents));
    for words in ["| beta7 | /vol/gamma7 |", "fleet assess --ssh alpha7,beta7 --together --size "] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    report::redact::redact(&mut documents).unwrap();
    let text = serde_json::to_string(&documents[0]).unwrap();
    for name in ["alpha7", "beta7", "gamma7"] {
        assert!(!text.contains(name), "`{name}` in {text}");
    }
}
