"""Plans of figures run on processes of this machine; measurements are kept, so that figures go on."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from lightloom import Executor, plan
from lightloom.base.errors import FailedError
from lightloom.base.files import MIB, read_text, write_bytes
from lightloom_papers.run import make_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lightloom import Plan
    from lightloom_papers.figure import Setting
    from lightloom_papers.measure import Case

# Folder of measurements, below that of the figures.
KEPT = "ran"
MOST_KEPT_BYTES = MIB


class Ran(NamedTuple):
    """A plan that was run: the time that it predicts and the middle of those measured, s; whether that says anything.

    reconfigurations: that it is charged. dilation, lateness_s: as `lightloom.Measurement` has them.
    """

    predicted_s: float
    measured_s: float
    reconfigurations: int
    dilation: float
    lateness_s: float
    is_conclusive: bool


def ran(cases: Sequence[Case], setting: Setting, *, runs: int, dilation: float | None = None) -> list[Ran]:
    """Every case's plan, run this many times, in order; conclusive runs of an earlier call are taken from the folder.

    dilation: of all plans, or chosen for each.

    Raises `InputError` when a case has no plan, and `FailedError` when a run fails or its result is wrong.
    """
    distinct = list(dict.fromkeys(cases))
    found: dict[Case, Ran] = {}
    with Executor(runs=runs, dilation=dilation) as executor:
        for case in distinct:
            made = plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))
            path = _path(setting, made, runs, dilation)
            known = None if path is None else _kept(path)
            if known is None or not known.is_conclusive:
                known = _run(executor, made)
                if path is not None:
                    make_folder(path.parent)
                    write_bytes("output", path, json.dumps(known._asdict()).encode())
            found[case] = known
            setting.advance(len(found), len(distinct))
    return [found[case] for case in cases]


def _run(executor: Executor, made: Plan) -> Ran:
    measurement = executor.run(made)
    if measurement.wrong:
        raise FailedError(f"{made!r}: {measurement.wrong} elements of the result are wrong")
    return Ran(
        made.total_s,
        measurement.measured.median,
        made.reconfigurations,
        measurement.settings.dilation,
        measurement.lateness_s,
        measurement.verdict == "conclusive",
    )


def _path(setting: Setting, made: Plan, runs: int, dilation: float | None) -> Path | None:
    if setting.folder is None:
        return None
    digest = hashlib.sha256(f"{runs} {dilation} {made.to_json()}".encode()).hexdigest()[:16]
    return setting.folder / KEPT / f"{digest}.json"


def _kept(path: Path) -> Ran | None:
    """The results that an earlier call kept; None if there is no such file, or it is another version's."""
    if not path.is_file():
        return None
    try:
        return Ran(**json.loads(read_text("output", path, MOST_KEPT_BYTES)))
    except (TypeError, ValueError):
        return None
