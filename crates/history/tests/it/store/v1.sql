CREATE TABLE experiments (
    id       TEXT PRIMARY KEY,
    schema   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    title    TEXT NOT NULL,
    started  TEXT NOT NULL,
    finished TEXT,
    status   TEXT CHECK (status IN ('complete', 'interrupted', 'failed')),
    plan_id  TEXT NOT NULL,
    plan     TEXT NOT NULL
) STRICT;
CREATE INDEX experiments_by_kind ON experiments (kind, started);
CREATE TABLE measurements (
    id            TEXT PRIMARY KEY,
    experiment_id TEXT NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
    cell          INTEGER NOT NULL,
    started       TEXT NOT NULL,
    document      TEXT NOT NULL,
    UNIQUE (experiment_id, cell)
) STRICT;
