# What a report says in English alone as yet: sentences of the sections besides "At a glance" and the verdicts.

## Method

method-rules = { $rules ->
        [one] The rule that was applied:
       *[other] The rules that were applied:
    }
method-rules-in-report = The rule that was applied is in the full report: { $command }
method-file-size = A small file may fit a cache of the storage and then shows the cache. No figure here holds for another file size.
contradiction = { $doubt }: { $others } gives { $follows } { $name }, not { $printed }
contradiction-block = block size
contradiction-threads = thread count
contradiction-threads-asked = threads of the parameters
contradiction-figure = { $name } ({ $value })
contradiction-of-one = { $figure } contradicts the other figures
contradiction-of-several = one of { $figures } and { $last } contradicts the others
method-no-doubt-of-the-verdict = There is no reason to doubt the verdict.
method-no-doubt-of-a-figure = There is no reason to doubt a figure.
method-headroom = Without any I/O iosonde makes { $ceiling } I/Os per second on this host. The largest rate measured here is { $used } of that.
method-latency-of-tool = As { $tool } reports it; iosonde did not measure it.
method-latency = From submission to completion of one I/O; at a set rate from the moment at which the I/O was due. Every I/O is recorded; a percentile is within 0.8 % of the truth, shortest and longest are exact.
method-promised = The storage had acknowledged the operation as durable, and the witness had stored that on stable media.
method-in-doubt = It may have been written at the moment of the crash. What was promised before, the new version or a mixture of both may be there; none of these is an error.
method-lost = It does not hold what was promised, nor anything newer. Something between the program and the medium acknowledged what it did not keep.
method-kept = Nothing was lost in this crash. What had left all caches before cannot be lost any more, so one crash says little.
method-shape = A mix of I/Os has the sizes, shares and order of a load: its shape. It is not the application, which waits for one I/O before it makes the next and has its own cache. No figure here describes the application.

## An assessment

assessment-largest = { $figure }: { $load }, { $in_flight } in flight
assessment-counters-agree = the counters of { $devices } agree in { $agreed } of { $loads } { $loads ->
        [one] load
       *[other] loads
    }
assessment-counters-explained = , differ for a known reason in { $loads }
assessment-counters-contradict = , contradict { $loads }, { $apart } apart at most
assessment-uncounted = { $finding }, so I/O by other processes would not show.
assessment-warnings = { $warnings ->
        [one] 1 warning:
       *[other] { $warnings } warnings, the first:
    } { $first }
assessment-pace-glance = glance: an impression
assessment-pace-quick = quick: an indication
assessment-pace-normal = normal
assessment-pace-long = long: a baseline
assessment-measured = { $from } to { $to }; pace { $pace }, loads of { $database }
assessment-doubts = { $warnings } { $warnings ->
        [one] warning
       *[other] warnings
    } about the figures, { $findings } { $findings ->
        [one] finding
       *[other] findings
    } about the set-up
assessment-no-saturation-point = No saturation point is given: too few loads were measured.

## A saturation point

knee-shallowest = shallowest
knee-deepest = deepest
knee-for-split = other threads
knee-for-blocks = { $size } blocks
knee-for-target = latency target
knee-for-curve = curve
knee-scalability-law = contention { $contention }, coherence { $coherence }, peak at { $peak } in flight, typical error { $error }

## A measurement

measurement-headline = { $iops }, { $mib }{ $latency }: { $load }, { $file }{ $tool }.
measurement-load-in-flight = { $load }, { $in_flight } in flight
measurement-latency = {" "}at a mean latency of { $latency }
measurement-file = on a file of { $size }
measurement-files = on { $files } files of { $size } together
measurement-file-not-known = on a file of unknown size
measurement-by-tool = , measured by { $tool }
measurement-failed = { $errors } { $errors ->
        [one] I/O failed
       *[other] I/Os failed
    }
measurement-unsure = may be more than { $percent } % off
measurement-nothing-completed = nothing completed
measurement-of-other-tool = as the other tool reports them
measurement-no-doubt = there is no reason to doubt them
measurement-doubts = { $reasons } { $reasons ->
        [one] reason
       *[other] reasons
    } to doubt

## What was tested

tested-no-target = no target
tested-targets = { $targets } targets
tested-other-tool = { $tool }, not iosonde
tested-measurements = { $measurements } { $measurements ->
        [one] measurement
       *[other] measurements
    }, { $from } to { $to }
tested-seconds-not-known = length not known
tested-seconds-of = { $measured } of { $asked }
tested-precision = { $measured } (asked: ± { $percent } %)
content-random = incompressible, no two blocks alike
content-zero = zeros
content-compressible = { $percent } % of each 4 KiB is zeros
content-counting = the bytes 0 to 255, over and over
content-repeating = one byte repeated, another in each write
content-fixed = the same random bytes in each write of a thread
content-of-file = parts of { $size } of `{ $file }`
content-of-buffer = parts of a random buffer of { $size }

## Latency

latency-missing-percentiles = A percentile is missing where fewer than ten I/Os lie above it.
latency-missing-percentiles-of-tool = A percentile is missing where { $tool } does not report it.
latency-missing-percentiles-of-tool-or-few = A percentile is missing where { $tool } does not report it, or fewer than ten I/Os lie above it.
latency-share-in-each-millisecond = Share of I/Os in each millisecond

## Agreement with the kernel

agreement-nothing = There is nothing to compare with: the kernel keeps no counters that cover this target, or the I/O need not arrive at the device as it was issued.
agreement-what = What iosonde measured, next to what the operating system counted at the device over the same window. The kernel's latency begins later, below the submission path, and decides nothing.
agreement-all-within = Every figure that is judged is within what it is allowed: the tolerance, and the I/Os that the edges of the window may cut.
agreement-beyond = beyond what is allowed
agreement-explained = explained below

## Whether figures fit together

checks-rate = { $share } of what was offered was reached
checks-asked-not-known = asked: not known
checks-asked = { $in_flight } asked
checks-achieved = , { $in_flight } achieved on average
checks-off-littles-law = ; { $off } off IOPS × service time (Little's law)
checks-rounds-steady = range { $range }, slope { $slope } of the mean: steady (SNIA: 20 %, 10 %)
checks-rounds-not-steady = range { $range }, slope { $slope } of the mean: not steady (SNIA: 20 %, 10 %)
checks-longest-gap = longest time without a completion on one thread { $gap }
checks-over-15-s = ; { $ios } { $ios ->
        [one] I/O
       *[other] I/Os
    } took 15 s or more
checks-unfinished = ; { $ios } { $ios ->
        [one] I/O
       *[other] I/Os
    } never returned, the oldest after { $oldest }
checks-kernel = { $device }: average queue { $queue }, busy { $busy }, { $flushes } flushes/s
checks-kernel-no-device = not asked: there is no real device
checks-kernel-no-one-device = not known: no counters cover this target for the whole time

## The environment

environment-host-not-known = The host is not known.
environment-processor = { $model } ({ $cpus } logical)
environment-memory = { $memory }, { $available } of it available
environment-share-of-memory = { $percent } % of memory
environment-file-system = { $kind } on { $place } ({ $source })
environment-space = { $size }, { $used } used, { $available } available
environment-partition = { $name }, starts at { $start } ({ $bytes } B), { $size } long
environment-lanes = { $lanes } { $lanes ->
        [one] lane
       *[other] lanes
    }
environment-no-findings = No findings about the set-up.
environment-note = Note
environment-serious = Serious
environment-why = {" "}Why: { $why }

## Sizes of files

sizes-nothing = This load shows nothing about a cache: only uniformly random reads do.
sizes-larger = larger than every size
sizes-none-seen = none seen
sizes-none-or-larger = none, or larger than every size
sizes-not-clear = not clear
sizes-fair = { $size }: the cache still answers { $hits }, and mean latency is too low by { $error }
sizes-times-the-cache = File of { $times } times the cache
sizes-cache-not-known = its size is not known
sizes-mark = cache
sizes-chart = { $unit } against file size
sizes-chart-of-cache = Share of fast I/Os, and what a cache of that size would answer
sizes-measured = measured
sizes-expected = expected, cache / file

## Several targets

scale-nothing = Nothing follows: no several targets were measured together.
scale-answer = { $targets } targets give { $share } of their sum
scale-chart = Measured against the sum of each alone
scale-chart-of-each = Each target alone and together with all
scale-alone = alone
scale-together = together
scale-sum = sum of each alone
scale-sum-in = Sum alone, { $unit }

## Many hosts

knee-shares = Each target at the operating point
knee-share = Share
kind-fleet = Many hosts, one load
fleet-no-window = Nothing can be added up: there was no time in which every host ran.
fleet-answer = { $hosts } hosts: { $iops } IOPS, { $mib } MiB/s in the { $seconds } s in which all of them ran
fleet-lost = Lost { $host }: { $reason }
fleet-heading-together = All hosts together
fleet-heading-hosts = The hosts
fleet-heading-each = Each host, while all of them ran
fleet-heading-merged = All hosts with a result, from merged histograms
fleet-start-skew = Start skew
fleet-clocks = Clocks known to
fleet-transport = Reached by
fleet-late = Late
fleet-from = Window from
fleet-to = Window to
fleet-clock = Clock ±
fleet-hostname = Calls itself
fleet-missing = Events missing
fleet-why-lost = Lost because
fleet-kind = I/O
fleet-failed = Failed
fleet-longest = Longest
fleet-chart = I/Os per second of each host
kind-fleet-job = Many hosts, one job each
fleet-job-kind = Job
fleet-job-heading-each = Each host
fleet-job-hosts = { $results } of { $hosts } hosts have a result
fleet-job-no-alert = no alert
fleet-job-alert = a condition came true
fleet-job-incomplete = not known of every host
fleet-job-no-result = no result

## Repeated measurements

runs-interval = {" "}± { $percent } % (95 % interval of the mean of the runs)
runs-in-flight = , { $in_flight } in flight
runs-headline = { $iops } on average of { $runs } { $runs ->
        [one] run
       *[other] runs
    }: { $load }, on a file of { $size }.
runs-one = cannot be told from one run
runs-not-well = not well
runs-well = well
runs-number = run { $number }
runs-of = { $done } of { $asked }
runs-spread = spread
runs-caption = { $caption } · spread: highest less lowest, in percent of the mean

## Findings about the set-up

setup-findings = { $findings ->
        [one] 1 finding on the set-up:
       *[other] { $findings } findings on the set-up, first:
    } { $first }
setup-of-knee = In the set-up, next to this saturation point:
setup-of-writes = In the set-up, next to the figures of writes:
setup-queue-depth = the queue depth
setup-queue-ends = The saturation point of { $in_flight } in flight is close to { $queue } of { $device } ({ $limit }): more I/Os wait in the kernel.

## Reads alongside writes

matrix-none = nothing that shows
matrix-slight = a little
matrix-strong = p99 of reads doubles, or reads fall behind
matrix-not-known = not known
matrix-highest-read = Highest read rate
matrix-highest-write = Highest write rate
matrix-p50-of-reads = p50 of reads
matrix-p99-of-writes = p99 of writes
matrix-p50-of-writes = p50 of writes
matrix-writes-per-s = { $rate } writes/s
matrix-caption = { $caption }. An empty cell has no latency: its rates were not reached, or too few I/Os completed.
matrix-chart = { $latency } against the rates of reads and writes
matrix-few-reads = few reads
matrix-reached = reached
matrix-not-reached = not reached
matrix-skipped = skipped
matrix-limit-latency = p99 doubles
matrix-limit-reads = reads not reached
matrix-limit-writes = writes not reached
matrix-limit-few-reads = too few reads

## A sweep

sweep-took = { $cells }; { $took } of the storage's time, of { $whole } that the whole takes.
sweep-impossible = { $cells } { $cells ->
        [one] cell is
       *[other] cells are
    } impossible here: { $reason }
sweep-load-at-depths = { $load }, depth { $depths }
sweep-mean = mean where 95 % of the best is reached
sweep-more-loads = { $loads } more loads have no chart here; their figures are in the table of all cells.
sweep-every-combination = { $load }: every combination
sweep-measured = measured
sweep-inferred = inferred
sweep-left-out = impossible here
sweep-missing = missing

## The kernel's names of figures

agreement-reads = reads/s
agreement-read-mib = read MiB/s
agreement-read-size = read size
agreement-read-latency = read latency
agreement-writes = writes/s
agreement-write-mib = write MiB/s
agreement-write-size = write size
agreement-write-latency = write latency

## How a load was made

mode-direct = direct (no OS cache)
mode-buffered = buffered (through the OS cache)
mode-mapped = mapped (through the OS cache, by copying)
mode-durable = { $mode }, writes durable
mode-not-durable = { $mode }, writes not durable
mode-partly-durable = { $mode }, some writes durable
words-depth = { $threads } × depth { $depth } = { $all }
words-depth-on-each = { $threads } × depth { $depth } on each target = { $all }
words-in-all = { $threads }, { $all } in all
words-more-devices = { $devices } more devices
words-file-system = { $kind } on { $place }
words-device-not-known = device not known
words-tool-own = { $version }, in the form of { $tool }
words-tool-without-version = { $tool } of unknown version
words-not-known = not known
words-depth-not-known = { $threads }, depth not known
words-when = after { $warmup } of warm-up, from { $from }, seed { $seed }
words-after-warm-up = after { $warmup } of warm-up, from { $from }
words-from = from { $from }
words-clock = , clock { $clock }
words-cost = { $total } per I/O, of which { $user } in user mode
words-busiest-thread = busiest thread
words-busiest-core = busiest core
words-host = host
words-cells = { $measured } of { $cells } { $cells ->
        [one] cell
       *[other] cells
    } measured

## Trends and drifts

trend-nothing = Nothing in the history has this figure.
trend-of = { $figure } of { $load }: { $explanation }
trend-over-time = { $load }: { $figure } over time
trend-by-date = { $load }: { $figure } by date
trend-more-loads = { $loads ->
        [one] 1 more load:
       *[other] { $loads } more loads:
    } { $names }. `{ $command }` shows one.
drift-now = Now, over { $time }, { $target } ({ $device }) on { $host }: { $in_flight } in flight on average, busy { $busy } of the time
drift-most = { $load }: { $of } in { $result }

## A configuration of IOMeter

cycle-iops = IOPS over the I/Os in flight
cycle-latency = Latency over the I/Os in flight
cycle-run = Run { $number }: { $spec }

## Comparisons

comparison-better = better
comparison-same = same
comparison-worse = worse
comparison-cannot-tell = cannot tell
comparison-withheld = withheld
comparison-withholds = withholds the verdict
comparison-only = Only { $side } has:
comparison-side = { $name } ({ $results } { $results ->
        [one] result
       *[other] results
    })
comparison-first = The first { $results } of each side.
comparison-both-sides = { $figure } on both sides
comparison-axis = Load, threads × depth
comparison-axis-of = { $load }, threads × depth
comparison-interval = { $low } to { $high } %
comparison-bar = the bar at B is the 90 % interval of the change from A
comparison-caption = Mean of the runs of each side, how far they lie apart, and the 90 % interval of the change from A to B.

## The grid of CrystalDiskMark

grid-heading = As CrystalDiskMark shows it
grid-caption = one window for each, not the best of five; MB are 10^6 bytes
grid-test = Test
grid-read-mb = Read MB/s
grid-write-mb = Write MB/s
grid-read-iops = Read IOPS
grid-write-iops = Write IOPS
grid-read-latency = Read latency
grid-write-latency = Write latency
## Loads alongside each other
heading-beside = Loads alongside each other
heading-cost-of-another = What a load costs another
heading-every-mixed-measurement = Reads alongside writes: every measurement
label-writes-cost = Writes
label-beside = Alongside
label-iops-alone = IOPS alone
label-iops-then = IOPS then
label-p99-alone-of-load = p99 alone
label-p99-then = p99 then
label-other-mib-per-s = The other, MiB/s

## Several results next to each other

overlay-against-latency = { $load }: throughput against latency
overlay-p99 = p99 latency
overlay-saturated = Saturated throughput
overlay-large = Throughput of large I/Os
overlay-of-each = { $figure } of each result
overlay-against-size = Throughput against file size
overlay-together = Throughput of several targets together
overlay-number = No. { $number }
overlay-name-number = { $name } (no. { $number })
overlay-no-common-load = { $one } is not overlaid: it has no load in common with { $other }.
overlay-unlike = { $one } is not overlaid: { $differences }.
overlay-withheld = { $one } against { $other }: { $why }.
overlay-better = { $one } is better than { $other }.
overlay-same = { $one } is the same as { $other }.
overlay-worse = { $one } is worse than { $other }.
overlay-not-known = Whether { $one } is better or worse than { $other } is not known.
overlay-difference = { $name } is { $b } instead of { $a }
overlay-more-differ = and { $more } more differ
overlay-left-out = { $loads ->
        [one] { $loads } load is left out of { $side }: { $example }, { $why }.
       *[other] { $loads } loads are left out of { $side }: for example, of { $example }, { $why }.
    }
overlay-not-drawn = Charts show the first { $drawn } results; the tables have the others: { $others }.
overlay-of = Of
overlay-change = Change
overlay-change-interval = Change (90 % interval)
overlay-change-of = Change of { $side }
overlay-change-of-interval = Change of { $side } (90 % interval)
overlay-interval = { $low } to { $high } %
overlay-change-verdict = { $change } %: { $verdict }
overlay-change-within = { $change } % ({ $interval }): { $verdict }

## Rounds until steady state

heading-rounds = Steady state
label-steady-state = Steady state
rounds-steady = Reached: rounds { $from } to { $to } are steady, and the figures of every cell are theirs.
rounds-not-steady = Not reached after { $rounds } rounds: the figures of every cell are those of the last five, and may still change.
rounds-too-few = Not known: { $rounds } whole { $rounds ->
        [one] round was
       *[other] rounds were
    } measured, and the rule needs five.
rounds-rule = Over five rounds, the IOPS of a tracked load spread by at most 20 % of their mean, and the line through them moves by at most 10 %.
rounds-written-before = { $written } were written before the first round.
rounds-differences = It differs from the IOPS test of the SNIA specification:
rounds-mean = Mean IOPS
rounds-range = Range
rounds-slope = Slope
rounds-is-steady = Steady
rounds-yes = yes
rounds-no = no
rounds-tracked = Loads that decide
rounds-window = The last five rounds; range and slope in percent of the mean.
rounds-chart = IOPS by round
rounds-chart-caption = The loads that decide whether the storage is steady.
rounds-round = Round
rounds-iops = IOPS by block and share of reads/writes
rounds-iops-caption = Mean of the last five rounds.

## What a live system asked of its storage

kind-capture = Trace
heading-what-was-captured = What was captured
heading-mix = I/Os by kind
heading-hot-set = Hot set and cache
heading-arrivals = Sequence, depth and bursts
heading-cache-by-size = What a cache of this size would serve
heading-bursts = Index of dispersion
label-busiest-second = Busiest second
label-busiest-minute = Busiest minute
label-frequent-sizes = Frequent sizes
label-working-set = Read or written at least once
label-read-after-write = Read after write
label-size-of-a-cache = Cache
label-reads-served = Reads served
label-misses = Misses
label-window = Window
capture-caption = { $ios } I/Os in { $time }
capture-ios = { $ios } ({ $rate } per second)
capture-first-to-last = { $time }, from the first I/O to the last
capture-begin-to-last = { $time }, from the start of the recording to the last I/O; when it ended is not known
capture-peak-recorded = { $iops } reads and writes per second, { $at } after the start of the recording; at most { $rate } MiB/s
capture-peak = { $iops } reads and writes per second, { $at } after the first I/O; at most { $rate } MiB/s
capture-read = read
capture-write = write
capture-durable-write = durable write (FUA)
capture-flush = flush
capture-log-write = log write
heading-writes-by-purpose = Writes of the log and of data
label-purpose = Purpose
label-in-order = In order
capture-log = log
capture-data = data
capture-discard = discard
capture-all = All
capture-reads = Reads
capture-writes = Writes
capture-flushes = Flushes
capture-discards = Discards
capture-bytes-read = Read
capture-bytes-written = Written
capture-chart-of-rates = I/Os per second
capture-chart-of-latency = Latency over time
capture-chart-of-latency-classes = I/Os by latency over time
capture-from = from { $latency }
capture-accesses-go-to = { $share } of the accesses
capture-read-after-write = { $share } of the accesses of reads are to what was written before in this trace
capture-chart-of-cache = Reads that a cache would serve
capture-sequential = { $share } sequential, { $again } repeat the I/O before; { $run } from the start of a stream to its end
capture-depth = mean { $mean }, median { $p50 }, p99 { $p99 }, at most { $max }
heading-files-of-a-trace = I/Os by file
heading-files-by-purpose = Files by purpose
heading-busiest-files = Files with the most I/Os
heading-databases-of-a-trace = What the database counted
label-files = Files
label-log-by-pattern = Log by pattern
label-in-the-database = In the database
label-in-the-trace = In the trace
capture-other-files = other files
capture-reused = unclear: another file had the place later
capture-outside = none of these files
capture-read-p50 = Read p50
capture-read-p99 = Read p99
capture-write-p50 = Write p50
capture-write-p99 = Write p99
capture-syncs = Syncs, flushes
capture-time-of = { $what } time
capture-files-caption = An I/O counts for the file in which it begins. None of these files: the file system itself, such as its journal, or files of others.
capture-file-numbers = The trace was recorded without names of files, so these are their numbers.
capture-writes-caption = Told apart by their files, where these include a log; otherwise by how they are written.
capture-pattern = { $both } writes to log files look like those of a log, { $file } do not; { $pattern } other writes look like those of a log
capture-database-caption = Counted over { $time }, from before the recording until after it. The database counts what it asked of the operating system, whose cache may answer; the trace has what reached the disks, of all programs.
capture-bursts = Variance of the I/Os per window divided by their mean: 0 is a metronome, 1 is chance, more are bursts.

## A validation

validation-question = Does the storage return what was written?
validation-is-right = right
validation-is-wrong-data = wrong data
validation-is-io-failed = I/Os failed
validation-is-ended-early = ended early
validation-is-interrupted = interrupted
validation-pages-compared = { $pages } { $pages ->
        [one] page that was read was
       *[other] pages that were read were
    } compared with what they should hold.
validation-audited = All of its { $pages } pages were read once more at the end.
validation-not-audited = Not every page was read at the end.
validation-log-read = { $blocks } acknowledged blocks of the log were read at the end.
validation-long-ios = { $ios } { $ios ->
        [one] I/O
       *[other] I/Os
    } took longer than 15 s.
validation-through-the-cache = What was read went through the cache of the operating system.
validation-phase-load = every page written once
validation-phase-users = users at work
validation-phase-work = reads and writes
validation-phase-audit = every page read
validation-phase-log = the log read
validation-resumed = continued for the { $times ->
        [1] first
        [2] second
       *[other] { $times }th
    } time, after reading the { $written } pages that had been written. { $unsure } of them were being written when the run ended, and could be old or new
validation-means-bits-read = A read gave wrong bits, and the next was right: memory, a cable or a controller. What is stored is right. A program without checksums works with wrong values, and writes them.
validation-means-bits-stored = Wrong bits are stored. A database with page checksums reports a corrupt page; without them, it returns wrong values.
validation-means-torn-page = A write arrived in part. To recover, a database needs full page images, a doublewrite area or a storage with atomic writes of its page size. An acknowledged write must never be torn.
validation-means-lost-write = An acknowledged write did not arrive. The old page is whole and has a valid checksum, so a database does not notice: committed changes are gone, and indexes no longer fit their tables.
validation-means-stale-read = A read gave an older version although the newer one is stored: a cache did not forget the old one. A database works with values that have been changed, and may write them back.
validation-means-newer-than-known = A page is of a version that this run has not written. Another program writes to the file, or the ledger is older than the data, as after a copy was restored.
validation-means-misdirected-write = A page was written to the place of another. Both are lost; the one that belongs there shows as a lost write.
validation-means-misdirected-read = A read gave another page. What is stored is right; a database that checks page numbers reports it.
validation-means-zeroed = Zeros are where data was: blocks were discarded or never written. A database may take such a page for a new one.
validation-means-foreign-data = This run never wrote these bytes. Another program or host writes to the same storage, or the storage maps two places to one.
validation-right = right
validation-wrong = wrong
validation-still-wrong = still wrong
validation-offset-of = { $offset } of { $file }
validation-page-of = page { $page } of { $file }
validation-more-counted = { $more } more were counted.
validation-more-in-json = … and { $more } more; --json has the first { $kept }
validation-the-others = The others
validation-log-blocks-were-durable = Each was acknowledged as durable: a database would lose committed transactions.
validation-pages-checked = Pages checked
validation-changes = Pages changed in memory
validation-commits = Commits
validation-checkpoints = Checkpoints
validation-cache-hits = Pages found in memory
validation-no-room = Changes without room in memory
validation-log-blocks-checked = Blocks of the log checked
validation-waited = Reads that found their pages in use by other I/Os
validation-ios-over-15-s = I/Os over 15 s
validation-files-shorter = Files became shorter
validation-files-longer = Files became longer
validation-reads = reads
validation-writes = writes
validation-flushes = flushes
validation-files-caption = A mix with checks between its I/Os: it does not measure the best that the storage can do.
fault-page = { $damage } in `{ $file }`, page { $page } at { $offset } bytes
fault-log-block = { $damage } in the log of thread { $thread } in `{ $file }`, block { $block } at { $offset } bytes
fault-first-byte = , first in byte { $byte } of it
fault-zeros-expected = : zeros are expected
fault-version-expected = : version { $version } is expected
fault-version-there = , version { $version } is there
fault-belongs-to = , which belongs to page { $page } of `{ $file }`
fault-belongs-to-another-file = , which belongs to page { $page } of another file
fault-never-written = not written since it came to be
fault-last-written = last written { $seconds } s after it
fault-last-written-long-after = last written more than 24 days after it
fault-log-written = written { $seconds } s after it
fault-log-written-before = written before this run was resumed
fault-touch-written = { $seconds } s version { $version } written
fault-touch-read = { $seconds } s version { $version } read and right
fault-moments = found { $found } s after the start, { $written }; through the cache of the system: { $cached }
fault-cache-not-read = not possible
fault-right-again = ; right when read again ({ $times } { $times ->
        [one] time
       *[other] times
    })
fault-wrong-sectors = , wrong in { $sectors ->
        [one] sector
       *[other] sectors
    } { $numbers }
fault-all-sectors = all: { $holds }
fault-sectors = sectors { $sectors }

## A test with a power cut

durability-question = Does what was acknowledged as durable survive a crash?
durability-oldest-loss = The oldest of what is lost was promised about { $time } before the last promise.
durability-one-crash = A cache that is empty at the moment of a crash loses nothing, so one crash says little.
durability-order-page = pages in place, made durable
durability-order-log-then-page = a record in the log, made durable; then its page, made durable by a checkpoint
durability-in-flight = { $operations } { $operations ->
        [one] operation
       *[other] operations
    } of each of { $threads } { $threads ->
        [one] thread
       *[other] threads
    }
durability-checked = Checked
durability-means-older = A committed change is gone. The page that is there is whole, so no checksum in it shows the loss.
durability-means-torn = A page is partly of before and partly of after a commit. A log with full pages, a doublewrite area or a checksum finds it.
durability-means-zeroed = The page is empty. A database may take it for a new one, and loses what was in it.
durability-means-misplaced = What belongs to another place is there. Both are wrong, and a database that checks page numbers reports it.
durability-means-foreign = The bytes are another program's, or older than the run: the page cannot be read as what it was.
durability-means-unreadable = The read fails. A database stops, or continues without what was committed there.
durability-means-missing = The file has become shorter: everything that was committed past its end is gone.
durability-means-ahead-of-log = A write has passed a flush. A change without its log record cannot be taken back, and recovery may damage more.
durability-means-unknown = It is newer than the witness's file: that file is an old copy, or of another run.
durability-right-sectors = { $right } of { $all }
durability-pages = pages
durability-log-records = log records
durability-areas-caption = What is in doubt may have been written at the moment of the crash; none of it is an error.

## A recording

recording-devices = { $devices } { $devices ->
        [one] device
       *[other] devices
    }
recording-exit-code = {" "}(exit code { $code })
recording-signal = {" "}(ended by signal { $signal })
recording-did-not-end = {" "}(did not end)
recording-length = { $time } in { $windows } { $windows ->
        [one] window
       *[other] windows
    }, { $from } to { $to }
recording-run-by-time = { $from } s to { $to } s of the recording, found by its time
recording-run-by-activity = { $from } s to { $to } s of the recording, found by what the device did
recording-ios-per-s = I/Os/s
recording-io-latency = I/O latency
recording-average-queue = average queue
recording-chart-of-device = { $device }: I/Os, latency and queue
recording-run-begins = run begins
recording-run-ends = run ends
recording-alert = alert
recording-alert-never = { $condition }: never
recording-alert-times = { $condition }: { $times } times in all.
recording-alert-time = from { $from } s to { $to } s, at worst { $worst }
recording-alert-to-the-end = from { $from } s to the end, at worst { $worst }
recording-whole-time = over the whole time
recording-devices-caption = over the whole time; latency and size weigh each I/O alike
recording-devices-caption-idle = over the whole time; latency and size weigh each I/O alike; { $devices } idle { $devices ->
        [one] device is
       *[other] devices are
    } not shown
recording-processors = Processors and pressure
recording-page-cache = Page cache
recording-attached = on the time axis of the recording

## Databases next to devices

databases-syncs = Syncs or flushes
databases-sync-latency = Sync latency
databases-read-latency = Read latency
databases-write-latency = Write latency
databases-counted-by = Counted by
databases-object = Object
databases-sides-caption = over the whole time; latency weighs each operation alike
databases-objects-caption = as the database counts them, over the whole time
databases-chart-caption = database and device
databases-read = { $databases ->
        [one] The database
       *[other] The databases
    } read { $asked }, { $devices } read { $read }:
databases-others-read = others read as well, or more was read ahead.
databases-cached = at least { $percent } % of what the database read came from the page cache.
databases-logged = { " " }and logged { $log } of WAL
databases-not-compared = On which of the recorded devices the databases keep their files is not known: nothing is compared.
databases-written = { $databases ->
        [one] The database
       *[other] The databases
    } wrote { $asked }, { $devices } took { $taken }. The latter includes what others wrote and the file system's journal, but not what is still in the page cache.

## A trace that was replayed

kind-replay = Replay
heading-what-was-replayed = What was replayed
heading-replay-result = Result
heading-recorded-and-replayed = Latency, recorded and replayed
heading-faithful = How faithful the replay was
label-trace = Trace
label-part = Part
label-speed = Speed
label-users = Users
label-timing = Issued by
label-recorded-in-flight = In flight when recorded
label-recorded-p50 = Recorded p50
label-recorded-p99 = Recorded p99
label-p99-from-issue = p99 from issue
label-demerit = Demerit
label-address-map = Addresses
label-recorded-iops = Recorded IOPS
label-elapsed-ratio = Time taken, times that of the trace
label-lag-p50 = Issued late, p50
label-lag-p99 = Issued late, p99
label-lag-max = Issued late, max
label-backlog = Backlog at the end
label-waited = Waited for a free slot
label-most-in-flight = Most in flight
label-used-by-trace = Used by the trace
label-longest-latency = Longest latency
replay-part = { $ios } I/Os in { $time }, from { $from } on
replay-times = { $factor } times
replay-as-timed = the clock of the trace (open loop)
replay-closed = completions, in the order and depth of the trace
replay-dependent = completions and think time
replay-identity = as in the trace
replay-compact = used parts side by side
replay-stretched = used parts spread over the target
replay-folded = folded: parts share their place
replay-demerit = Latency counts from the moment at which an I/O was due. The demerit is the root mean square of the differences of the quantiles, divided by the recorded mean: 0 is the same distribution.
replay-faithful = How late I/Os were issued, and how much was waiting to be issued at the end.
replay-chart = Replay on { $target }

## How many times the load of a trace fits

kind-fit = Fit
heading-fit = How many times the load fits
heading-fit-load = The load
heading-fit-limits = Limits
heading-attempts = Every replay
label-replay-at-work = Replay at work
label-processors-idle = Processors idle
label-growth = Growth
label-gives-out = What gives out first
label-months-at-least = Months, at least
label-months-at-most = Months, at most
label-answered-by = Answered by
label-quantile = Share of the I/Os
label-held = Thirds in which it held
label-did-not-hold = What did not hold
fit-growth = { $percent } % per month
fit-above = more than { $factor }
fit-below = less than { $factor }
fit-throughput = throughput
fit-host = this host, not the storage
fit-too-few = not judged: fewer than 20 I/Os of the kind { $kind }
fit-latency = { $kind }: { $was }, limit { $limit }
fit-model = a model, not measured
fit-measured = measurement
fit-times = Times the load of the trace.
fit-open = open loop
fit-waiting = copies that wait

## The load of a trace within an assessment

heading-captured = The captured load
heading-captured-limits = Limits of the roles at that load
label-replayed-p99 = Replayed p99
captured-caption = Latency counts from the moment at which an I/O was due at its time in the trace.
captured-holds = The storage carries the captured load. With each I/O at its time in the trace, every limit held in at least two of three thirds.
captured-holds-if-users-wait = Whether the storage carries the captured load is not certain. With each I/O at its time in the trace, this gave out: { $cause }. The limits held when I/Os waited for those before them, as those of users do.
captured-exceeded = The storage does not carry the captured load. This gave out: { $cause }.
captured-not-judged = This host was too slow to replay the captured load, which says nothing about the storage. Stop other programs, or assess from a host with more processors.
captured-too-few = Not judged, because this part of the trace has fewer than 20 of them: { $kinds }.
captured-not-replayed = The captured load was not replayed: { $why }.

## A workload that stands for a trace

kind-model = Model of a trace
heading-model-distances = How well the model stands for the trace
heading-model-streams = The model
label-arrivals = Spacing of the I/Os
label-dispersion-10-ms = Index of dispersion, 10 ms
label-used-share = Used
label-trace-p50 = p50, trace
label-model-p50 = p50, model
label-trace-p99 = p99, trace
label-model-p99 = p99, model
label-demerit-again = Demerit of two replays
label-close = Close enough
model-poisson = as those of independent users (Poisson)
model-windows-even = as many in each { $time } as in the trace, evenly spaced
model-windows-random = as many in each { $time } as in the trace, at random moments
model-close = yes
model-not-close = no
model-demerit = Both loads on simulated devices of known behaviour. The demerit is the root mean square of the differences of the quantiles, divided by the mean of the trace: 0 is the same distribution.
