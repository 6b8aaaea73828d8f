#!/bin/bash
# Writes the golden files of one version of iosonde: documents of every kind, a history that holds them, and what that
# version printed for them. `make.sh BINARY DIRECTORY`, as root. DIRECTORY must not exist yet.
#
# It runs in its own namespaces, on a loop device mounted at /mnt, so that the documents name an ordinary host.
set -euo pipefail

if [ "${3:-}" != inside ]; then
    [ ! -e "$2" ] || { echo "$2 exists" >&2; exit 2; }
    mkdir -p "$2"
    exec unshare --mount --uts "$(realpath "$0")" "$(realpath "$1")" "$(realpath "$2")" inside
fi

golden=$2
fixtures=$(realpath "$(dirname "$0")/../../../dialects/tests")
scratch=$(mktemp -d)
trap 'cd /; umount /mnt; losetup -d "$device"; rm -r "$scratch"' EXIT
cp "$1" "$scratch/iosonde"
export PATH=$scratch:$PATH TZ=UTC IOSONDE_HISTORY=$scratch/history.db
mkdir "$golden/documents" "$golden/printed"

# The host: its name, its kernel, the serial number of the disk behind it.
hostname db1
echo 6.12.57-generic > "$scratch/osrelease"
mount --bind "$scratch/osrelease" /proc/sys/kernel/osrelease
for serial in /sys/block/*/serial; do
    echo S4X1NF0M > "$scratch/serial"
    mount --bind "$scratch/serial" "$serial"
done
truncate -s 256M /var/tmp/golden.img
device=$(losetup -f --show /var/tmp/golden.img)
rm /var/tmp/golden.img
mkfs.ext4 -q -b 4096 "$device"
mount "$device" /mnt
cd /mnt

# keep NAME ARGUMENTS: one document, which is also recorded.
keep() {
    local name=$1
    shift
    iosonde "$@" --json --quiet --tag "$name" > "$golden/documents/$name.json" || [[ $? == [14] ]]
    [ -s "$golden/documents/$name.json" ]
}
sim=(--engine sim --seconds 2 --warmup 0)
small=(--size 8M --seconds 1 --warmup 0)

# Single measurements.
keep run run "${sim[@]}" --depth 8 --write 30
keep run-open run "${sim[@]}" --rate-mib 70 --arrival poisson --sim 'servers = 2, service = "exponential"'
keep run-errors run "${sim[@]}" --depth 4 --write 50 --sync-every 10 --on-error continue \
    --sim 'servers = 4, fail_every = 1000, stall = { period_ns = "1s", length_ns = "300ms" }'
cat > "$scratch/streams.toml" <<'TOML'
seconds = 2.0
warmup_seconds = 0.0
engine = "sim"
[[targets]]
path = "data"
[[targets]]
path = "log"
[[streams]]
name = "oltp"
threads = 2
depth = 4
write_percent = 30
blocks = [{ bytes = 8192, weight = 70 }, { bytes = 65536, weight = 30 }]
distribution = { zipf = { theta = 0.99 } }
targets = [0]
[[streams]]
name = "log writer"
pattern = "sequential"
write_percent = 100
durable = true
sync = { every_writes = 16, call = "fsync" }
blocks = [{ bytes = 4096, weight = 1 }]
targets = [1]
[[streams]]
name = "backup"
pattern = "sequential"
random_percent = 10
blocks = [{ bytes = 524288, weight = 1 }]
rate = { limit = { iops = 100 } }
TOML
keep run-streams run --workload "$scratch/streams.toml"
keep run-spec run "${sim[@]}" --spec 'File Server' --depth 4
keep run-options run "${sim[@]}" --pattern stride --stride 64K --write 50 --think 5ms --burst 4 --content 50 \
    --priority best-effort:3 --offset 1M --span 1G --cpus 0 --sim '
        servers = 2,
        assignment = "random",
        queue_limit = 8,
        durable_ns = "1ms",
        bytes_per_s = "1G",
        misaligned = { align_bytes = 4096, factor = 2.0 },
        bucket = { iops = 20000, burst_ios = 100 },
        write_cache = { size_bytes = "1M", drain_bytes_per_s = "10M", hit_ns = "20us" },
        warmup = { factor = 2.0, tau_ns = "100ms" },
        noise = { io_percent = 5.0, drift = { percent = 2.0, correlation = 0.5, period_ns = "1s" } },
        stuck = { at_io = 100, length_ns = "1s" },
        short_every = 5000'
keep run-precision run --engine sim --seconds 120 --warmup 2 --precision 1 --at-least 20 --write 100 --depth 8 --sim '
    noise = { io_percent = 5.0 },
    write_cache = { size_bytes = "1G", drain_bytes_per_s = "100M", hit_ns = "20us" }'
keep run-device run . "${small[@]}" --depth 4 --write 30 --cpus 0
(
    iosonde run . --size 8M --seconds 60 --warmup 0 --json --quiet --tag run-interrupted \
        > "$golden/documents/run-interrupted.json" &
    sleep 3
    kill -INT $!
    wait $! || [ $? = 130 ]
)
keep runs run "${sim[@]}" --depth 2 --repeat 3 --sim 'servers = 2, noise = { run_percent = 3.0, io_percent = 5.0 }'

# The dialects.
keep_dialect() {
    local name=$1
    shift
    iosonde "$@" --json --quiet --tag "$name" --engine sim > "$golden/documents/$name.json"
}
keep_dialect diskspd-sequential diskspd -b64K -d2 -W0 -si -t2 -o4 -w25 -L -c1G io.dat
keep_dialect diskspd-random diskspd -b8K -d2 -W0 -r -t2 -o4 -w25 -L -Sw -c1G io.dat
keep_dialect diskspd-pool diskspd -b8K -d2 -W0 -r -rdpct90/10:5/20 -F2 -O3 -w40 -L -c1G a.dat b.dat
keep_dialect sqlio sqlio -kW -s2 -frandom -o8 -b8 -LS -BH --size 1G testfile.dat
keep_dialect sqlio-batch sqlio batch --drives E --drive E=. --kinds R --threads 1,2 --factors random \
    --outstanding 1,4 --block-sizes 8 --seconds 2 --wait 0 --size 1G --result "$scratch/sqlio.txt"
sed 's/128        2          EXP/4          2          EXP/' "$fixtures/iometer/v1.1.0.icf" > "$scratch/cycle.icf"
keep cycle iometer -c "$scratch/cycle.icf" --engine sim --seconds 1

# Experiments.
cat > "$scratch/expect.toml" <<'TOML'
[[claim]]
name = "vendor"
load = "random_read_8k"
expect = "iops >= 8000"
TOML
keep assessment assess --engine sim --pace quick --report "$scratch/report.html" --expect "$scratch/expect.toml"
short=(--engine sim --seconds 2 --at-least 1 --warmup 0)
keep knee knee "${short[@]}" --to 8 --sim 'servers = 2, noise = { io_percent = 5.0 }' --iops 5000 --latency-target 1ms@p99 --link PCIe3x4
keep knee-device knee . --size 8M --seconds 1 --at-least 0.5 --warmup 0 --to 2
keep sweep sweep "${sim[@]}" --depths 1,8 --writes 0,100 --patterns random,sequential
keep sweep-adaptive sweep "${sim[@]}" --depths 1,2,4,8,16,32 --adaptive
keep sizes sizes "${short[@]}" --sizes 512M,2G,4G --sim 'cache = { size_bytes = "1G", hit_ns = "10us" }'
keep scale scale a b "${short[@]}" --size 1G --depth 4 --sim 'separate = true, link_bytes_per_s = "400M"'

# Watching. The command is what the recording goes by.
echo 'time,array_iops' > array.csv
for second in 0 1 2 3 4 5 6 7 8; do
    date -u -d "+$second seconds" +%FT%TZ,"$((100 + second))" >> array.csv
done
iosonde monitor . --interval 500ms --attach array.csv --alert 'write_latency > 1ns for 500ms' \
    --json --quiet --name recording -- iosonde run . "${small[@]}" --write 50 --json --quiet --no-history \
    > "$golden/documents/recording.json" 2> /dev/null || [ $? = 4 ]

# Integrity and durability, with and without damage.
printf 'bulk.users = 0\n' > "$scratch/plan.toml"
keep validation validate . --size 8M --log-size 8M --seconds 1
validate=(validate . --size 8M --log-size 8M --config "$scratch/plan.toml" --update 0)
: > "$scratch/said"
(
    iosonde "${validate[@]}" --rereads 2 --seconds 600 --json --tag validation-wrong \
        > "$golden/documents/validation-wrong.json" 2> "$scratch/said" &
    until grep -q 'the load is running' "$scratch/said"; do sleep 0.1; done
    for page in $(seq 0 40 1000); do
        printf X | dd of=iosonde.mdx bs=1 seek=$((page * 8192 + 700)) conv=notrunc status=none
    done
    wait $! || [ $? = 3 ]
)
iosonde validate --clean . > /dev/null
durability=(validate . --durability --size 8M --depth 4 --order log-then-page --json --quiet)
iosonde "${durability[@]}" --kill-after 0.5 --rounds 2 --witness-file "$scratch/kept" --tag durability \
    > "$golden/documents/durability.json"
iosonde "${durability[@]}" --kill-after 0.5 --keep --witness-file "$scratch/lost" --no-history > /dev/null
data=$(find . -maxdepth 1 -name '*.test' -not -name '*-log*')
dd if=/dev/zero of="$data" bs=1M count=8 conv=notrunc status=none
iosonde validate --verify "$scratch/lost" --json --quiet --tag durability-lost \
    > "$golden/documents/durability-lost.json" || [ $? = 3 ]

# Results of other tools.
for file in fio/two_jobs.json diskspd_results/two_targets_two_sockets.xml iometer/v2006.csv sqlio/console.txt; do
    name=import-${file%%[/_]*}
    iosonde history list --json | jq -r '.results[].id' | sort > "$scratch/before"
    iosonde history import "$fixtures/$file" 2> /dev/null
    new=$(iosonde history list --json | jq -r '.results[].id' | sort | comm -13 "$scratch/before" - | head -1)
    iosonde history tag "$new" "$name" 2> /dev/null
    iosonde history show "@$name" --json > "$golden/documents/$name.json"
done

# What follows from several results, and from none.
keep again run "${sim[@]}" --depth 8 --write 30 --sim 'read_ns = "120us"'
keep runs-slow run "${sim[@]}" --depth 2 --repeat 3 --sim 'servers = 2, read_ns = "130us", noise = { run_percent = 3.0 }'
for _ in 1 2 3 4; do
    iosonde run "${sim[@]}" --depth 8 --write 30 --quiet > /dev/null
done
for _ in 1 2 3 4; do
    iosonde run "${sim[@]}" --depth 8 --write 30 --sim 'read_ns = "150us"' --quiet > /dev/null
done
iosonde history compare @runs @runs-slow --json > "$golden/documents/comparison.json"
iosonde history compare @runs @runs-slow > "$golden/printed/comparison.txt"
iosonde history trend sim --load '8 KiB 30 % write' --json > "$golden/documents/trend.json"
iosonde history trend sim --load '8 KiB 30 % write' > "$golden/printed/trend.txt"
iosonde run . --size 8M --seconds 3 --warmup 0 --keep --quiet --no-history > /dev/null &
iosonde history drift /mnt --seconds 2 --json > "$golden/documents/drift.json"
wait
iosonde inspect . iosonde.test --json > "$golden/documents/inspection.json"

# What is printed of all of them. Nothing below looks at this machine.
iosonde history backup "$golden/history.db"
export IOSONDE_HISTORY=$golden/history.db
cd "$golden/printed"
iosonde history list > list.txt
iosonde history list --json > list.json
iosonde history export -o export.csv
iosonde history export --columns sqlio -o export-sqlio.csv
iosonde history export --series -o series.csv
iosonde history export -o export.jsonl
for name in $(jq -r '.results[].tags[]' list.json | sort -u); do
    iosonde history show "@$name" > "$name.txt"
    iosonde report "@$name" -o "$name.csv"
    iosonde report "@$name" -o "$name.md"
done
rm -f "$golden"/history.db-*
gzip -9n "$golden/history.db"
find "$golden" -size +60k -not -name '*.gz' -exec gzip -9n {} +
