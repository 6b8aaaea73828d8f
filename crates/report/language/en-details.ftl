# What a report says in English alone as yet: sentences of the sections besides "At a glance" and the verdicts.

## Method

method-rules = { $rules ->
        [one] The rule that was applied:
       *[other] The rules that were applied:
    }
method-rules-in-report = The rule that was applied is in the full report: { $command }
method-file-size = A small file may fit a cache of the storage and then shows the cache. No figure here holds for another file size.
method-no-doubt-of-the-verdict = There is no reason to doubt the verdict.
method-no-doubt-of-a-figure = There is no reason to doubt a figure.
method-headroom = Without any I/O iosonde makes { $ceiling } I/Os per second on this host. The largest rate measured here is { $used } of that.
method-latency-of-tool = As { $tool } tells it; iosonde did not measure it.
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
measurement-file-not-known = on a file of unknown size
measurement-by-tool = , measured by { $tool }
measurement-failed = { $errors } { $errors ->
        [one] I/O failed
       *[other] I/Os failed
    }
measurement-unsure = may be more than { $percent } % off
measurement-nothing-completed = nothing completed
measurement-of-other-tool = as the other tool tells them
measurement-no-doubt = nothing speaks against them
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
latency-missing-percentiles-of-tool = A percentile is missing where { $tool } does not tell it.
latency-missing-percentiles-of-tool-or-few = A percentile is missing where { $tool } does not tell it, or fewer than ten I/Os lie above it.
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
checks-kernel-no-one-device = not asked: there is no one device whose counters cover this target

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

sizes-nothing = This load says nothing about a cache: only uniformly random reads do.
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
setup-queue-ends = Saturation at { $in_flight } in flight is where { $queue } of { $device } ends ({ $limit }): more I/Os wait in the kernel.

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
capture-peak = { $iops } reads and writes per second, { $at } after the first I/O; at most { $rate } MiB/s
capture-read = read
capture-write = write
capture-durable-write = durable write (FUA)
capture-flush = flush
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
capture-sequential = { $share } sequential, { $again } repeat the I/O before; { $run } from the begin of a stream to its end
capture-depth = mean { $mean }, median { $p50 }, p99 { $p99 }, at most { $max }
capture-bursts = Variance of the I/Os per window divided by their mean: 0 is a metronome, 1 is chance, more are bursts.
