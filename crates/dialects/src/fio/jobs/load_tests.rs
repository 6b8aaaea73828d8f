//! Options that change the load: expressed, or refused.

use std::path::Path;

use workload::{Bytes, RateLimit, Stream};

use super::tests::{one, read};
use super::*;

/// Each was "not done", and another load was measured.
#[test]
fn what_changes_the_load_and_has_no_meaning_here_refuses_the_job() {
    for option in [
        "bsrange=24k-250k",
        "rw=randread:8",
        "read_iolog=/log",
        "latency_target=5ms",
        "zonesize=1m",
        "iodepth_low=4",
        "startdelay=10",
        "fdatasync=1\nfsync=8",
        "dedupe_percentage=50",
        "file_service_type=zipf:1.1",
        "bs=4k,64k\nthinktime=100",
    ] {
        let text = format!("[x]\nfilename=/f:/g\nrw=randrw\nsize=1m\n{option}\n");
        let error = read(&text).unwrap_err();
        assert!(matches!(error, JobFileError::Load { .. }), "{option}: {error}");
    }
    // An option that has no effect in this job is not lost.
    let quiet = "verify=0\nrandrepeat=0\nbsrange=8k-8k\nzonemode=none\ndedupe_percentage=50\n\
                 runtime=1\ntime_based\n";
    let group = one(&format!("[x]\nfilename=/f\nrw=randread\nsize=1m\n{quiet}"));
    assert_eq!(group.lost, [""; 0]);
    assert_eq!(group.workload.streams[0].blocks[0].bytes, Bytes(8192));
    // A job behind a wall can be run without the one that cannot.
    let text = "[a]\nrw=read\nsize=1m\n[b]\nstonewall\nbsrange=1k-2k\n";
    let groups = super::read(text, Environment::NOTHING).unwrap();
    assert!(groups[0].is_ok() && groups[1].is_err());
    // Another file may hold anything.
    let error = read("[x]\nrw=read\ninclude other.fio\n").unwrap_err().to_string();
    assert!(error.contains("put its lines here"), "{error}");
}

/// `verify=crc32c` was a note: fio reads all that the job wrote, which made half of its I/Os.
#[test]
fn reads_that_verify_writes_are_another_load() {
    let lost = |rw: &str, options: &str| {
        let text = format!("[x]\nfilename=/f\nrw={rw}\nsize=1m\n{options}\n");
        let groups = super::read(&text, Environment::NOTHING).unwrap();
        groups.into_iter().next().unwrap().map(|group| group.lost.join("\n"))
    };
    for options in [
        "verify=crc32c",
        "verify=crc32c\ndo_verify=1\nruntime=1",
        "verify=md5\nverify_backlog=32\nruntime=1\ntime_based",
        "verify_only",
    ] {
        for rw in ["randwrite", "randrw"] {
            let error = lost(rw, options).unwrap_err();
            assert!(matches!(error, JobFileError::Load { .. }), "{rw} {options}: {error}");
        }
    }
    // fio verifies what a reader reads, and a job that ends by time never comes to verify.
    for (rw, options) in [
        ("randread", "verify=crc32c"),
        ("randwrite", "verify=crc32c\ndo_verify=0\nverify_backlog=32"),
        ("randwrite", "verify=crc32c\nruntime=1\ntime_based"),
    ] {
        let lost = lost(rw, options).unwrap();
        assert!(lost.contains("`verify=crc32c` has no word here"), "{lost}");
        assert!(!lost.contains("backlog"), "{lost}");
    }
    assert!(!lost("randwrite", "verify=0\nverify_backlog=32").unwrap().contains("verify"));
}

/// `rate_iops=200,100` was one rate of 300 with half of it writes. In fio, the limits decide, and
/// not `rwmixread`.
#[test]
fn reads_and_writes_have_their_own_rates() {
    let streams = |options: &str| {
        let text = format!("[x]\nfilename=/f\nrw=randrw\nsize=1m\niodepth=4\n{options}\n");
        let workload = one(&text).workload;
        assert_eq!(workload.violations(), [], "{options}");
        let stream = |s: &Stream| (s.write_percent, s.largest_block(), s.rate.map(|r| r.limit));
        workload.streams.iter().map(stream).collect::<Vec<_>>()
    };
    let iops = |n| Some(RateLimit::Iops(n));
    let two = [(0, 4096, iops(200.0)), (100, 4096, iops(100.0))];
    assert_eq!(streams("rate_iops=200,100"), two);
    assert_eq!(streams("rate_iops=,100"), [(0, 4096, None), (100, 4096, iops(100.0))]);
    assert_eq!(streams("rate_iops=400,"), [(0, 4096, iops(400.0)), (100, 4096, None)]);
    // Where a share of writes says the same, it is one stream.
    assert_eq!(streams("rwmixread=70\nrate_iops=300"), [(50, 4096, iops(600.0))]);
    assert_eq!(streams("rate_iops=300,100"), [(25, 4096, iops(400.0))]);
    assert_eq!(
        streams("bs=4k,64k\nrate_iops=30,10"),
        [(0, 4096, iops(30.0)), (100, 65_536, iops(10.0))]
    );
}

/// Blanks in `bssplit` made it 4 KiB.
#[test]
fn sizes_without_a_percentage_share_the_rest() {
    let blocks = |split: &str| {
        let text = format!("[x]\nfilename=/f\nrw=randread\nsize=1m\nbssplit={split}\n");
        let stream = one(&text).workload.streams.remove(0);
        stream.blocks.iter().map(|b| (b.bytes.0, b.weight)).collect::<Vec<_>>()
    };
    assert_eq!(blocks("4k/50:8k/:16k/"), [(4096, 50), (8192, 25), (16_384, 25)]);
    assert_eq!(blocks("4k/60 : 8k/40"), [(4096, 60), (8192, 40)]);
    assert_eq!(blocks("4k/60:8k"), [(4096, 60), (8192, 40)]);
    assert_eq!(blocks("4k/60:8k/20"), [(4096, 60), (8192, 40)], "fio gives the rest to the last");
}

/// The second share was left out.
#[test]
fn reads_and_writes_may_have_their_own_shares_of_random_ios() {
    let random = |options: &str| {
        let text = format!("[x]\nfilename=/f\nsize=1m\n{options}\n");
        one(&text).workload.streams.remove(0)
    };
    assert_eq!(random("rw=randwrite\npercentage_random=90,30").random_percent, 30);
    let mix = random("rw=randrw\npercentage_random=90,30").mix.unwrap();
    let parts: Vec<_> =
        mix.parts.iter().map(|p| (p.percent, p.write_percent, p.random_percent)).collect();
    assert_eq!(parts, [(50, 0, 90), (50, 100, 30)]);
}

/// "depth is 1 … use depth 1": a mix had its depth on each file.
#[test]
fn a_mix_on_two_files_has_its_depth_on_both_together() {
    let Group { workload, .. } = one("[a]\nrw=randrw\nbs=4k,64k\nfilename=/d/a:/d/b\nsize=1g\n");
    assert_eq!((workload.violations(), workload.in_flight()), (vec![], 1));
}

/// 54 of 893 public jobs use a share of a file or device, and were refused.
#[test]
fn shares_of_a_file_are_known_where_the_file_is() {
    let size_of = |path: &Path| (path == Path::new("/dev/x")).then_some(1 << 30);
    let span = |options: &str| {
        let text = format!("[x]\nfilename=/dev/x\nrw=randread\n{options}\n");
        let environment = Environment { size_of: &size_of, ..Environment::NOTHING };
        let workload = super::read(&text, environment).unwrap().remove(0).unwrap().workload;
        let stream = &workload.streams[0];
        (stream.offset_bytes.0 >> 20, stream.span_bytes.map(|b| b.0 >> 20))
    };
    assert_eq!(span("size=100%"), (0, None));
    assert_eq!(span("size=100%\noffset=25%"), (256, None));
    assert_eq!(span("size=25%\noffset=50%"), (512, Some(256)));
}

/// fio unescapes `\:` and nothing else: `D\:\data\t.dat` became `D:datat.dat`.
#[test]
fn backslashes_are_those_of_the_path() {
    let Group { workload, .. } = one("[j]\nfilename=D\\:\\data\\t.dat:E\\:\\x\nrw=read\nsize=1m\n");
    let paths: Vec<_> = workload.targets.iter().map(|t| t.path.to_str().unwrap()).collect();
    assert_eq!(paths, [r"D:\data\t.dat", r"E:\x"]);
    let (text, _) = write(&workload).unwrap();
    assert_eq!(one(&text).workload.targets, workload.targets);
}
