"""Reads tables that iosonde exported as DuckDB and pandas do, and compares Parquet with CSV.

Arguments: a Parquet file, the CSV of the same rows, and so on. Prints the rows of each pair.
"""

import csv
import sys

import duckdb
import pandas
import pyarrow.parquet


def moment(text):
    """Microseconds since 1970."""
    return pandas.Timestamp(text).floor("us").value // 1000


# By the type in the file: the type in DuckDB, those it may have in pandas, and how a field of the CSV is read.
TYPES = {
    "int64": ("BIGINT", {"int64", "float64"}, int),
    "double": ("DOUBLE", {"float64"}, float),
    "bool": ("BOOLEAN", {"bool"}, {"true": True, "false": False}.__getitem__),
    "string": ("VARCHAR", {"object", "str"}, str),
    "timestamp[us, tz=UTC]": ("TIMESTAMP WITH TIME ZONE", {"datetime64[us, UTC]"}, moment),
}


def check(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: found {found!r} instead of {expected!r}")


def in_pandas(value):
    if pandas.isna(value):
        return None
    return moment(value) if isinstance(value, pandas.Timestamp) else value


def compare(parquet, text):
    schema = pyarrow.parquet.read_schema(parquet)
    with open(text, newline="", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    check("columns of the CSV", head, schema.names)

    frame = pandas.read_parquet(parquet)
    check("columns in pandas", list(frame.columns), schema.names)
    check("rows in pandas", len(frame), len(lines))

    sql = duckdb.connect()
    described = sql.execute("DESCRIBE SELECT * FROM read_parquet(?)", [parquet]).fetchall()
    check("columns in DuckDB", [d[0] for d in described], schema.names)
    columns = [f"epoch_us({d[0]})" if "TIMESTAMP" in d[1] else d[0] for d in described]
    query = f"SELECT {', '.join(columns)} FROM read_parquet(?)"
    rows = sql.execute(query, [parquet]).fetchall()
    check("rows in DuckDB", len(rows), len(lines))

    for number, field in enumerate(schema):
        name = field.name
        type_in_duckdb, types_in_pandas, read = TYPES[str(field.type)]
        check(f"type of {name} in DuckDB", described[number][1], type_in_duckdb)
        dtype = str(frame[name].dtype)
        # A column without a single value has no type there.
        if dtype not in types_in_pandas and not (dtype == "object" and frame[name].isna().all()):
            sys.exit(f"type of {name} in pandas: {dtype}")
        for row, line in enumerate(lines):
            wanted = read(line[number]) if line[number] else None
            check(f"{name} of row {row} in pandas", in_pandas(frame[name][row]), wanted)
            check(f"{name} of row {row} in DuckDB", rows[row][number], wanted)
    return len(rows)


pairs = zip(sys.argv[1::2], sys.argv[2::2])
print(*[compare(parquet, text) for parquet, text in pairs])
