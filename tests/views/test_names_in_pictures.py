"""Names in pictures stand there as they are written: no name is TeX, and no name makes a picture fail."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text

import lightloom as ll
from lightloom.base.errors import InputError, printable

LETTERS = st.sampled_from("$\\{}^_ %&#~axé\x1b\t中") | st.characters(exclude_categories=["Cs", "Cn", "Co"])
NAMES = st.text(LETTERS, min_size=1, max_size=12)


def texts(figure: Figure) -> list[str]:
    """What is written in a figure, and drawn: TeX raises then."""
    figure.savefig("drawn.svg")
    return [found.get_text() for found in figure.findobj(Text)]


def written(name: str) -> str:
    """A name as matplotlib is given it: its dollar signs stand for themselves."""
    return printable(name).replace("$", r"\$")


@pytest.mark.large
@pytest.mark.usefixtures("in_tmp")
@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=3)
@given(name=NAMES)
@example(name="$\\frac")
@example(name="$x_1$ and $\\undefined$")
def test_names_of_topologies(name: str) -> None:
    try:
        topology = ll.Topology.from_links(name, 4, [(rank, (rank + 1) % 4, 1) for rank in range(4)])
    except InputError:
        assert not name.isprintable()
        return
    plan = ll.plan("all-gather", "1KiB", fabric=ll.Fabric(gpus=4), planner="static", topology=topology)
    assert any(written(name) in text for text in texts(plan.plot()))
    assert written(name) in texts(ll.simulate(plan).plot())


@pytest.mark.large
@pytest.mark.filterwarnings("ignore:Glyph:UserWarning")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=2)
@given(summary=NAMES)
@example(summary="$\\frac")
@example(summary="\n")
@example(summary="above\n$below")
def test_summaries_and_names_along_axes(in_tmp: Path, summary: str) -> None:
    files = ["$\\frac.csv", "$a$.csv"]
    for file in files:
        (in_tmp / file).write_text("0 1\n1 0\n")
    sweep: dict[str, Any] = {
        "summary": summary,
        "baseline": [{"planner": "static", "topology": files[0]}],
        "settings": {"collective": "all-gather", "gpus": 2, "algorithm": "ring", "planner": "static"},
        "axes": {"topology": files, "size": [1024, 2048], "reconfiguration-delay": [1e-6, 1e-5]},
    }
    figures = ll.sweep(sweep).plot()
    assert len(figures) >= 3
    found = [text for figure in figures for text in texts(figure)]
    title = "\n".join(map(written, summary.split("\n")))
    assert any(text.startswith(title) for text in found)
    assert r"\$\frac.csv" in found


def test_a_summary_of_a_book_is_refused() -> None:
    with pytest.raises(InputError, match=r"summary: .*at most 1000"):
        ll.sweep({"summary": "x" * 1001, "settings": {"collective": "all-gather", "gpus": 2}, "axes": {"size": [1024]}})
