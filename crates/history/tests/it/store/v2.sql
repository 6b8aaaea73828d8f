-- The tables of version 2 as an SQLite file has them.

-- One row for each run, sweep, assessment … Columns that are known after the first measurement are empty before it.
CREATE TABLE experiments (
    number         INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    schema         TEXT NOT NULL,
    kind           TEXT NOT NULL,
    title          TEXT NOT NULL,
    started        TEXT NOT NULL,
    finished       TEXT,
    status         TEXT CHECK (status IN ('complete', 'interrupted', 'failed')),
    plan_id        TEXT NOT NULL,
    tool_version   TEXT,
    host           TEXT,
    targets        TEXT NOT NULL,
    device         TEXT,
    engine         TEXT,
    file_bytes     INTEGER,
    measurements   INTEGER NOT NULL,
    best_iops      REAL,
    best_mib_per_s REAL,
    -- What a search looks through, in lower case: id, kind, title, host, targets and device.
    words          TEXT NOT NULL
) STRICT;
CREATE INDEX experiments_by_start ON experiments (started, id);
CREATE INDEX experiments_by_kind ON experiments (kind, started, id);
CREATE INDEX experiments_by_host ON experiments (host, started, id);
CREATE INDEX experiments_by_iops ON experiments (best_iops);
CREATE INDEX experiments_by_mib_per_s ON experiments (best_mib_per_s);

-- What is long and read rarely: the plan, and the result without its measurements.
CREATE TABLE documents (
    experiment INTEGER PRIMARY KEY REFERENCES experiments (number) ON DELETE CASCADE,
    plan       TEXT NOT NULL,
    document   TEXT
) STRICT;

-- One row for each set-up of host and storage that measurements were made on.
CREATE TABLE environments (
    number         INTEGER PRIMARY KEY,
    hash           TEXT NOT NULL,
    hostname       TEXT,
    os             TEXT,
    kernel         TEXT,
    cpu_model      TEXT,
    cpus           INTEGER,
    memory_bytes   INTEGER,
    virtualization TEXT,
    clocksource    TEXT,
    document       TEXT NOT NULL
) STRICT;
CREATE INDEX environments_by_hash ON environments (hash);

-- One row for each target of an environment. Of several disks under a target, the first is described.
CREATE TABLE environment_storage (
    environment             INTEGER NOT NULL REFERENCES environments (number) ON DELETE CASCADE,
    position                INTEGER NOT NULL,
    target                  TEXT NOT NULL,
    path                    TEXT NOT NULL,
    kind                    TEXT NOT NULL,
    layers                  TEXT NOT NULL,
    disks                   INTEGER NOT NULL,
    device                  TEXT,
    vendor                  TEXT,
    model                   TEXT,
    firmware                TEXT,
    serial                  TEXT,
    transport               TEXT,
    driver                  TEXT,
    scheduler               TEXT,
    queue_depth             INTEGER,
    nr_requests             INTEGER,
    rotational              INTEGER,
    write_cache             TEXT,
    device_bytes            INTEGER,
    logical_block_bytes     INTEGER,
    physical_block_bytes    INTEGER,
    minimum_io_bytes        INTEGER,
    optimal_io_bytes        INTEGER,
    max_io_bytes            INTEGER,
    partition               TEXT,
    partition_start_bytes   INTEGER,
    file_system             TEXT,
    mount_point             TEXT,
    mount_source            TEXT,
    mount_options           TEXT,
    file_system_bytes       INTEGER,
    file_system_block_bytes INTEGER,
    PRIMARY KEY (environment, position)
) STRICT;

-- One row for each measurement.
CREATE TABLE measurements (
    number                INTEGER PRIMARY KEY,
    experiment            INTEGER NOT NULL REFERENCES experiments (number) ON DELETE CASCADE,
    cell                  INTEGER NOT NULL,
    id                    TEXT NOT NULL,
    started               TEXT NOT NULL,
    status                TEXT NOT NULL,
    tool_version          TEXT NOT NULL,
    environment           INTEGER NOT NULL REFERENCES environments (number),
    host                  TEXT,
    target                TEXT NOT NULL,
    device                TEXT,
    engine                TEXT NOT NULL,
    load                  TEXT NOT NULL,
    conditions_id         TEXT NOT NULL,
    pattern               TEXT NOT NULL,
    write_percent         INTEGER,
    block_bytes           INTEGER,
    threads               INTEGER NOT NULL,
    depth                 INTEGER,
    in_flight             INTEGER NOT NULL,
    achieved_in_flight    REAL,
    file_bytes            INTEGER NOT NULL,
    direct                INTEGER NOT NULL,
    durable               INTEGER NOT NULL,
    seconds               REAL,
    ios                   INTEGER NOT NULL,
    bytes                 INTEGER NOT NULL,
    iops                  REAL,
    mib_per_s             REAL,
    read_iops             REAL,
    write_iops            REAL,
    latency_min_ns        INTEGER,
    latency_mean_ns       REAL,
    latency_stddev_ns     REAL,
    latency_p50_ns        INTEGER,
    latency_p90_ns        INTEGER,
    latency_p95_ns        INTEGER,
    latency_p99_ns        INTEGER,
    latency_p99_9_ns      INTEGER,
    latency_p99_99_ns     INTEGER,
    latency_p99_999_ns    INTEGER,
    latency_max_ns        INTEGER,
    read_latency_mean_ns  REAL,
    write_latency_mean_ns REAL,
    errors                INTEGER NOT NULL,
    cpu_us_per_io         REAL,
    UNIQUE (experiment, cell),
    UNIQUE (experiment, id)
) STRICT;
CREATE INDEX measurements_by_start ON measurements (started, number);
CREATE INDEX measurements_by_conditions ON measurements (conditions_id, started, number);
CREATE INDEX measurements_by_load ON measurements (pattern, write_percent, block_bytes, experiment);
CREATE INDEX measurements_by_experiment ON measurements (experiment, pattern, write_percent, block_bytes);
CREATE INDEX measurements_by_block ON measurements (block_bytes, write_percent, experiment);
CREATE INDEX measurements_by_host ON measurements (host, started, number);
CREATE INDEX measurements_by_environment ON measurements (environment);

-- What a measurement says beyond its row, its series, its histograms and its environment.
CREATE TABLE measurement_documents (
    measurement INTEGER PRIMARY KEY REFERENCES measurements (number) ON DELETE CASCADE,
    document    TEXT NOT NULL
) STRICT;

-- What happened in each interval: of the window that was measured, or of the beginning that was left out of it.
CREATE TABLE series (
    measurement     INTEGER NOT NULL REFERENCES measurements (number) ON DELETE CASCADE,
    part            TEXT NOT NULL CHECK (part IN ('window', 'warmup')),
    number          INTEGER NOT NULL,
    t               REAL NOT NULL,
    seconds         REAL NOT NULL,
    read_iops       REAL NOT NULL,
    write_iops      REAL NOT NULL,
    read_mib_per_s  REAL NOT NULL,
    write_mib_per_s REAL NOT NULL,
    read_mean_ns    REAL,
    write_mean_ns   REAL,
    read_p99_ns     INTEGER,
    write_p99_ns    INTEGER,
    max_ns          INTEGER,
    errors          INTEGER NOT NULL,
    PRIMARY KEY (measurement, part, number)
) STRICT, WITHOUT ROWID;

-- Histograms in the HdrHistogram V2 compressed encoding, base64. One that is also at another place is kept there.
CREATE TABLE histograms (
    measurement INTEGER NOT NULL REFERENCES measurements (number) ON DELETE CASCADE,
    place       TEXT NOT NULL,
    same_as     TEXT,
    histogram   TEXT,
    PRIMARY KEY (measurement, place),
    CHECK ((same_as IS NULL) <> (histogram IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE tags (
    experiment INTEGER NOT NULL REFERENCES experiments (number) ON DELETE CASCADE,
    tag        TEXT NOT NULL,
    PRIMARY KEY (experiment, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_name ON tags (tag, experiment);

CREATE TABLE notes (
    experiment INTEGER NOT NULL REFERENCES experiments (number) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    written    TEXT NOT NULL,
    note       TEXT NOT NULL,
    PRIMARY KEY (experiment, number)
) STRICT;

-- What is running now, for those who watch. Rows go away when another run begins.
CREATE TABLE live_runs (
    id         TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    title      TEXT NOT NULL,
    host       TEXT,
    targets    TEXT NOT NULL,
    started    TEXT NOT NULL,
    updated_ms INTEGER NOT NULL,
    ended      INTEGER NOT NULL
) STRICT;
CREATE TABLE live_events (
    run    TEXT NOT NULL REFERENCES live_runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    event  TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- The columns of the SQLIO-Parse scripts: latencies in ms, sizes in KiB.
CREATE VIEW sqlio_parse AS
SELECT CASE write_percent WHEN 0 THEN 'R' WHEN 100 THEN 'W' ELSE 'W' || write_percent END AS Kind,
       threads AS Threads,
       seconds AS Seconds,
       target AS Drive,
       CASE WHEN pattern LIKE 'sequential%' THEN 'sequential' ELSE pattern END AS Stripe,
       depth AS Outstanding,
       CAST(block_bytes AS REAL) / 1024 AS Size,
       iops AS IOs,
       mib_per_s AS MBs,
       CAST(latency_min_ns AS REAL) / 1000000 AS Latency_min,
       CAST(latency_mean_ns AS REAL) / 1000000 AS Latency_avg,
       CAST(latency_max_ns AS REAL) / 1000000 AS Latency_max,
       started AS Started,
       id AS Measurement
  FROM measurements;

-- The columns of the table SQLIO_TestPass. What the system does not tell is empty.
CREATE VIEW sqlio_testpass AS
SELECT m.host AS ServerName,
       s.disks AS DriveQty,
       CASE s.rotational WHEN 0 THEN 0 END AS DriveRPM,
       CASE WHEN s.disks > 1 THEN s.layers END AS DriveRaidLevel,
       m.started AS TestDate,
       s.model AS SANmodel,
       s.firmware AS SANfirmware,
       s.partition_start_bytes AS PartitionOffset,
       s.file_system AS Filesystem,
       s.file_system_block_bytes AS FSClusterSizeBytes,
       'iosonde ' || m.tool_version AS SQLIO_Version,
       m.threads AS Threads,
       CASE m.write_percent WHEN 0 THEN 'R' WHEN 100 THEN 'W' ELSE 'W' || m.write_percent END AS ReadOrWrite,
       m.seconds AS DurationSeconds,
       CAST(m.block_bytes AS REAL) / 1024 AS SectorSizeKB,
       m.pattern AS IOpattern,
       m.depth AS IOsOutstanding,
       CASE m.direct WHEN 1 THEN 'none' ELSE 'file system' END AS Buffering,
       CAST(m.file_bytes AS REAL) / 1048576 AS FileSizeMB,
       m.iops AS IOs_Sec,
       m.mib_per_s AS MBs_Sec,
       CAST(m.latency_min_ns AS REAL) / 1000000 AS LatencyMS_Min,
       CAST(m.latency_mean_ns AS REAL) / 1000000 AS LatencyMS_Avg,
       CAST(m.latency_max_ns AS REAL) / 1000000 AS LatencyMS_Max,
       m.id AS Measurement
  FROM measurements m
  LEFT JOIN environment_storage s ON s.environment = m.environment AND s.position = 0;
