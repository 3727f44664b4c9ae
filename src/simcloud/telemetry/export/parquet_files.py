"""Tables as Parquet, with pyarrow, which is imported on first use."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any, Final

from simcloud.telemetry.export.tables import Table

_ROWS_TOGETHER: Final = 65_536


def has_pyarrow() -> bool:
    """Return whether this can be done here."""
    try:
        import pyarrow.parquet  # noqa: F401 (whether it can be imported is the question)
    except ImportError:
        return False
    return True


def _whole(text: str) -> str:
    """Return a text without half characters, which UTF-8 cannot carry."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def write_parquet(table: Table, path: Path) -> int:
    """Write a file; how many rows it has."""
    import pyarrow as pa
    from pyarrow import parquet

    types: dict[str, Any] = {
        "int64": pa.int64(),
        "float64": pa.float64(),
        "bool": pa.bool_(),
        "string": pa.string(),
    }
    schema = pa.schema([(column.name, types[column.kind]) for column in table.columns])
    rows, count = table.rows(), 0
    with parquet.ParquetWriter(path, schema) as writer:
        while block := list(islice(rows, _ROWS_TOGETHER)):
            columns = zip(zip(*block, strict=True), table.columns, schema, strict=True)
            arrays = [
                pa.array(map(_whole, values) if column.kind == "string" else values, field.type)
                for values, column, field in columns
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            count += len(block)
    return count
