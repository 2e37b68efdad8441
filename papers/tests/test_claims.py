"""Claims: their verdicts, and how far our numbers are from the papers'."""

import json
from dataclasses import asdict

import pytest

from lightloom_papers.claims import NOT_STATED, Claim, Numbers, Verdict
from lightloom_papers.run import _claim_of


@pytest.mark.parametrize(
    ("paper", "ours", "unit", "deviation"),
    [
        (4.0, 3.0, "×", "-25 %"),
        (4.0, 5.0, "", "+25 %"),
        (10.0, 10.43, "µs", "+4.3 %"),
        (0.5, 3.0, "ms", "+500 %"),
        (3.0, 3.0, "×", "0 %"),
        (3.0, 3.0000001, "×", "0 %"),
        # Parts of a hundred are apart by points, of nothing too.
        (40.0, 44.25, "%", "+4.2 points"),
        (0.0, 13.4, "%", "+13 points"),
        (0.0, 2.0, "×", ""),
        (-2.0, -3.0, "s", "-50 %"),
    ],
)
def test_a_deviation_is_a_part_of_the_papers_number(paper: float, ours: float, unit: str, deviation: str) -> None:
    for made in (Claim.near, Claim.at_least, Claim.at_most):
        claim = made("words", "fig. 1", paper=paper, ours=ours, unit=unit, why="a reason")
        assert claim.deviation == deviation
        assert claim.numbers == Numbers(paper, paper, ours, unit)


@pytest.mark.parametrize(
    ("paper", "shown"), [(39.66, "39.66 %"), (3.0, "3 %"), (4.1e79, "4.1e+79 %"), (0.15, "0.15 %")]
)
def test_the_papers_number_is_shown_as_it_is_stated(paper: float, shown: str) -> None:
    claim = Claim.near("words", "fig. 1", paper=paper, ours=paper * 1.00001, unit="%")
    assert claim.paper == shown


@pytest.mark.parametrize(
    ("paper", "ours", "holds"),
    [
        # Within a tenth, from either side.
        (10.4, 9.4, True),
        (10.4, 11.4, True),
        (10.4, 9.3, False),
        (10.4, 11.5, False),
        (5.4, 10.2, False),
        # A number that rounds to one digit.
        (3.0, 3.49, True),
        (3.0, 2.51, True),
        (3.0, 4.72, False),
        (44.0, 43.9, True),
        (2.0, float("inf"), False),
    ],
)
def test_one_rule_for_every_rounded_number(paper: float, ours: float, holds: bool) -> None:
    for made in (Claim.up_to, Claim.about):
        claim = made("words", "fig. 1", paper=paper, ours=ours, unit="×", why="a reason")
        assert (claim.verdict is Verdict.HOLDS) == holds


@pytest.mark.parametrize(
    ("ours", "reached", "holds"),
    [([3.0, 2.86, 1.0, 1.0], 2, True), ([3.3, 2.84, 1.0, 1.0], 1, False), ([9.0, 1.0, 1.0], 1, False)],
)
def test_a_number_across_a_wide_range_is_not_its_largest_value(ours: list[float], reached: int, holds: bool) -> None:
    claim = Claim.across("words", "fig. 1", paper=3.0, ours=ours, unit="×", why="a reason")
    assert (claim.verdict is Verdict.HOLDS) == holds
    assert f"at {reached} of {len(ours)} sizes" in claim.ours


@pytest.mark.parametrize(("ours", "deviation"), [(2.0, "0 %"), (1.0, "-50 %"), (6.0, "+50 %"), (4.0, "0 %")])
def test_within_a_range_nothing_deviates(ours: float, deviation: str) -> None:
    claim = Claim.between("words", "fig. 1", low=2.0, high=4.0, ours=ours, unit="×", why="a reason")
    assert claim.deviation == deviation
    assert (claim.verdict is Verdict.HOLDS) == (deviation == "0 %")


def test_only_numbers_deviate() -> None:
    assert Claim.equal("words", "table 1", paper=4, ours=5, why="a reason").deviation == "+25 %"
    others = (
        Claim.equal("words", "table 1", paper="7T+R", ours="7T+R"),
        Claim.fact("words", "§1", paper="grows", ours="grows", rule="it does", holds=True),
        Claim.not_judged("words", "§1", paper="7 s", why="a reason"),
        Claim.near("words", "§1", paper=2.0, ours=float("inf"), why="a reason"),
    )
    assert [(claim.deviation, claim.numbers) for claim in others] == [("", None)] * 4


@pytest.mark.parametrize(("ours", "verdict"), [(1.4, Verdict.FAILS), (1.5, Verdict.HOLDS)])
def test_a_number_that_is_ours_is_not_the_papers(ours: float, verdict: Verdict) -> None:
    claim = Claim.at_least_ours("it persists", "§6", least=1.5, ours=ours, unit="×", why="a reason")
    assert (claim.paper, claim.rule, claim.verdict) == (NOT_STATED, "at least 1.5×", verdict)
    assert claim.numbers is None


@pytest.mark.parametrize("ours", [1.0, float("nan")])
def test_claims_of_an_interrupted_run_are_read_back(ours: float) -> None:
    claim = Claim.near("words", "fig. 1", paper=2.0, ours=ours, why="a reason")
    assert _claim_of(json.loads(json.dumps(asdict(claim)))) == claim
