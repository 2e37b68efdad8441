"""Tests of every folder: settings of random searches, and the cases of large tests that are drawn."""

import random

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

# How long a case takes says how busy the machine is.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--large some`, for `make test`."""
    parser.addoption(
        "--large",
        choices=("all", "some"),
        default="all",
        help="cases of tests that are marked large: all; or a sixteenth, drawn by the seed, of those that are not slow",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks random searches as `long`, before tests are chosen by their markers, and draws cases of large tests."""
    for item in items:
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
            item.add_marker("long")
    if config.getoption("large") == "some":
        left_out = undrawn(items, str(config.getoption("--hypothesis-seed", default=0)))
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def undrawn(items: list[pytest.Item], seed: str) -> set[pytest.Item]:
    """Cases of large tests but for a sixteenth of each test's: of a test with few cases, one or none.

    Cases that are marked slow are never drawn.
    """
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("large"):
            tests.setdefault(item.nodeid.split("[")[0], []).append(item)
    left_out: set[pytest.Item] = set()
    for test, cases in tests.items():
        drawable = [case for case in cases if not case.get_closest_marker("slow")]
        # Each worker draws the same cases, and so do tests of a file that have the same cases, such as one figure's.
        draw = random.Random(f"{seed} {test.split('::')[0]}")  # noqa: S311
        drawn = min(int(len(cases) / 16 + draw.random()), len(drawable))
        left_out.update(set(cases) - set(draw.sample(drawable, drawn)))
    return left_out
