"""Every collective, reduction and type that Gloo has: the backend's results are Gloo's, to the bit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.torch.launch import Ended, check_all_well, ranks_of

pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")


@pytest.mark.parametrize("fabric", ["default", "harvest"])
@pytest.mark.parametrize("ranks", [2, 3, 4, pytest.param(8, marks=pytest.mark.large)])
@pytest.mark.parametrize("job", ["collectives", "agreement"])
def test_results_are_gloos_and_the_same_at_all_ranks(
    job: str, ranks: int, fabric: str, request: pytest.FixtureRequest
) -> None:
    seed = str(request.config.getoption("--hypothesis-seed", default=0) or 0)
    ended = ranks_of(job, seed, ranks=ranks, LIGHTLOOM_FABRIC=fabric)
    check_all_well(ended)
    assert [one.said.split() for one in ended] == [["rank", str(rank), "done"] for rank in range(ranks)]


def test_messages_and_groups() -> None:
    check_all_well(ranks_of("messages", ranks=4))


def test_a_group_is_made_again_while_the_first_rank_is_late(tmp_path: Path) -> None:
    check_all_well(ranks_of("again", str(tmp_path / "store"), ranks=3))


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (
            "sizes",
            r"rank 0 calls all-reduce of 10 float32, sum, its collective 4, and rank 1 calls all-reduce of 11 ",
        ),
        ("kinds", "rank 0 calls broadcast of 3 float32 from or to rank 0, .*and rank 1 calls all-reduce of 3 float32"),
        ("classes", "rank 0 calls all-gather of 15000 float32, .*and rank 1 calls all-gather of 9 float32"),
        ("splits", "output_split_sizes: rank 0 sends 3 elements to rank 2, which has room for 2$"),
    ],
)
def test_calls_that_do_not_fit_together_are_one_error_at_every_rank(case: str, words: str) -> None:
    lines = {_last_line(one) for one in ranks_of("mismatch", case, ranks=3)}
    assert len(lines) == 1, lines
    assert re.match(words, lines.pop())


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("LIGHTLOOM_FABRIC", "nowhere", "unknown name `nowhere`"),
        ("LIGHTLOOM_TRACE", "/proc/nowhere", "LIGHTLOOM_TRACE: `/proc/nowhere` cannot be written to"),
        ("LIGHTLOOM_DILATION", "-1", "LIGHTLOOM_DILATION: `-1` is not accepted"),
    ],
)
def test_a_setting_that_is_not_accepted_is_a_line(setting: str, value: str, words: str) -> None:
    for one in ranks_of("mismatch", "sizes", ranks=2, **{setting: value}):
        assert one.code != 0
        assert words in _last_line(one)


def test_a_fabric_that_does_not_fit_is_a_line() -> None:
    for one in ranks_of("mismatch", "sizes", ranks=2, LIGHTLOOM_FABRIC="nvl72"):
        assert one.code != 0
        assert "islands of 72 GPUs" in _last_line(one)


def _last_line(ended: Ended) -> str:
    """What the error says after its name and the call's."""
    return ended.errors.strip().splitlines()[-1].partition("Error: ")[2].partition(": ")[2]


def test_nothing_is_left_in_shared_memory() -> None:
    assert not list(Path("/dev/shm").glob("*lightloom*"))  # noqa: S108
