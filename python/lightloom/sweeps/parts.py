"""The table's columns of results, and a chunk of them as the content of a Parquet file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from lightloom.sweeps.keys import POLICIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from lightloom.sweeps.description import SweepDescription
    from lightloom.sweeps.series import Named, Outcome

# Key in a part file's metadata.
PLACE_KEY = b"lightloom.part"
# The columns that each metric adds to the table.
METRIC_COLUMNS = {
    "time": ("total_s",),
    "simulated": ("simulated_s",),
    "ratio": ("ratio", "baseline_s", "baseline"),
    "gap": ("gap", "lower_bound_s"),
    "exposed": ("exposed_communication_s",),
    "reconfigurations": ("reconfigurations",),
}
# The column that a metric is read from.
VALUE_COLUMNS = {metric: columns[0] for metric, columns in METRIC_COLUMNS.items()}
ALWAYS = ("chosen_planner", "chosen_algorithm", "reason")
# Columns of training iterations: their times under every policy.
POLICY_COLUMNS = {name: f"{name.replace('-', '_')}_s" for name in POLICIES}
TEXTS = ("baseline", *ALWAYS)


def result_columns(description: SweepDescription) -> tuple[str, ...]:
    """Names of the columns of results, in order."""
    always = (*POLICY_COLUMNS.values(), "reason") if description.engine == "train" else ALWAYS
    return tuple(column for metric in description.metrics for column in METRIC_COLUMNS[metric]) + always


def result_schema(description: SweepDescription) -> pa.Schema:
    """The columns of results with their types; all may be null."""
    import pyarrow as pa

    types = {"reconfigurations": pa.int32(), **dict.fromkeys(TEXTS, pa.dictionary(pa.int32(), pa.string()))}
    return pa.schema([(name, types.get(name, pa.float64())) for name in result_columns(description)])


class Judged:
    """The outcome of some rows, and that of the best of the baselines; an entry a row.

    baseline_s: NaN where no baseline serves the point; baseline: index of the best one, -1 if there is none; others:
    the baselines' outcomes, None for one that `own` has too.
    """

    def __init__(
        self,
        own: Outcome,
        baseline_s: NDArray[np.float64] | None,
        baseline: NDArray[np.int32],
        others: Sequence[Outcome | None] = (),
    ) -> None:
        self.own = own
        self.baseline_s = baseline_s
        self.baseline = baseline
        self.others = others

    def named_baseline(self, row: int) -> Named | None:
        """What the best baseline took at a point; None where none serves it."""
        if self.baseline[row] < 0:
            return None
        other = self.others[self.baseline[row]]
        return self.own.named(row, never_changes=True) if other is None else other.named(row)


class Place(NamedTuple):
    """Identity of a part: the digest of all that the results of its sweep depend on, and the number of its chunk."""

    digest: str
    chunk: int

    @property
    def metadata(self) -> dict[bytes, bytes]:
        """How a part says it."""
        return {PLACE_KEY: json.dumps(self._asdict()).encode()}


def part_of(description: SweepDescription, judged: Sequence[Judged], place: Place) -> bytes:
    """The rows of a chunk, series after series, as the content of a part file that says where it belongs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = result_schema(description)
    table = pa.Table.from_batches([_batch(description, piece, schema) for piece in judged])
    stream = pa.BufferOutputStream()
    # Checksums tell a part that the machine's failure tore or changed.
    table = table.unify_dictionaries().replace_schema_metadata(place.metadata)
    pq.write_table(table, stream, write_page_checksum=True, compression="none")
    content: bytes = stream.getvalue().to_pybytes()
    return content


def read_table(source: pa.NativeFile | BinaryIO) -> pa.Table:
    """The table in a Parquet file, its checksums verified; read only by this thread.

    Arrow's own threads may let go of the file, a Python object, when Python is ending already, which aborts it.
    """
    import pyarrow.parquet as pq

    with pq.ParquetFile(source, page_checksum_verification=True, pre_buffer=False) as file:
        return file.read(use_threads=False)


def rows_of(content: bytes, schema: pa.Schema, rows: int, place: Place) -> pa.Table:
    """The table in a part file's content.

    Raises `ValueError` where it is not such a part of this many rows, or is of another sweep or chunk.
    """
    import pyarrow as pa

    try:
        table = read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(str(error)) from error
    if place.metadata.items() - (table.schema.metadata or {}).items():
        message = f"it is not part {place.chunk} of this sweep"
        raise ValueError(message)
    if table.num_rows != rows or not table.schema.equals(schema):
        message = f"{table.num_rows} rows of {table.schema.names}"
        raise ValueError(message)
    return table


def _batch(description: SweepDescription, judged: Judged, schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    own = judged.own
    own_s = own.total_s if own.simulated_s is None else own.simulated_s
    reasons = dict(own.reasons)
    texts = {
        "chosen_planner": _named([planner for planner, _ in own.names], own.choice, np.isnan(own.total_s)),
        "chosen_algorithm": _named([algorithm for _, algorithm in own.names], own.choice, np.isnan(own.total_s)),
        "baseline": _named([entry.label for entry in description.baseline], judged.baseline, judged.baseline < 0),
    }
    numbers = {"total_s": own.total_s, "simulated_s": own.simulated_s, "lower_bound_s": own.lower_bound_s}
    numbers["exposed_communication_s"] = own.exposed_s
    numbers |= {POLICY_COLUMNS[name]: times_s for name, times_s in (own.policies_s or {}).items()}
    with np.errstate(divide="ignore", invalid="ignore"):
        if own.lower_bound_s is not None:
            # A bound of zero bounds nothing.
            numbers["gap"] = np.where(own.lower_bound_s > 0, own.total_s / own.lower_bound_s, np.nan)
        if judged.baseline_s is not None:
            numbers["baseline_s"] = judged.baseline_s
            numbers["ratio"] = judged.baseline_s / own_s
    columns = []
    for field in schema:
        if field.name == "reconfigurations":
            columns.append(pa.array(own.reconfigurations, mask=own.reconfigurations < 0))
        elif field.name == "reason":
            columns.append(_reasons(reasons, len(own.total_s)))
        elif field.name in texts:
            columns.append(texts[field.name])
        else:
            values = numbers[field.name]
            assert values is not None  # noqa: S101 (the metrics say which are asked for)
            columns.append(pa.array(values, mask=np.isnan(values)))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _named(names: Sequence[str], choice: NDArray[np.integer], missing: NDArray[np.bool_]) -> pa.DictionaryArray:
    """The name of each row; the dictionary is sorted, since the order of `names` may depend on who came first."""
    import pyarrow as pa

    used = np.unique(choice[~missing])
    distinct = sorted({names[index] for index in used.tolist()})
    place = np.zeros(len(names) + 1, dtype=np.int32)
    for index in used.tolist():
        place[index] = distinct.index(names[index])
    indices = place[np.where(missing, len(names), choice)]
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=missing), pa.array(distinct, pa.string()))


def _reasons(reasons: dict[int, str], rows: int) -> pa.DictionaryArray:
    import pyarrow as pa

    distinct = list(dict.fromkeys(reasons.values()))
    indices = np.zeros(rows, dtype=np.int32)
    missing = np.ones(rows, dtype=bool)
    place = {text: index for index, text in enumerate(distinct)}
    for row, text in reasons.items():
        indices[row], missing[row] = place[text], False
    return pa.DictionaryArray.from_arrays(pa.array(indices, mask=missing), pa.array(distinct, pa.string()))
