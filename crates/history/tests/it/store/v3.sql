
-- What version 3 has besides, as an SQLite file has it.

CREATE TABLE recording_points (
    experiment INTEGER NOT NULL REFERENCES experiments (number) ON DELETE CASCADE,
    number     INTEGER NOT NULL,
    point      TEXT NOT NULL,
    PRIMARY KEY (experiment, number)
) STRICT, WITHOUT ROWID;
