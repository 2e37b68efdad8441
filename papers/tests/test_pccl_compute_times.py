"""Times of computation of PCCL's figures 12 to 16: published ones, and for which of them claims hold."""

from collections.abc import Callable
from functools import cache

import pytest
from tests.conftest import ROOT

from lightloom.views.axis_units import time_label
from lightloom_papers.claims import Claim, Verdict
from lightloom_papers.figure import Setting
from lightloom_papers.pccl.compute_times import BERT_LARGE, FLEXFLOW_MATRICES, OURS, PUBLISHED
from lightloom_papers.pccl.iterations import AFTER, DURING, SAMPLES, workloads
from lightloom_papers.pccl.sensitivity import LEAST, MOST, WITHIN, change, factors, ranges, said, with_ranges
from lightloom_papers.pccl.training import DELAYS_S, FIGURES, PUBLISHED_S, assumed_s, by_published, measured
from lightloom_papers.pccl.training_claims import GRIDS, Found, claims_at_5_us, largest

pytestmark = pytest.mark.slow

HOP_S, BYTE_S = 3e-6, 1 / 450e9


@cache
def found() -> Found:
    return measured(Setting(), DELAYS_S[0])


@cache
def claims_at(computing: float) -> tuple[Claim, ...]:
    return claims_at_5_us(Found.of(DELAYS_S[0], found().reductions, workloads(), computing), {})


def test_operations_are_six_a_weight_and_token_and_those_of_attention() -> None:
    """BERT-large has 24 layers of 12 × 1024² weights, 302 million; attention adds 12 s² h a layer."""
    assert BERT_LARGE.training_flops == 6 * 301_989_888 * 128 + 24 * 12 * 128**2 * 1024
    assert OURS.training_flops == 6 * 12 * 6 * 2048**2 * 64 + 12 * 12 * 64**2 * 2048


def test_the_weights_of_a_layer_are_those_whose_gradients_are_reduced() -> None:
    reduced = [node["size_bytes"] for node in next(iter(workloads().values())).nodes if node["kind"] != "compute"]
    assert sum(reduced) == OURS.layers * FLEXFLOW_MATRICES * OURS.hidden**2 * 4


def test_published_rates_have_sources_and_are_below_an_a100s_peak() -> None:
    """156 TFLOP/s in TF32 and 312 in FP16, by NVIDIA's data sheet."""
    for one in PUBLISHED:
        assert one.url.startswith("https://")
        assert str(one.year) in one.source or one.unit == "TFLOP/s"
        assert one.unit in {"sequences/s", "TFLOP/s"}
        assert one.flops_per_s < (156e12 if "TF32" in one.what else 312e12)
        assert LEAST <= one.iteration_s(SAMPLES) / assumed_s() <= MOST
    times = [one.iteration_s(SAMPLES) for one in PUBLISHED]
    assert times == sorted(times, reverse=True)
    # 16 sequences of 117.2 GFLOPs at 136 TFLOP/s.
    assert PUBLISHED_S["fp16_2022"] == pytest.approx(16 * 117.172e9 / 136e12, rel=1e-4)


@pytest.mark.large
@pytest.mark.parametrize("name", PUBLISHED_S)
def test_an_iteration_with_a_published_time_is_that_and_the_allreduces_after_it(name: str) -> None:
    """Ring on the ring, gradients reduced after the backward pass: nothing overlaps."""
    layer_s = sum(2 * (127 * HOP_S + 127 / 128 * size * BYTE_S) for size in (2**26, 2**24, 2**24))
    table = FIGURES[0].make(Setting()).table
    keys = list(zip(*(table[column] for column in ("reduced", "gpus", "topology", "scheme")), strict=True))
    rate = table[f"samples_per_s_{name}"][keys.index((AFTER, 128, "ring", "Ring"))]
    assert 16 * 128 / rate == pytest.approx(PUBLISHED_S[name] + 12 * layer_s, rel=1e-9)


@pytest.mark.parametrize("edge", [0.3, 1.0, 2.7])
def test_a_change_is_found_from_both_sides(edge: float) -> None:
    below = change(lambda factor: factor <= edge, LEAST, MOST)
    above = change(lambda factor: factor >= edge, LEAST, MOST)
    assert edge * (1 - WITHIN) <= below <= edge <= above <= edge * (1 + WITHIN)


@pytest.mark.parametrize(
    ("inside", "ends"),
    [
        (lambda _: True, [(LEAST, MOST)]),
        (lambda _: False, []),
        (lambda factor: factor <= 0.7, [(LEAST, 0.7)]),
        (lambda factor: factor >= 0.7, [(0.7, MOST)]),
        (lambda factor: not 0.6 < factor < 1.9, [(LEAST, 0.6), (1.9, MOST)]),
        (lambda factor: 0.3 <= factor <= 0.9 or 1.5 <= factor <= 2.6, [(0.3, 0.9), (1.5, 2.6)]),
    ],
)
def test_ranges_are_those_of_the_predicate(inside: Callable[[float], bool], ends: list[tuple[float, float]]) -> None:
    made = ranges(inside, factors())
    assert len(made) == len(ends)
    for one, expected in zip(made, ends, strict=True):
        assert one == pytest.approx(expected, rel=WITHIN)
        assert all(map(inside, one))


@pytest.mark.large
def test_ranges_of_figure_12s_claims_are_those_of_a_dense_scan() -> None:
    """At 101 factors, none of them among those that the bisection starts from but the ends."""
    dense = [LEAST * (MOST / LEAST) ** (step / 100) for step in range(101)]
    for index, claim in enumerate(claims_at(1.0)):

        def holds(factor: float, index: int = index) -> bool:
            return claims_at(factor)[index].verdict is Verdict.HOLDS

        made = ranges(holds, factors())
        for factor in dense:
            if any(abs(factor - end) < 2 * WITHIN * end for pair in made for end in pair):
                continue
            assert holds(factor) == any(low <= factor <= high for low, high in made), (claim.words, factor)


def test_claims_say_where_they_hold_and_those_that_do_not_depend_say_nothing() -> None:
    """A gain of 1.2 to 10 % at a factor of 1.08 to 1.32; one that is always 3, and one that is never."""

    def judged(factor: float) -> tuple[Claim, ...]:
        return (
            Claim.up_to("falls", "-", paper=1.2, ours=factor, why="reason"),
            Claim.at_most("fixed", "-", paper=3, ours=3),
            Claim.at_least("always", "-", paper=0.1, ours=factor),
            Claim.at_least("never", "-", paper=5, ours=factor, why="reason"),
        )

    falls, fixed, always, never = with_ranges(judged, 0.02, [0.016, 0.024])
    assert falls.why == (
        "reason. It holds when GPUs compute for 1.08 to 1.32 times the assumed 20 ms (0.25 to 4 times tried): with "
        "published times of 24 ms, not of 16 ms"
    )
    assert fixed.why == ""
    assert always.why.startswith("It holds whether GPUs compute for 0.25 to 4 times the assumed 20 ms")
    assert never.why.startswith("reason. It does not hold when GPUs compute")
    assert [one.verdict for one in (falls, fixed, always, never)] == [
        Verdict.FAILS,
        Verdict.HOLDS,
        Verdict.HOLDS,
        Verdict.FAILS,
    ]


def test_a_published_time_outside_of_the_ranges_is_not_hidden() -> None:
    text = said(((LEAST, MOST),), {0.2: False}, 0.02)
    assert "with published times of none, not of 200 ms" in text


@pytest.mark.large
def test_the_table_of_published_times_is_the_documents() -> None:
    document = (ROOT / "docs" / "papers.md").read_text()
    times = by_published(found())
    for one in PUBLISHED:
        time_s = one.iteration_s(SAMPLES)
        gains = largest(times[one.name], GRIDS)
        row = (
            f"| [{one.what}]({one.url}), {one.year} | {one.number:g} {one.unit} | {one.flops_per_s / 1e12:.0f} TFLOP/s "
            f"| {time_label(time_s)} | {time_s / assumed_s():.2f} | {gains[DURING][0]:.2f}× | {gains[AFTER][0]:.2f}× |"
        )
        assert row in document, f"docs/papers.md lacks: {row}"
        assert one.source.split(", README")[0].split(", ")[0] in document
    for index, words in enumerate(("The 1.2× does from", "the 1.3× from")):

        def holds(factor: float, index: int = index) -> bool:
            return claims_at(factor)[index].verdict is Verdict.HOLDS

        ((low, high),) = ranges(holds, factors())
        assert f"{words} {low:.2f} to {high:.2f} times" in " ".join(document.split())
