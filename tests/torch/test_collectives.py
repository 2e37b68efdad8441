"""Every collective, reduction and type that Gloo has: the backend's results are Gloo's, to the bit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torch.launch import check_all_well, ranks_of

pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")


@pytest.mark.parametrize("fabric", ["default", "harvest"])
@pytest.mark.parametrize("ranks", [2, 3, 4, pytest.param(8, marks=pytest.mark.large)])
def test_results_are_gloos(ranks: int, fabric: str, request: pytest.FixtureRequest) -> None:
    seed = str(request.config.getoption("--hypothesis-seed", default=0) or 0)
    ended = ranks_of("collectives", seed, ranks=ranks, LIGHTLOOM_FABRIC=fabric)
    check_all_well(ended)
    assert [one.said.split() for one in ended] == [["rank", str(rank), "done"] for rank in range(ranks)]


def test_messages_and_groups() -> None:
    check_all_well(ranks_of("messages", ranks=4))


def test_calls_that_do_not_fit_together_are_one_error_at_every_rank() -> None:
    ended = ranks_of("mismatch", ranks=3)
    lines = {one.errors.strip().splitlines()[-1].rpartition("all_reduce: ")[2] for one in ended}
    assert len(lines) == 1, lines
    (line,) = lines
    assert line.startswith("rank 0 calls all-reduce of 10 float32, sum, its collective 3, and rank 1 calls all-reduce")


@pytest.mark.parametrize(("fabric", "words"), [("nowhere", "unknown name `nowhere`"), ("nvl72", "islands of 72 GPUs")])
def test_a_fabric_that_does_not_fit_is_a_line(fabric: str, words: str) -> None:
    for one in ranks_of("mismatch", ranks=2, LIGHTLOOM_FABRIC=fabric):
        assert one.code != 0
        assert words in one.errors.strip().splitlines()[-1]


def test_nothing_is_left_in_shared_memory() -> None:
    assert not list(Path("/dev/shm").glob("*lightloom*"))  # noqa: S108
