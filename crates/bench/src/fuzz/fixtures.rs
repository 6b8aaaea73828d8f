//! What inputs are made from: the committed files of the crates' tests, and small ones of our own
//! for what has none.

use std::fs;
use std::path::{Path, PathBuf};

use dialects::{recognise, sqliosim};
use history::{Chosen, Format, History, Place};
use results::Document;
use serde_json::Value;
use trace::{DatabaseUse, FileClass, FileExtent, Header, Io, Moment, TracedFile, Writer};
use workload::sweep::PRESETS;

use crate::linux::Error;

/// The moment to use as the start of runs whose start is not known.
pub(super) const READ_AT: &str = "2026-11-23T12:00:00Z";

pub(super) const JOBS: [&str; 3] = [
    "[global]\n\
        filename=/data/f\n\
        size=1g\n\
        runtime=60s\n\
        time_based\n\
        ioengine=libaio\n\
        direct=1\n\
        [reads]\n\
        rw=randread\n\
        bs=8k\n\
        iodepth=32\n\
        numjobs=4\n\
        [writes]\n\
        stonewall\n\
        rw=write\n\
        bs=64k\n\
        rate_iops=500\n",
    "; a comment\n\
        [global]\n\
        size=10g\n\
        bssplit=4k/60:8k/30:64k/10,8k/100\n\
        rwmixread=70\n\
        random_distribution=zipf:1.2\n\
        [mix]\n\
        filename=/dev/sdz:/dev/sdy\n\
        rw=randrw\n\
        runtime=1h\n\
        ramp_time=30\n\
        fsync=32\n\
        [log]\n\
        filename=/log/f\n\
        rw=write\n\
        bs=4k\n\
        sync=1\n\
        rate=10m,5m\n",
    "[job]\n\
        directory=/mnt\n\
        filesize=1m\n\
        nrfiles=4\n\
        rw=randread\n\
        bs=512\n\
        blockalign=4k\n\
        zonesize=256k\n\
        zoneskip=1m\n\
        offset=1m\n\
        io_size=2g\n",
];

pub(super) const WORKLOADS: [&str; 3] = [
    "seconds = 60\n\
        [[targets]]\n\
        path = \"/data\"\n\
        size_bytes = \"16G\"\n\
        [[targets]]\n\
        path = \"/log\"\n\
        size_bytes = \"2G\"\n\
        [[streams]]\n\
        name = \"data\"\n\
        targets = [0]\n\
        depth = 32\n\
        write_percent = 30\n\
        [[streams]]\n\
        name = \"log\"\n\
        targets = [1]\n\
        pattern = \"sequential\"\n\
        blocks = [{ bytes = \"4K\", weight = 9 }, { bytes = \"60K\", weight = 1 }]\n\
        write_percent = 100\n\
        durable = true\n",
    "seconds = 2\n\
        warmup_seconds = 0\n\
        engine = \"sim\"\n\
        [sim]\n\
        servers = 8\n\
        read_ns = \"100us\"\n\
        cache = { kind = \"lru\", size_bytes = \"700M\", hit_ns = \"200us\" }\n\
        [[targets]]\n\
        path = \"sim\"\n\
        size_bytes = \"1G\"\n\
        [[streams]]\n\
        name = \"open\"\n\
        rate = { limit = { iops = 5000 }, arrival = \"poisson\" }\n",
    "[[targets]]\npath = \"/d\"\n",
];

pub(super) const BATCHES: [&str; 3] = [
    "@echo off\n\
        set DRIVE=E\n\
        set N=32\n\
        echo ComputerName: %COMPUTERNAME% > log.txt\n\
        sqlio -kR -frandom -b8 -t4 -o%N% -s60 -LS %DRIVE%:\\test.dat >> log.txt\n\
        rem next\n\
        sqlio -kW -fsequential ^\n\
        \x20-b64 -t2 -BH -Fparam.txt >> log.txt\n\
        timeout /T 60\n\
        exit /b\n",
    "call sqlio -kW -s10 -frandom -o8 -b8 -LS -Fparam.txt\r\n\
        sqlio -o4 -kR f.dat 2>&1 > out.txt\r\n",
    "@echo off\r\nsetlocal enabledelayedexpansion\r\nset /a n=1\r\n:again\r\n\
        for %%k in (R W) do (\r\n  for /L %%o in (1,2,5) do (\r\n\
        \x20   sqlio -k%%k -s60 -o%%o -b!n! -frandom -LS f.dat >> out.txt & timeout /t 5\r\n\
        \x20 )\r\n)\r\nset /a n*=2\r\nif %n% LEQ 8 goto again\r\ncall :one 8\r\ngoto :eof\r\n\
        :one\r\nif /i not \"%1\"==\"\" (sqlio -b%1 f.dat) else (echo none | more)\r\nexit /b\r\n",
];

pub(super) const POWER_SCRIPTS: [&str; 1] = ["# tests\r\n$f = \"E:\\t.dat\"; $sizes = 8,64\r\n\
    foreach ($k in @('R','W')) {\r\n  $sizes | ForEach-Object {\r\n\
    \x20   & .\\sqlio.exe -k$k \"-b$_\" -frandom -LS $f | Out-File -Append r.txt\r\n\
    \x20   Start-Sleep -Seconds 5\r\n  }\r\n}\r\n\
    for ($i = 1; $i -le 8; $i *= 2) { sqlio -o$i $f >> r.txt }\r\nWrite-Host 'done'\r\n"];

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
    "seconds = 3600\n\
        page_bytes = \"16K\"\n\
        threads = 4\n\
        hardening = \"flush\"\n\
        [random]\n\
        users = 32\n\
        update_percent = 50\n\
        chain_pages = [50, 100]\n\
        [throttle]\n\
        target_ns = \"100ms\"\n\
        bursts = true\n\
        [log]\n\
        block_bytes = 4096\n\
        page_images = true\n",
    "cycles = 0\n\
        doublewrite_pages = 128\n\
        [tables]\n\
        users = 4\n\
        table_pages = 16384\n\
        [resizing]\n\
        steps = [1, 20]\n\
        pause_min_ns = \"2s\"\n",
];

pub(super) const CLAIMS: [&str; 1] = ["[[claim]]\n\
        name = \"the vendor\"\n\
        block = \"8K\"\n\
        pattern = \"random\"\n\
        write = 0\n\
        expect = \"iops >= 8000\"\n\
        [[claim]]\n\
        load = \"log_write_4k\"\n\
        in_flight = 1\n\
        expect = [\"latency_mean <= 1ms\", \"latency_p99 <= 5ms\"]\n"];

pub(super) const LIMITS: [&str; 1] = ["[[limits]]\n\
        role = \"log\"\n\
        excellent_ns = 1000000\n\
        ideal_ns = 5000000\n\
        acceptable_ns = 15000000\n"];

/// Values as they follow flags, one per line.
pub(super) const VALUES: [&str; 1] = ["64K\n\
        1.5G\n\
        100ms\n\
        2h\n\
        8K:70,64K:30\n\
        hot:20/80\n\
        zipf:1.2\n\
        0-3,8\n\
        5ms@p99\n\
        10GbE\n\
        E=/mnt/e\n\
        iops >= 8000\n\
        read await > 5ms for 10s\n\
        postgres://user:secret@[::1]:5432/shop?sslmode=require\n\
        mysql://user@localhost/shop\n\
        sqlserver://sa@host:1433\n\
        2026-11-23T12:00:00Z\n"];

pub(super) const SERIES: [&str; 2] = [
    "Time,Reads/s,Writes/s\n2026-11-23 12:00:00,100,20\n2026-11-23 12:00:01,110,25\n",
    "time;queue\n1763900000;1.5\n1763900001;2.5\n",
];

/// Lines of public traces, and of what Windows prints.
pub(super) const TRACES: [&str; 6] = [
    "128166372003061629,web,0,Read,7014609920,24576,41286\n",
    "9,R,4096,8192,1577808000000046\n7,W,0,4096,1577808000000050\n",
    "Timestamp,Response,IOType,LUN,Offset,Size\n1456095145.133,0.0008,R,0,8991,131072\n",
    "0,20941264,8192,W,0.551706,Alpha/NT\n1,3436288,15872,r,1.250720\n",
    "fio version 3 iolog\n1 f add\n2 f read 0 4096\n",
    "BeginHeader\nDiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, \
     ElapsedTime, DiskNum\nEndHeader\nDiskRead, 100, a (1), 2, 0x3, 0x1000, 0x200, 40, 0\n",
];

/// A trace with files and a database, damaged at any byte.
pub(super) fn trace_file() -> Result<Vec<u8>, trace::TraceError> {
    let mut writer = Writer::with_annexes(Vec::new(), &Header::default())?;
    writer.files(&[TracedFile { class: FileClass::Log, name: Some("/pg_wal/1".to_owned()) }])?;
    let extent = FileExtent { device: 0, file: 0, offset_bytes: 4096, length_bytes: 1 << 20 };
    writer.extents(Moment::Start, &[extent])?;
    let (kind, stream, device) = (trace::Kind::Write, 0, 0);
    for i in 0..50 {
        let (issued_ns, latency_ns) = (i * 1000, Some(500));
        let (offset_bytes, length_bytes) = (4096 * i, 4096);
        let io = Io { issued_ns, latency_ns, device, stream, offset_bytes, length_bytes, kind };
        writer.write(io)?;
    }
    writer.database(&DatabaseUse::default())?;
    writer.extents(Moment::End, &[extent])?;
    writer.finish()
}

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
        ("dialects/tests/it/fio", "json"),
        ("dialects/tests/it/fio", "txt"),
        ("dialects/tests/it/fio_text", "txt"),
        ("dialects/tests/it/diskspd_results", "txt"),
        ("dialects/tests/it/diskspd_results", "xml"),
        ("dialects/tests/it/iometer", "csv"),
        ("dialects/tests/it/sqlio", "txt"),
    ] {
        all.extend(files(directory, ending)?);
    }
    Ok(all)
}

/// Documents: those of other tools' results, and short ones of our own of every kind that virtual
/// time gives.
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
