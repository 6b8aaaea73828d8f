-- Version 3: what is recorded is kept while it is recorded. The words in braces are those that the databases spell differently: see
-- `spell` in schema.rs.

-- The points of a recording that has not come to its end, as JSON. The result has them in its document.
CREATE TABLE recording_points (
    experiment {integer} NOT NULL REFERENCES experiments (number) ON DELETE CASCADE,
    number     {integer} NOT NULL,
    point      TEXT NOT NULL,
    PRIMARY KEY (experiment, number)
){packed};
