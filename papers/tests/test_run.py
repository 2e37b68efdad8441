"""Making figures: files, verdicts, pages, and runs that were interrupted."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure as Picture

import lightloom as ll
from lightloom.base.errors import InputError
from lightloom.cli import main
from lightloom_papers import registry
from lightloom_papers.claims import Claim, Verdict
from lightloom_papers.figure import Figure, Outcome, Paper, Setting
from lightloom_papers.measure import KEPT, Case
from lightloom_papers.pages import summary_page, tally
from lightloom_papers.run import reproduce, reproduce_all
from lightloom_papers.sentences import Sentences

RING = [
    Case.of("all-gather", size, ll.Fabric(gpus=4), algorithm="ring", planner="static", topology="ring")
    for size in ("4KiB", "1MiB")
]
MADE: list[str] = []


def _draw(picture: Picture) -> None:
    picture.subplots()


def _figure(name: str, engines: tuple[str, ...] = ("model", "packet")) -> Figure:
    def make(setting: Setting) -> Outcome:
        MADE.append(name)
        times_s = [one.total_s for one in setting.measure(RING)]
        claims = (
            Claim.between("a small buffer", "fig. 1", low=1.5e-6, high=4.5e-6, ours=times_s[0]),
            Claim.at_least("a large buffer", "fig. 1", paper=1.0, ours=times_s[1], why=f"it takes {times_s[1]:.3g} s"),
            Claim.not_judged("a chip", "fig. 2", paper="hot", why="there is no chip"),
        )
        return Outcome({"size_bytes": [4096, 1 << 20], "total_s": times_s}, _draw, claims, "Notes.")

    return Figure(name, f"title of {name}", "Paper fig. 1", make, engines)


FIGURES = (_figure("small-1"), _figure("small-2", ("model",)))
SENTENCES = Sentences(3, (("It takes", "a small buffer"),))
PAPER = Paper(
    "small", "A small paper", FIGURES, SENTENCES, (Claim.not_judged("elsewhere", "§7", paper="7", why="no data"),)
)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    MADE.clear()
    monkeypatch.setattr(registry, "PAPERS", (PAPER,))


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (Claim.near("w", "f", paper=3.0, ours=3.15), Verdict.HOLDS),
        (Claim.near("w", "f", paper=3.0, ours=3.16, why="x"), Verdict.FAILS),
        (Claim.near("w", "f", paper=3.0, ours=float("nan"), why="x"), Verdict.FAILS),
        (Claim.at_least("w", "f", paper=3.0, ours=2.9, why="x"), Verdict.FAILS),
        (Claim.at_least("w", "f", paper=3.0, ours=3.0), Verdict.HOLDS),
        (Claim.at_most("w", "f", paper=3.0, ours=3.0), Verdict.HOLDS),
        (Claim.at_most("w", "f", paper=3.0, ours=3.1, why="x"), Verdict.FAILS),
        (Claim.between("w", "f", low=1, high=2, ours=2.5, why="x"), Verdict.FAILS),
        (Claim.equal("w", "f", paper=7, ours=7), Verdict.HOLDS),
        (Claim.fact("w", "f", paper="p", ours="o", rule="r", holds=False, why="x"), Verdict.FAILS),
        (Claim.not_judged("w", "f", paper="p", why="x"), Verdict.OPEN),
    ],
)
def test_claims_are_judged_by_their_rule(claim: Claim, verdict: Verdict) -> None:
    assert claim.verdict is verdict


def test_a_claim_that_fails_says_why() -> None:
    with pytest.raises(ValueError, match="nothing says why"):
        Claim.near("w", "f", paper=3.0, ours=4.0)


def test_a_figure_writes_its_data_its_picture_and_its_page(tmp_path: Path) -> None:
    made = reproduce(FIGURES[0], tmp_path / "new", Setting())
    assert {file.name for file in (tmp_path / "new").iterdir()} == {"small-1.csv", "small-1.png", "small-1.md"}
    rows = list(csv.reader((tmp_path / "new" / made.data).read_text().splitlines()))
    assert rows[0] == ["size_bytes", "total_s"]
    # Ring: n - 1 steps of m/n bytes over one hop.
    for size, total_s in rows[1:]:
        assert float(total_s) == pytest.approx(3 * (1e-6 + int(size) / 4 * 8 / 8e11))
    page = (tmp_path / "new" / made.page).read_text()
    for part in ("# small-1: title", "![title of small-1](small-1.png)", "Notes.", "| holds |", "no chip"):
        assert part in page


def test_cases_that_are_planned_together_are_planned_as_alone() -> None:
    def cases(**settings: Any) -> list[Case]:
        return [
            Case.of(
                collective,
                size,
                ll.Fabric(gpus=gpus, startup=startup, reconfiguration_delay=delay, initial=initial),
                **settings,
            )
            for collective in ("all-to-all", "reduce-scatter")
            for size in ("8KiB", 3 << 20)
            for gpus in (6, 8)
            for delay in ("100ns", "5us+10ns/port")
            for startup in ("0s", "1us")
            for initial in ("free", "ring")
        ]

    every = [*cases(), *cases(planner="bvn"), Case.of("all-to-all", "64KiB/pair", ll.Fabric(gpus=5))]
    for case, one in zip(every, Setting().measure(every), strict=True):
        plan = ll.plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))
        assert one == (plan.total_s, plan.reconfigurations, plan.planner, plan.algorithm)


def test_packets_are_simulated_once_and_kept(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    setting = Setting("packet", tmp_path, 2, lambda done, total: told.append((done, total)))
    first = setting.measure(RING)
    assert told[-1] == (2, 2)
    (kept,) = (tmp_path / KEPT).iterdir()
    written = (kept / "sweep.parquet").stat().st_mtime_ns
    assert setting.measure([*RING, RING[0]]) == [*first, first[0]]
    assert (kept / "sweep.parquet").stat().st_mtime_ns == written
    for case, one in zip(RING, first, strict=True):
        plan = ll.plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))
        assert one == (ll.simulate(plan).total_s, plan.reconfigurations, plan.planner, plan.algorithm)


def test_packets_of_any_cases_are_those_of_each_alone() -> None:
    """Tables of sizes and delays, rows of only some sizes, and single cases."""
    cases = [
        Case.of(
            "reduce-scatter", size, ll.Fabric(gpus=gpus, initial="ring", reconfiguration_delay=delay), planner=planner
        )
        for gpus, planner in ((4, "bvn"), (6, None))
        for size, delay in (("1KiB", "1us"), (4096, "1us"), (4096, "5us+10ns/port"), ("1KiB", "2us"))
        if gpus == 4 or delay != "2us"
    ]
    for case, one in zip(cases, Setting("packet").measure(cases), strict=True):
        plan = ll.plan(case.collective, case.size, fabric=case.fabric, **dict(case.settings))
        assert one == (ll.simulate(plan).total_s, plan.reconfigurations, plan.planner, plan.algorithm)


def test_a_case_without_a_plan_says_why() -> None:
    cases = [Case.of("all-reduce", size, ll.Fabric(gpus=6), algorithm="halving-doubling") for size in ("1KiB", "1MiB")]
    for engine in ("model", "packet"):
        with pytest.raises(InputError, match="halving-doubling"):
            Setting(engine).measure(cases)


def test_an_engine_that_a_figure_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="engine: `packet` cannot make small-2; it takes model"):
        reproduce(FIGURES[1], tmp_path, Setting("packet", tmp_path))
    assert not list(tmp_path.iterdir())


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    def stops(figure: Figure) -> Setting:
        if figure.name == "small-2":
            raise KeyboardInterrupt
        return Setting()

    with pytest.raises(KeyboardInterrupt):
        reproduce_all(FIGURES, tmp_path, "model", stops)
    made = reproduce_all(FIGURES, tmp_path, "model", lambda _figure: Setting())
    assert MADE == ["small-1", "small-2"]
    assert [one.claims for one in made] == [reproduce(figure, tmp_path, Setting()).claims for figure in FIGURES]
    # A run that ended is not gone on with.
    reproduce_all(FIGURES, tmp_path, "model", lambda _figure: Setting())
    assert MADE[-2:] == ["small-1", "small-2"]
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


def test_the_summary_lists_every_claim() -> None:
    claims = {figure.name: figure.make(Setting()).claims for figure in FIGURES}
    page = summary_page((PAPER,), claims)
    assert page.count("| holds |") == 2
    assert page.count("| does not hold |") == 2
    assert "| §7 | elsewhere | 7 | - | not judged |" in page
    assert "2 claims hold, 2 do not, 3 are not judged." in page
    held = next(claim for of in claims.values() for claim in of if claim.verdict is Verdict.HOLDS)
    assert tally((held,)) == "1 claim holds, 0 do not, 0 are not judged."
    assert tally(()) == "0 claims hold, 0 do not, 0 are not judged."


def test_what_packets_judge_otherwise_is_next_to_it_and_explained() -> None:
    claims = {"small-1": (Claim.up_to("up to 3×", "fig. 1", paper=3.0, ours=3.0, unit="×"),)}
    packets = {"small-1": (Claim.up_to("up to 3×", "fig. 1", paper=3.0, ours=1.0, unit="×", why="Packets queue."),)}
    page = summary_page((PAPER,), claims, packets)
    assert "| small-1 | up to 3× | 3× | 3× | holds | 1× | does not hold |" in page
    assert (
        "- **up to 3×** (fig. 1): holds by the model with 3×, does not hold by packets with 1×. Packets queue." in page
    )
    assert "By packets 0 claims hold, 1 does not, 0 are not judged." in page
    assert "Turned" not in summary_page((PAPER,), claims, claims)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "list"]) == 0
    assert "small-1" in capsys.readouterr().out
    assert main(["reproduce", "all", "--output", str(tmp_path)]) == 0
    assert "small-2" in capsys.readouterr().out
    assert (tmp_path / "reproduction.md").read_text().startswith("# Reproduction")
    assert main(["reproduce", "small-1", "--output", str(tmp_path), "--format", "json", "--picture", "svg"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [claim["verdict"] for claim in shown["figures"][0]["claims"]] == ["holds", "does not hold", "not judged"]
    assert Path(shown["figures"][0]["picture"]).read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bridge-99"], "error: figure: unknown name `bridge-99`; one of all, small, small-1, small-2"),
        (["small-1", "--engine", "flow"], "error: engine: unknown name `flow`; one of model, packet, run"),
        (["small-2", "--engine", "packet"], "error: engine: `packet` cannot make small-2; it takes model"),
        (["small-1", "--picture", "gif"], "error: picture: unknown name `gif`; one of png, pdf, svg"),
        (["small-1", "--workers", "0"], "error: workers: "),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *arguments, "--output", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err.startswith(message)
    assert not (tmp_path / "new").exists()
