"""Runs a sweep: missing chunks are computed, kept and put together."""

from __future__ import annotations

from contextlib import closing, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from lightloom.base.errors import InputError
from lightloom.base.extras import missing
from lightloom.base.files import usable_path
from lightloom.base.threads import cores, on_threads
from lightloom.base.whole_numbers import whole_number
from lightloom.sweeps.description import SweepDescription
from lightloom.sweeps.engines import evaluate_chunk
from lightloom.sweeps.layout import Layout
from lightloom.sweeps.result import SweepResult
from lightloom.sweeps.store import Memory, opened

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from lightloom.sweeps.description import Source
    from lightloom.sweeps.store import Store

MAX_WORKERS = 1024


def sweep(
    description: Source,
    *,
    engine: str | None = None,
    output: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    restart: bool = False,
    advance: Callable[[int], None] = lambda _done: None,
) -> SweepResult:
    """Evaluate every combination of some options' values: a table with a row for each point.

    description: a TOML file or a mapping of the same keys, such as `{"settings": {"collective": "all-reduce"}, "axes":
        {"size": ["1MiB", "64MiB"], "planner": ["harvest", "static"]}}`; see docs/sweeps.md.
    engine: `"model"`, `"flow"`, `"packet"` or `"train"`; that of the description when left out.
    output: the folder of the Parquet file; a run that was stopped goes on from its finished parts. In memory without
    one.
    workers: threads that compute, in all; as many as there are cores when left out.
    scheduler: the address of a Dask scheduler whose workers compute, such as `"tcp://node:8786"`; it takes
        `lightloom[dask]`.
    restart: do not go on from the results in `output`.
    advance: told how many points were finished just now; first, those that a run before had finished.

    The result does not depend on who computes it. It takes `lightloom[sweep]`. Raises `InputError` that names the key,
    also where no point at all has a plan.
    """
    made = SweepDescription.load(description, engine)
    _check_tables()
    workers = None if workers is None else whole_number("workers", workers, 1, MAX_WORKERS)
    folder = None if output is None else usable_path("output", output)
    opening: AbstractContextManager[Store] = (
        nullcontext(Memory(made)) if folder is None else opened(made, folder, restart=restart)
    )
    layout = Layout(made)
    with opening as store:
        finished = store.finished()
        found = sum(len(layout.rows(chunk)) for chunk in finished)
        advance(found)
        unfinished = [chunk for chunk in range(layout.chunks) if chunk not in finished]
        with closing(_computed(made, store.digest, unfinished, workers, scheduler)) as parts:
            for chunk, content in parts:
                store.put(chunk, content)
                advance(len(layout.rows(chunk)))
        table = store.finish()
        if table.column("total_s").null_count == table.num_rows:
            # So that the description can be mended and run again in the same folder.
            store.discard()
            reason = str(table.column("reason")[0])
            raise InputError(reason.partition(":")[0], f"{reason} (every point fails, for this or another reason)")
    path = None if folder is None else folder / f"{made.name}.parquet"
    return SweepResult(made, table, path, found)


def _check_tables() -> None:
    try:
        import pyarrow.parquet  # noqa: F401 (before anything is computed)
    except ImportError as error:
        raise missing("sweep", "a table of points", "pyarrow") from error


def _computed(
    description: SweepDescription, digest: str, chunks: list[int], workers: int | None, scheduler: str | None
) -> Generator[tuple[int, bytes]]:
    work = partial(evaluate_chunk, description, digest)
    if scheduler is None:
        return on_threads(work, chunks, cores() if workers is None else workers, is_limit=workers is not None)
    from lightloom.sweeps.cluster import on_dask

    return on_dask(scheduler, description, digest, chunks)
