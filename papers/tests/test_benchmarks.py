"""The benchmarks of the papers: every one is there, brought by the entry point, and its problems are accepted."""

import pytest

import lightloom as ll
from lightloom.sweeps.benchmarks import PLANNERS, all_benchmarks
from lightloom.sweeps.description import SweepDescription
from lightloom_papers.benchmarks import BENCHMARKS
from lightloom_papers.registry import PAPERS


@pytest.mark.large
def test_every_paper_has_a_benchmark_whose_problems_are_accepted() -> None:
    names = [benchmark.name for benchmark in BENCHMARKS]
    assert len(set(names)) == len(names) == len(PAPERS)
    assert set(names) <= {benchmark.name for benchmark in all_benchmarks()}
    for benchmark in BENCHMARKS:
        labels = [series.label for series in benchmark.series]
        assert len(set(labels)) == len(labels)
        for series in benchmark.series:
            assert len(series.points) == len(series.sizes) * len(series.delays) > 0
            assert SweepDescription.of(series.description).points == len(PLANNERS) * len(series.points)
            size, _ = series.points[0]
            fabric, convention = series.fabric, series.convention
            assert ll.bound(series.collective, size, fabric=fabric, convention=convention).lower_bound_s > 0
