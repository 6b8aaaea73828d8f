-- The databases spell the words in braces differently: see `spell` in schema.rs.

-- One row for each run, sweep, assessment … Columns that are known after the first measurement are empty before it.
CREATE TABLE experiments (
    number         {serial},
    id             {key} NOT NULL UNIQUE,
    schema         TEXT NOT NULL,
    kind           {key} NOT NULL,
    title          TEXT NOT NULL,
    started        {key} NOT NULL,
    finished       TEXT,
    status         TEXT CHECK (status IN ('complete', 'interrupted', 'failed')),
    plan_id        {key} NOT NULL,
    tool_version   TEXT,
    host           {key},
    targets        {key} NOT NULL,
    device         TEXT,
    engine         TEXT,
    file_bytes     {integer},
    measurements   {integer} NOT NULL,
    best_iops      {real},
    best_mib_per_s {real},
    -- What a search looks through, in lower case: id, kind, title, host, targets and device.
    words          TEXT NOT NULL
){table};
CREATE INDEX experiments_by_start ON experiments (started, id);
CREATE INDEX experiments_by_kind ON experiments (kind, started, id);
CREATE INDEX experiments_by_host ON experiments (host, started, id);
CREATE INDEX experiments_by_iops ON experiments (best_iops);
CREATE INDEX experiments_by_mib_per_s ON experiments (best_mib_per_s);

-- What is long and read rarely: the plan, and the result without its measurements.
CREATE TABLE documents (
    experiment {integer} PRIMARY KEY REFERENCES experiments (number) ON DELETE CASCADE,
    plan       TEXT NOT NULL,
    document   TEXT
){table};

-- One row for each set-up of host and storage that measurements were made on.
CREATE TABLE environments (
    number         {serial},
    hash           {key} NOT NULL,
    hostname       TEXT,
    os             TEXT,
    kernel         TEXT,
    cpu_model      TEXT,
    cpus           {integer},
    memory_bytes   {integer},
    virtualization TEXT,
    clocksource    TEXT,
    document       TEXT NOT NULL
){table};
CREATE INDEX environments_by_hash ON environments (hash);

-- One row for each target of an environment. Of several disks under a target, the first is described.
CREATE TABLE environment_storage (
    environment             {integer} NOT NULL REFERENCES environments (number) ON DELETE CASCADE,
    position                {integer} NOT NULL,
    target                  TEXT NOT NULL,
    path                    TEXT NOT NULL,
    kind                    TEXT NOT NULL,
    layers                  TEXT NOT NULL,
    disks                   {integer} NOT NULL,
    device                  TEXT,
    vendor                  TEXT,
    model                   TEXT,
    firmware                TEXT,
    serial                  TEXT,
    transport               TEXT,
    driver                  TEXT,
    scheduler               TEXT,
    queue_depth             {integer},
    nr_requests             {integer},
    rotational              {integer},
    write_cache             TEXT,
    device_bytes            {integer},
    logical_block_bytes     {integer},
    physical_block_bytes    {integer},
    minimum_io_bytes        {integer},
    optimal_io_bytes        {integer},
    max_io_bytes            {integer},
    partition               TEXT,
    partition_start_bytes   {integer},
    file_system             TEXT,
    mount_point             TEXT,
    mount_source            TEXT,
    mount_options           TEXT,
    file_system_bytes       {integer},
    file_system_block_bytes {integer},
    PRIMARY KEY (environment, position)
){table};

-- One row for each measurement.
CREATE TABLE measurements (
    number                {serial},
    experiment            {integer} NOT NULL REFERENCES experiments (number) ON DELETE CASCADE,
    cell                  {integer} NOT NULL,
    id                    {key} NOT NULL,
    started               {key} NOT NULL,
    status                TEXT NOT NULL,
    tool_version          TEXT NOT NULL,
    environment           {integer} NOT NULL REFERENCES environments (number),
    host                  {key},
    target                {key} NOT NULL,
    device                TEXT,
    engine                TEXT NOT NULL,
    load                  TEXT NOT NULL,
    conditions_id         {key} NOT NULL,
    pattern               {key} NOT NULL,
    write_percent         {integer},
    block_bytes           {integer},
    threads               {integer},
    depth                 {integer},
    in_flight             {integer},
    achieved_in_flight    {real},
    file_bytes            {integer},
    direct                {integer},
    durable               {integer},
    seconds               {real},
    ios                   {integer},
    bytes                 {integer},
    iops                  {real},
    mib_per_s             {real},
    read_iops             {real},
    write_iops            {real},
    latency_min_ns        {integer},
    latency_mean_ns       {real},
    latency_stddev_ns     {real},
    latency_p50_ns        {integer},
    latency_p90_ns        {integer},
    latency_p95_ns        {integer},
    latency_p99_ns        {integer},
    latency_p99_9_ns      {integer},
    latency_p99_99_ns     {integer},
    latency_p99_999_ns    {integer},
    latency_max_ns        {integer},
    read_latency_mean_ns  {real},
    write_latency_mean_ns {real},
    errors                {integer} NOT NULL,
    cpu_us_per_io         {real},
    slowest_second_iops   {real},
    UNIQUE (experiment, cell),
    UNIQUE (experiment, id)
){table};
CREATE INDEX measurements_by_start ON measurements (started, number);
CREATE INDEX measurements_by_conditions ON measurements (conditions_id, started, number);
CREATE INDEX measurements_by_load ON measurements (pattern, write_percent, block_bytes, experiment);
CREATE INDEX measurements_by_experiment ON measurements (experiment, pattern, write_percent, block_bytes);
CREATE INDEX measurements_by_block ON measurements (block_bytes, write_percent, experiment);
CREATE INDEX measurements_by_host ON measurements (host, started, number);
CREATE INDEX measurements_by_environment ON measurements (environment);

-- What a measurement says beyond its row, its series, its histograms and its environment.
CREATE TABLE measurement_documents (
    measurement {integer} PRIMARY KEY REFERENCES measurements (number) ON DELETE CASCADE,
    document    TEXT NOT NULL
){table};

-- What happened in each interval: of the window that was measured, or of the beginning that was left out of it.
CREATE TABLE series (
    measurement     {integer} NOT NULL REFERENCES measurements (number) ON DELETE CASCADE,
    part            TEXT NOT NULL CHECK (part IN ('window', 'warmup')),
    number          {integer} NOT NULL,
    t               {real} NOT NULL,
    seconds         {real} NOT NULL,
    read_iops       {real} NOT NULL,
    write_iops      {real} NOT NULL,
    read_mib_per_s  {real} NOT NULL,
    write_mib_per_s {real} NOT NULL,
    read_mean_ns    {real},
    write_mean_ns   {real},
    read_p99_ns     {integer},
    write_p99_ns    {integer},
    max_ns          {integer},
    errors          {integer} NOT NULL,
    PRIMARY KEY (measurement, part, number)
){packed};

-- Histograms in the HdrHistogram V2 compressed encoding, base64. One that is also at another place is kept there.
CREATE TABLE histograms (
    measurement {integer} NOT NULL REFERENCES measurements (number) ON DELETE CASCADE,
    place       {key} NOT NULL,
    same_as     TEXT,
    histogram   TEXT,
    PRIMARY KEY (measurement, place),
    CHECK ((same_as IS NULL) <> (histogram IS NULL))
){packed};

CREATE TABLE tags (
    experiment {integer} NOT NULL REFERENCES experiments (number) ON DELETE CASCADE,
    tag        {key} NOT NULL,
    PRIMARY KEY (experiment, tag)
){packed};
CREATE INDEX tags_by_name ON tags (tag, experiment);

CREATE TABLE notes (
    experiment {integer} NOT NULL REFERENCES experiments (number) ON DELETE CASCADE,
    number     {integer} NOT NULL,
    written    TEXT NOT NULL,
    note       TEXT NOT NULL,
    PRIMARY KEY (experiment, number)
){table};

-- The points of a recording that has not come to its end, as JSON. The result has them in its document.
CREATE TABLE recording_points (
    experiment {integer} NOT NULL REFERENCES experiments (number) ON DELETE CASCADE,
    number     {integer} NOT NULL,
    point      TEXT NOT NULL,
    PRIMARY KEY (experiment, number)
){packed};

-- What is running now, for those who watch. Rows go away when another run begins.
CREATE TABLE live_runs (
    id         {key} PRIMARY KEY,
    kind       TEXT NOT NULL,
    title      TEXT NOT NULL,
    host       TEXT,
    targets    TEXT NOT NULL,
    started    TEXT NOT NULL,
    updated_ms {integer} NOT NULL,
    ended      {integer} NOT NULL
){table};
CREATE TABLE live_events (
    run    {key} NOT NULL REFERENCES live_runs (id) ON DELETE CASCADE,
    number {integer} NOT NULL,
    event  TEXT NOT NULL,
    PRIMARY KEY (run, number)
){packed};

-- The columns of the SQLIO-Parse scripts: latencies in ms, sizes in KiB.
CREATE VIEW sqlio_parse AS
SELECT CASE write_percent WHEN 0 THEN 'R' WHEN 100 THEN 'W' ELSE 'W' || write_percent END AS Kind,
       threads AS Threads,
       seconds AS Seconds,
       target AS Drive,
       CASE WHEN pattern LIKE 'sequential%' THEN 'sequential' ELSE pattern END AS Stripe,
       depth AS Outstanding,
       CAST(block_bytes AS {real}) / 1024 AS Size,
       iops AS IOs,
       mib_per_s AS MBs,
       CAST(latency_min_ns AS {real}) / 1000000 AS Latency_min,
       CAST(latency_mean_ns AS {real}) / 1000000 AS Latency_avg,
       CAST(latency_max_ns AS {real}) / 1000000 AS Latency_max,
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
       CAST(m.block_bytes AS {real}) / 1024 AS SectorSizeKB,
       m.pattern AS IOpattern,
       m.depth AS IOsOutstanding,
       CASE m.direct WHEN 1 THEN 'none' ELSE 'file system' END AS Buffering,
       CAST(m.file_bytes AS {real}) / 1048576 AS FileSizeMB,
       m.iops AS IOs_Sec,
       m.mib_per_s AS MBs_Sec,
       CAST(m.latency_min_ns AS {real}) / 1000000 AS LatencyMS_Min,
       CAST(m.latency_mean_ns AS {real}) / 1000000 AS LatencyMS_Avg,
       CAST(m.latency_max_ns AS {real}) / 1000000 AS LatencyMS_Max,
       m.id AS Measurement
  FROM measurements m
  LEFT JOIN environment_storage s ON s.environment = m.environment AND s.position = 0;
