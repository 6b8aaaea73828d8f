//! An example for the help of every command.

use clap::Command;

/// Each command with what people type. A test reads every line with the program's own grammar.
pub const EXAMPLES: [(&str, &[&str]); 66] = [
    ("", &["iosonde assess /data --for postgres", "iosonde run /data -b 8K --depth 32 -d 30s"]),
    (
        "assess",
        &[
            "iosonde assess /data --for postgres --pace quick",
            "iosonde assess /data --from /tmp/shop.iotrace",
        ],
    ),
    ("inspect", &["iosonde inspect /data"]),
    ("knee", &["iosonde knee /data -b 8K --latency-target 5ms@p99"]),
    ("run", &["iosonde run /data -b 8K -w 30 -t 4 --depth 32 -d 30s -s 10G"]),
    ("sweep", &["iosonde sweep /data -b 8K,64K --depths 1,4,16 -d 10s --csv cells.csv"]),
    ("sizes", &["iosonde sizes /data --sizes 256M,1G,4G,16G"]),
    ("scale", &["iosonde scale /data1 /data2 /data3 -b 64K"]),
    ("matrix", &["iosonde matrix /data -b 8K --levels 0,25,50,75"]),
    ("validate", &["iosonde validate /data -s 10G -d 10m"]),
    ("monitor", &["iosonde monitor /data -d 1h --interval 5", "iosonde monitor -- fio job.fio"]),
    ("fleet", &["iosonde fleet run --ssh db1,db2 --target /mnt/vol -b 8K --depth 32"]),
    ("fleet knee", &["iosonde fleet knee --ssh db1,db2,db3 /mnt/vol/{host}.test --size 8G"]),
    ("fleet scale", &["iosonde fleet scale --ssh db1,db2,db3,db4 /mnt/vol/{host}.test -b 8K"]),
    (
        "fleet sweep",
        &["iosonde fleet sweep --ssh db1,db2 /mnt/vol/{host}.test --blocks 8K,64K --depths 1,8"],
    ),
    (
        "fleet assess",
        &[
            "iosonde fleet assess --ssh db1,db2 /mnt/vol/{host} --size 8G --for postgres",
            "iosonde fleet assess --ssh db1,db2 /mnt/vol/{host}.test --size 8G --together",
        ],
    ),
    (
        "fleet validate",
        &["iosonde fleet validate --ssh db1,db2 /mnt/vol/{host} --size 8G --seconds 300"],
    ),
    (
        "fleet monitor",
        &["iosonde fleet monitor --ssh db1,db2 /mnt/vol -d 600 --alert \"cpu > 90% for 1min\""],
    ),
    ("fleet hosts", &["iosonde fleet hosts --ssh db1,db2,db3 /mnt/vol"]),
    (
        "fleet resume",
        &["iosonde fleet resume --ssh db1,db2", "iosonde fleet resume --site site 01a215869c"],
    ),
    (
        "fleet init",
        &["iosonde fleet init site --host db1 --host db2", "iosonde fleet init site --renew"],
    ),
    ("fleet revoke", &["iosonde fleet revoke site db2"]),
    (
        "fleet run",
        &[
            "iosonde fleet run --ssh db1,db2 --target /mnt/vol/{host}.test -d 60s",
            "iosonde fleet run --site site --target /mnt/vol -b 8K --depth 32",
        ],
    ),
    ("fleet up", &["iosonde fleet up site"]),
    (
        "agent",
        &[
            "iosonde agent --stdio --allow /mnt/vol",
            "iosonde agent --join db1.creds --allow /mnt/vol",
        ],
    ),
    (
        "capture",
        &[
            "iosonde capture /var/lib/postgresql -d 60s -o /mnt/other/shop.iotrace",
            "iosonde capture --cgroup /sys/fs/cgroup/system.slice/mariadb.service -o db.iotrace",
            "iosonde capture /var/lib/postgresql --names --database postgres://db/x -o s.iotrace",
        ],
    ),
    ("capture anonymise", &["iosonde capture anonymise shop.iotrace -o public.iotrace"]),
    ("capture import", &["iosonde capture import sda.blktrace.0 sda.blktrace.1 -o shop.iotrace"]),
    ("capture model", &["iosonde capture model shop.iotrace -o shop.toml"]),
    ("capture show", &["iosonde capture show shop.iotrace"]),
    ("replay", &["iosonde replay shop.iotrace /data --from 14:00 --to 15:00 --users 2"]),
    ("fit", &["iosonde fit shop.iotrace /data --limit log=5ms@p99 --growth 4%/month"]),
    ("do", &["iosonde knee /data -b 8K --print-plan > knee.toml", "iosonde do knee.toml"]),
    ("baseline", &["iosonde baseline /data --pace quick"]),
    ("again", &["iosonde run /data --tag before-upgrade", "iosonde again @before-upgrade"]),
    ("workload", &["iosonde workload convert job.fio --to toml"]),
    ("workload convert", &["iosonde workload convert job.fio -o job.toml"]),
    ("specs", &["iosonde specs \"File Server\""]),
    ("history", &["iosonde history list --since 7d", "iosonde history show latest"]),
    ("history list", &["iosonde history list --since yesterday --kind run"]),
    ("history show", &["iosonde history show latest"]),
    ("history tag", &["iosonde history tag latest before-upgrade"]),
    ("history untag", &["iosonde history untag @before-upgrade before-upgrade"]),
    ("history note", &["iosonde history note latest \"new firmware\""]),
    ("history delete", &["iosonde history delete 3f2a"]),
    ("history export", &["iosonde history export --since 30d -o results.csv"]),
    ("history import", &["iosonde history import fio.json sqlio.log"]),
    ("history check", &["iosonde history check"]),
    ("history backup", &["iosonde history backup copy.db"]),
    ("history compare", &["iosonde history compare @before @after"]),
    ("history trend", &["iosonde history trend /data --figure p99"]),
    ("history drift", &["iosonde history drift /data -d 30s"]),
    ("report", &["iosonde report latest -o report.html"]),
    ("serve", &["iosonde serve --listen 8080"]),
    ("schema", &["iosonde schema measurement > measurement.schema.json"]),
    ("completions", &["iosonde completions bash > /etc/bash_completion.d/iosonde"]),
    ("man", &["iosonde man run | man -l -", "iosonde man --output /usr/local/share/man/man1"]),
    ("config", &["iosonde config"]),
    ("help", &["iosonde help history compare"]),
    ("sqlio", &["iosonde sqlio -kR -s30 -frandom -o8 -b8 -LS -Fparam.txt --drive E=/data"]),
    ("sqlio batch", &["iosonde sqlio batch --drives E --drive E=/data --dry-run"]),
    ("sqlio parse", &["iosonde sqlio parse results.txt"]),
    ("sqlio script", &["iosonde sqlio script santest.bat --drive E=/data"]),
    ("sqliosim", &["iosonde sqliosim -cfg sqliosim.cfg.ini --drive E=/data"]),
    ("diskspd", &["iosonde diskspd -b8K -d30 -o32 -t4 -r -w30 -c10G -L /data/io.dat"]),
    ("iometer", &["iosonde iometer -c config.icf -r results.csv --drive E=/data"]),
];

/// Puts the example of a command at the end of its help; what the command has there itself follows
/// in the long help.
pub(crate) fn with(command: Command, path: &str) -> Command {
    let Some((_, lines)) = EXAMPLES.iter().find(|(name, _)| *name == path) else { return command };
    let head = if lines.len() == 1 { "Example:" } else { "Examples:" };
    let example = format!("{head}\n  {}", lines.join("\n  "));
    match command.get_after_help().map(ToString::to_string) {
        Some(more) => {
            let long = format!("{example}\n\n{more}");
            command.after_help(example).after_long_help(long)
        }
        None => command.after_help(example),
    }
}
