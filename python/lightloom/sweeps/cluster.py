"""Chunks on the workers of a Dask cluster."""

from __future__ import annotations

import gc
from threading import local
from typing import TYPE_CHECKING

from lightloom import _core
from lightloom.base.errors import InputError, refuse, text_of
from lightloom.base.extras import missing
from lightloom.sweeps.engines import evaluate_chunk
from lightloom.sweeps.labels import digest_of, label_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    import distributed

    from lightloom.sweeps.description import SweepDescription

CONNECT_S = 20
# Chunks that are handed out beyond those that threads work on, so that no thread waits for the next.
AHEAD = 2
LEAST_AT_ONCE = 16
# A worker may die while it computes an innocent chunk; a chunk that loses this many workers is to blame.
MOST_LOSSES = 10
# Digests of sweeps whose files this worker has compared with those that the sweep was begun with.
_CHECKED: set[str] = set()
# Threads of this worker that compute on their own already.
_ALONE = local()


def on_dask(
    address: str, description: SweepDescription, digest: str, chunks: Sequence[int]
) -> Generator[tuple[int, bytes]]:
    """Every chunk with its content, as they are finished; unfinished chunks of a lost worker are done by another.

    Raises `InputError` that names `scheduler` when it cannot be reached, goes away, or runs another Lightloom.
    """
    try:
        import distributed
    except ImportError as error:
        raise missing("scheduler", "it", "distributed") from error
    with _connected(text_of("scheduler", address)) as client:
        try:
            yield from _as_finished(client, description, digest, chunks)
        except InputError:
            raise
        except (OSError, distributed.client.FutureCancelledError) as error:
            raise refuse(
                "scheduler",
                f"the connection to `{address}` was lost; finished points are kept, run the same command again to "
                "continue",
            ) from error


def _connected(address: str) -> distributed.Client:
    import distributed

    client, why = None, ""
    try:
        client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except Exception as error:  # Dask and its libraries raise anything for an invalid address
        why = str(error) or type(error).__name__
    if client is None:
        # A client that was not finished closes itself when it is collected. Where that happens while the next one
        # starts, both wait for the same lock for ever: so it is collected now.
        gc.collect()
        raise refuse("scheduler", f"cannot reach `{address}`: {why}")
    return client


def run_chunk(description: SweepDescription, digest: str, chunk: int, version: str) -> bytes:
    """The chunk's content, computed on a worker. Raises `InputError` where the worker's version or files differ."""
    if _core.__version__ != version:
        raise refuse(
            "scheduler",
            f"a worker has Lightloom {_core.__version__}, and this machine has {version}; install the same on all",
        )
    if digest not in _CHECKED:
        if digest_of(label_of(description)) != digest:
            raise refuse("scheduler", f"a worker has other files in `{description.folder}` than this machine")
        _CHECKED.add(digest)
    if not getattr(_ALONE, "is_set", False):
        # Dask hands out as many chunks as its workers have threads (`--nthreads`): each is computed on its own.
        _core.limit_threads(1)
        _ALONE.is_set = True
    return evaluate_chunk(description, digest, chunk)


def _as_finished(
    client: object, description: SweepDescription, digest: str, chunks: Sequence[int]
) -> Generator[tuple[int, bytes]]:
    import distributed

    assert isinstance(client, distributed.Client)  # noqa: S101 (its type is known only once Dask is imported)
    waiting = iter(chunks)
    running = distributed.as_completed(loop=client.loop)
    number: dict[str, int] = {}
    losses: dict[str, int] = {}

    def hand_out() -> None:
        threads = sum(client.nthreads().values())
        while len(number) < max(AHEAD * threads, LEAST_AT_ONCE):
            chunk = next(waiting, None)
            if chunk is None:
                return
            # The key has all that the content depends on, so that a cluster that has it already does not compute it
            # again.
            key = f"lightloom-sweep-{digest}-{chunk}"
            number[key] = chunk
            running.add(client.submit(run_chunk, description, digest, chunk, _core.__version__, key=key))

    hand_out()
    for future in running:
        try:
            content = future.result()
        except distributed.KilledWorker as error:
            losses[future.key] = losses.get(future.key, 0) + 1
            if losses[future.key] > MOST_LOSSES:
                raise refuse("scheduler", f"every worker that computed chunk {number[future.key]} ended") from error
            future.retry()
            running.add(future)
            continue
        yield number.pop(future.key), content
        future.release()
        hand_out()
