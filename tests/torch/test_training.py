"""A transformer trained on the backend: losses as Gloo's, circuits that change, a rank that is killed, a trace."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import lightloom as ll
from tests.torch.launch import Ended, check_all_well, ranks_of

pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")

# Fabrics of one port on which hops cost more than changes, so that AllReduces of all sizes change circuits.
FABRICS = {
    "free": 'ports = 1\nhop_delay = "5us"\nreconfiguration_delay = "50ns"\n',
    "ring": 'ports = 1\nhop_delay = "20us"\nreconfiguration_delay = "1us"\ninitial = "ring"\n',
    "dark": 'ports = 1\nstartup = "2us"\nhop_delay = "10us"\nreconfiguration_delay = "1us"\ninitial = "dark"\n',
}
KILLED = 5
LINE = re.compile(r"rank 1 \(process \d+\) ended before .* was done")


def losses_of(ended: list[Ended]) -> list[float]:
    check_all_well(ended)
    (line,) = (line for line in ended[0].said.splitlines() if line.startswith("losses "))
    found: list[float] = json.loads(line.removeprefix("losses "))
    return found


@pytest.fixture(scope="module")
def of_gloo() -> dict[tuple[str, int], list[float]]:
    return {}


def events(folder: Path, rank: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / f"rank{rank}.json").read_text())["traceEvents"]
    return found


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("ranks", [4, pytest.param(8, marks=pytest.mark.large)])
@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_losses_are_gloos(
    way: str, ranks: int, fabric: str, of_gloo: dict[tuple[str, int], list[float]], tmp_path: Path
) -> None:
    if (way, ranks) not in of_gloo:
        of_gloo[way, ranks] = losses_of(ranks_of("losses", "gloo", way, ranks=ranks))
    file, trace = tmp_path / "fabric.toml", tmp_path / "trace"
    file.write_text(FABRICS[fabric])
    found = losses_of(
        ranks_of("losses", "lightloom", way, ranks=ranks, LIGHTLOOM_FABRIC=str(file), LIGHTLOOM_TRACE=str(trace))
    )
    assert found == pytest.approx(of_gloo[way, ranks], rel=1e-6)
    for rank in range(ranks):
        changes = {
            name: [one["args"]["lightloom"]["changes"] for one in events(trace, rank) if one["name"] == name]
            for name in ("lightloom all-reduce", "lightloom reduce-scatter")
        }
        if way == "ddp":
            assert len(changes["lightloom all-reduce"]) >= len(found)
            assert min(changes["lightloom all-reduce"]) > 0
        else:
            # Gradients are reduced and scattered, which ring plans do without a change on some fabrics.
            assert len(changes["lightloom reduce-scatter"]) >= len(found)
    # The computation of a rank is one sequence, so that no iteration is shorter.
    computed_us = [
        sum(one["dur"] for one in events(trace, rank) if one["name"] == "computation") for rank in range(ranks)
    ]
    iteration = ll.train(trace)
    assert iteration.ranks == ranks
    assert iteration.total_s >= max(computed_us) / 1e6 * (1 - 1e-6)


@pytest.mark.parametrize("way", ["ddp", "fsdp"])
def test_a_rank_that_is_killed_is_one_error_at_every_other(way: str) -> None:
    ended = ranks_of("losses", "lightloom", way, str(KILLED), ranks=4)
    assert ended[1].code == -9
    found = [LINE.findall(one.errors) for one in ended if one is not ended[1]]
    assert all(found), [one.errors[-1000:] for one in ended]
    assert len({lines[-1] for lines in found}) == 1, found


def test_a_call_that_nobody_else_makes_ends_in_time() -> None:
    ended = ranks_of("late", ranks=3)
    line = "rank 2 did not come within the timeout of 2 s to all-reduce of 10 float32, sum"
    assert line in ended[0].errors
    assert line in ended[1].errors
    assert ended[2].said == f"rank 2 hears: {line}\n"
