"""Pictures of plans: everything is drawn, nothing is left behind."""

from itertools import groupby
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.charts import SUFFIXES
from lightloom.plots import MAX_DIAGRAMS
from tests.conftest import RunCli

PLAN = ll.plan("all-reduce", size="1MiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="1us"), algorithm="swing")
MAGIC = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_pictures_are_of_their_kind(cli: RunCli, in_tmp: Path, suffix: str) -> None:
    ran = cli("plan", "--collective", "all-reduce", "--size", "1MiB", "--gpus", 8, "--plot", f"plan{suffix}")
    assert ran.status == 0, ran.err
    assert [file.name for file in in_tmp.iterdir()] == [f"plan{suffix}"]
    assert (in_tmp / f"plan{suffix}").read_bytes().startswith(MAGIC[suffix])


def test_bars_are_as_high_as_the_terms() -> None:
    figure = PLAN.plot()
    costs = figure.axes[-1]
    heights = [[bar.get_height() for bar in container] for container in costs.containers]
    scale = {"ns": 1e9, "us": 1e6, "ms": 1e3}[costs.get_ylabel()]
    assert [sum(step) for step in zip(*heights, strict=True)] == pytest.approx(
        [step.total_s * scale for step in PLAN.steps]
    )
    assert len(figure.axes) - 1 == min(MAX_DIAGRAMS, 1 + PLAN.reconfigurations)
    starts = [next(run) for _, run in groupby(PLAN.steps, key=lambda step: step.topology)]
    for axes, step in zip(figure.axes, starts, strict=False):
        assert f"from step {step.index + 1}" in axes.get_title()
        assert len(axes.collections[0].get_paths()) == len(PLAN.topologies[step.topology].links)
