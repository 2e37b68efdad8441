"""Gains stated in the README and the tutorial, recomputed over the best circuits that never change.

The judge does not use the planner `never-change`: it plans the same problem where a change takes ten seconds, which no
plan of these sizes makes, and looks at every line of a comparison that changes nothing.
"""

import re
import shlex
from pathlib import Path

import pytest

import lightloom as ll
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "docs" / "tutorial.md"]
# More than any plan of the pages takes.
NO_CHANGE_PAYS = "10s"
COMMAND = re.compile(r"^\$ (lightloom plan .*?)(?<!\\)\n", re.MULTILINE | re.DOTALL)
VERDICT = re.compile(r"^verdict +(.*)$", re.MULTILINE)
FASTER = re.compile(r"changing circuits .* makes it (\S+)× as fast as circuits that never change \((\S+) µs: ")
SLOWER = re.compile(r"does not pay here: this plan takes (\S+)× the time of circuits that never change \((\S+) µs: ")
FACTOR = re.compile(r"\d×")
# The only sentence of the pages that states gains in addition to the output of commands, without its line breaks.
SENTENCE = re.compile(
    r"At 256 GPUs, 64 MiB and 150 µs, `weave` is (\S+)× as fast as the best circuits that never change and (\S+)× as "
    r"fast as the best of BRIDGE, short-circuiting rings, HARVEST and Ring, and proved optimal too\."
)


def _commands(page: Path) -> list[tuple[dict[str, str], str]]:
    """Options of every `lightloom plan` in a page that prints a verdict, and the verdict."""
    text = page.read_text()
    found = []
    for match in COMMAND.finditer(text):
        printed = text[match.end() : text.index("```", match.end())].split("\n$ ")[0]
        verdict = VERDICT.search(printed)
        if verdict:
            words = shlex.split(match[1].replace("\\\n", " "))[2:]
            pairs = zip(words[::2], words[1::2], strict=True)
            found.append(({name.removeprefix("--").replace("-", "_"): value for name, value in pairs}, verdict[1]))
    return found


def _problem(options: dict[str, str]) -> tuple[str, str, dict[str, object]]:
    """Collective, size and the fabric's arguments."""
    fabric: dict[str, object] = {
        name: value
        for name, value in options.items()
        if name in {"startup", "hop_delay", "initial", "reconfiguration_delay"}
    }
    fabric |= {name: int(options[name]) for name in ("gpus", "ports") if name in options}
    return options["collective"], options["size"], fabric


def _unchanging_s(options: dict[str, str]) -> float:
    """The time of the best circuits that never change, found without the planner of that name."""
    collective, size, fabric = _problem(options)
    still = ll.plan(collective, size, fabric=ll.Fabric(**{**fabric, "reconfiguration_delay": NO_CHANGE_PAYS}))  # type: ignore[arg-type]
    assert still.reconfigurations == 0
    rows = ll.compare(collective, size, fabric=ll.Fabric(**fabric)).rows  # type: ignore[arg-type]
    times = [row.total_s for row in rows if row.total_s is not None and row.reconfigurations == 0]
    assert times
    assert min(times) == pytest.approx(still.total_s, rel=1e-12)
    return still.total_s


@pytest.mark.parametrize(
    ("options", "verdict"), [pair for page in PAGES for pair in _commands(page)], ids=lambda value: str(value)[:40]
)
def test_verdicts_are_over_circuits_that_never_change(options: dict[str, str], verdict: str) -> None:
    collective, size, fabric = _problem(options)
    named = {name: options[name] for name in ("algorithm", "planner") if name in options}
    plan = ll.plan(collective, size, fabric=ll.Fabric(**fabric), **named)  # type: ignore[arg-type]
    still_s = _unchanging_s(options)
    faster, slower = FASTER.search(verdict), SLOWER.search(verdict)
    said = faster or slower
    assert said, verdict
    ratio = still_s / plan.total_s if faster else plan.total_s / still_s
    assert float(said[1]) == pytest.approx(ratio, rel=5e-3)
    assert float(said[2]) == pytest.approx(still_s * 1e6, rel=5e-4)


def test_every_page_has_a_verdict() -> None:
    assert all(_commands(page) for page in PAGES)


def test_the_gain_in_the_tutorial_is_over_circuits_that_never_change() -> None:
    prose = [" ".join(re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL).split()) for page in PAGES]
    said = [match for text in prose if (match := SENTENCE.search(text))]
    assert len(said) == 1
    assert not any(FACTOR.search(SENTENCE.sub("", text)) for text in prose), "a gain that no test recomputes"
    options = {
        "collective": "reduce-scatter", "size": "64MiB", "gpus": "256", "startup": "1.7us", "hop_delay": "1us",
        "initial": "ring", "reconfiguration_delay": "150us",
    }  # fmt: skip
    collective, size, fabric = _problem(options)
    on = ll.Fabric(**fabric)  # type: ignore[arg-type]
    plan = ll.plan(collective, size, fabric=on, planner="weave")
    papers = [{"planner": name} for name in ("bridge", "short-circuit", "harvest")] + [{"algorithm": "ring"}]
    best_s = min(ll.plan(collective, size, fabric=on, **named).total_s for named in papers)  # type: ignore[arg-type]
    assert float(said[0][1]) == pytest.approx(_unchanging_s(options) / plan.total_s, rel=5e-3)
    assert float(said[0][2]) == pytest.approx(best_s / plan.total_s, rel=5e-3)
    assert plan.gap == pytest.approx(1, abs=1e-9)


def test_the_sentence_under_the_sweep_holds() -> None:
    prose = " ".join((ROOT / "docs" / "tutorial.md").read_text().split())
    assert "For 1 GiB changing circuits saves at most 0.6 % up to 10 µs, and nothing beyond: Ring on a ring is" in prose
    for delay in ("100ns", "1us", "10us", "100us", "1ms", "10ms"):
        options = {"collective": "all-reduce", "size": "1GiB", "gpus": "64", "reconfiguration_delay": delay}
        collective, size, fabric = _problem(options)
        on = ll.Fabric(**fabric)  # type: ignore[arg-type]
        plan = ll.plan(collective, size, fabric=on)
        saved = 1 - plan.total_s / _unchanging_s(options)
        pays = delay in {"100ns", "1us", "10us"}
        assert 0.003 < saved <= 0.006 if pays else saved == pytest.approx(0, abs=1e-12), delay
        ring = ll.plan(collective, size, fabric=on, algorithm="ring", planner="static", topology="ring")
        assert pays or ring.total_s == pytest.approx(plan.total_s, rel=1e-9), delay
