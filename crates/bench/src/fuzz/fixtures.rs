//! What inputs are made from: the committed files of the crates' tests, and small ones of our own for what has none.

use std::fs;
use std::path::{Path, PathBuf};

use dialects::{recognise, sqliosim};
use history::{Chosen, Format, History, Place};
use results::Document;
use serde_json::Value;
use workload::sweep::PRESETS;

use crate::linux::Error;

/// The moment that stands for the start of runs of which nobody knows it.
pub(super) const READ_AT: &str = "2026-11-23T12:00:00Z";

pub(super) const JOBS: [&str; 3] = [
    "[global]\nfilename=/data/f\nsize=1g\nruntime=60s\ntime_based\nioengine=libaio\ndirect=1\n[reads]\nrw=randread\nbs=8k\niodepth=32\nnumjobs=4\n[writes]\nstonewall\nrw=write\nbs=64k\nrate_iops=500\n",
    "; a comment\n[global]\nsize=10%\nbssplit=4k/60:8k/30:64k/10,8k/100\nrwmixread=70\nrandom_distribution=zipf:1.2\nthinktime=10ms\n[mix]\nfilename=/dev/sdz:/dev/sdy\nrw=randrw\nruntime=1h\nramp_time=30\nfsync=32\n[log]\nfilename=/log/f\nrw=write\nbs=4k\nsync=1\nrate=10m,5m\n",
    "[job]\ndirectory=/mnt\nfilesize=1m\nnrfiles=4\nrw=randread\nbs=512\nblockalign=4k\nzonesize=256k\nzoneskip=1m\noffset=1m\nio_size=2g\nlatency_target=5ms\n",
];

pub(super) const WORKLOADS: [&str; 3] = [
    "seconds = 60\n[[targets]]\npath = \"/data\"\nsize_bytes = \"16G\"\n[[targets]]\npath = \"/log\"\nsize_bytes = \"2G\"\n[[streams]]\nname = \"data\"\ntargets = [0]\ndepth = 32\nwrite_percent = 30\n[[streams]]\nname = \"log\"\ntargets = [1]\npattern = \"sequential\"\nblocks = [{ bytes = \"4K\", weight = 9 }, { bytes = \"60K\", weight = 1 }]\nwrite_percent = 100\ndurable = true\n",
    "seconds = 2\nwarmup_seconds = 0\nengine = \"sim\"\n[sim]\nservers = 8\nread_ns = \"100us\"\ncache = { kind = \"lru\", size_bytes = \"700M\", hit_ns = \"200us\" }\n[[targets]]\npath = \"sim\"\nsize_bytes = \"1G\"\n[[streams]]\nname = \"open\"\nrate = { limit = { iops = 5000 }, arrival = \"poisson\" }\n",
    "[[targets]]\npath = \"/d\"\n",
];

pub(super) const BATCHES: [&str; 2] = [
    "@echo off\nset DRIVE=E\nset N=32\necho ComputerName: %COMPUTERNAME% > log.txt\nsqlio -kR -frandom -b8 -t4 -o%N% -s60 -LS %DRIVE%:\\test.dat >> log.txt\nrem next\nsqlio -kW -fsequential ^\n -b64 -t2 -BH -Fparam.txt >> log.txt\ntimeout /T 60\nexit /b\n",
    "call sqlio -kW -s10 -frandom -o8 -b8 -LS -Fparam.txt\r\nsqlio -o4 -kR f.dat 2>&1 > out.txt\r\n",
];

pub(super) const PARAMETERS: [&str; 2] =
    ["# comment\nE:\\test.dat 2 0x0 100\n\"f:\\a b.dat\" 4 0x3\n", "c:\\testfile.dat 1 0x0 1024"];

pub(super) const SQLIO_COMMANDS: [&str; 3] = [
    "-kW -b8 -frandom -s120 -t2 -o8 -BH -LS /data/io.dat",
    "-kR -fsequential -i16 -dEF -p3 -mS16 -b64 f.dat",
    "-Fparam.txt -frandom -LPi -v1.1.1 -64 -mC4",
];

pub(super) const SQLIOSIM_COMMANDS: [&str; 2] = [
    "-cfg sqliosim.cfg.ini -d 300 -size 100 -dir /data -log log.xml",
    "-cfg hwcache -save out.ini",
];

pub(super) const PLANS: [&str; 2] = [
    "seconds = 3600\npage_bytes = \"16K\"\nthreads = 4\nhardening = \"flush\"\n[random]\nusers = 32\nupdate_percent = 50\nchain_pages = [50, 100]\n[throttle]\ntarget_ns = \"100ms\"\nbursts = true\n[log]\nblock_bytes = 4096\npage_images = true\n",
    "cycles = 0\ndoublewrite_pages = 128\n[tables]\nusers = 4\ntable_pages = 16384\n[resizing]\nsteps = [1, 20]\npause_min_ns = \"2s\"\n",
];

pub(super) const CLAIMS: [&str; 1] = [
    "[[claim]]\nname = \"the vendor\"\nblock = \"8K\"\npattern = \"random\"\nwrite = 0\nexpect = \"iops >= 8000\"\n[[claim]]\nload = \"log_write_4k\"\nin_flight = 1\nexpect = [\"latency_mean <= 1ms\", \"latency_p99 <= 5ms\"]\n",
];

pub(super) const LIMITS: [&str; 1] = [
    "[[limits]]\nrole = \"log\"\nexcellent_ns = 1000000\nideal_ns = 5000000\nacceptable_ns = 15000000\n",
];

/// Values as they stand behind flags, a line for each.
pub(super) const VALUES: [&str; 1] = [
    "64K\n1.5G\n100ms\n2h\n8K:70,64K:30\nhot:20/80\nzipf:1.2\n0-3,8\n5ms@p99\n10GbE\nE=/mnt/e\niops >= 8000\nread await > 5ms for 10s\npostgres://user:secret@[::1]:5432/shop?sslmode=require\nmysql://user@localhost/shop\nsqlserver://sa@host:1433\n2026-11-23T12:00:00Z\n",
];

pub(super) const SERIES: [&str; 2] = [
    "Time,Reads/s,Writes/s\n2026-11-23 12:00:00,100,20\n2026-11-23 12:00:01,110,25\n",
    "time;queue\n1763900000;1.5\n1763900001;2.5\n",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file of a directory of the crates with this ending, in the order of their names.
pub(super) fn files(directory: &str, ending: &str) -> Result<Vec<Vec<u8>>, Error> {
    let path = crates().join(directory);
    let mut names: Vec<PathBuf> = fs::read_dir(&path)
        .map_err(|error| format!("the fixtures in `{}` cannot be read: {error}", path.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    names.retain(|name| name.extension().is_some_and(|e| e == ending));
    names.sort();
    if names.is_empty() {
        return Err(format!("found no fixture `*.{ending}` in `{}`", path.display()).into());
    }
    Ok(names.iter().map(fs::read).collect::<Result<_, _>>()?)
}

/// A field of every line of a file of JSON lines; words are joined.
pub(super) fn field(file: &str, name: &str) -> Result<Vec<Vec<u8>>, Error> {
    let path = crates().join(file);
    let text = fs::read_to_string(&path)
        .map_err(|error| format!("the fixture `{}` cannot be read: {error}", path.display()))?;
    let mut found = Vec::new();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line)?;
        match &value[name] {
            Value::String(text) => found.push(text.clone().into_bytes()),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                found.push(words.join(" ").into_bytes());
            }
            _ => {}
        }
    }
    Ok(found)
}

pub(super) fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// The plans of sweeps that come with the program.
pub(super) fn presets() -> Vec<Vec<u8>> {
    PRESETS.iter().map(|preset| preset.toml.as_bytes().to_vec()).collect()
}

/// The configurations that come with SQLIOSim.
pub(super) fn sqliosim_files() -> Result<Vec<Vec<u8>>, Error> {
    let text = |name: &&str| {
        let config = sqliosim::shipped(name).ok_or("a configuration of SQLIOSim is missing")?;
        Ok(sqliosim::write(&config)?.into_bytes())
    };
    sqliosim::NAMES.iter().map(text).collect()
}

/// Results of other tools, of every kind.
pub(super) fn foreign() -> Result<Vec<Vec<u8>>, Error> {
    let mut all = Vec::new();
    for (directory, ending) in [
        ("dialects/tests/fio", "json"),
        ("dialects/tests/fio", "txt"),
        ("dialects/tests/diskspd_results", "txt"),
        ("dialects/tests/diskspd_results", "xml"),
        ("dialects/tests/iometer", "csv"),
        ("dialects/tests/sqlio", "txt"),
    ] {
        all.extend(files(directory, ending)?);
    }
    Ok(all)
}

/// Documents: those of other tools' results, and short ones of our own of every kind that virtual time gives.
pub(super) fn documents() -> Result<Vec<Document>, Error> {
    let mut documents = Vec::new();
    for bytes in foreign()? {
        let found = recognise::recognise(&bytes, "fixture", READ_AT)?;
        let first = found.into_iter().flat_map(|found| found.measurements).take(2);
        documents.extend(first.map(|m| Document::Measurement(Box::new(m))));
    }
    for bytes in files("bench/src/fuzz/documents", "json")? {
        documents.push(Document::parse(&String::from_utf8_lossy(&bytes))?);
    }
    Ok(documents)
}

/// The same documents as an export of a history.
pub(super) fn exported(documents: &[Document], directory: &Path) -> Result<Vec<u8>, Error> {
    let history = History::open(&Place::File(directory.join("fixtures.db")))?;
    for document in documents {
        history.add(document)?;
    }
    let mut out = Vec::new();
    history.export(&Chosen::Fitting(Box::default()), Format::JsonLines, &mut out)?;
    Ok(out)
}
