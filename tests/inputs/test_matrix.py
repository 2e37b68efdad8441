"""All-to-All matrices: every byte is planned once, whatever the file is called."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import lightloom as ll
from lightloom.inputs.matrix import read_matrix

MATRICES = (
    st.integers(2, 7)
    .flatmap(lambda n: arrays(np.int64, (n, n), elements=st.one_of(st.just(0), st.integers(0, 1 << 30))))
    .filter(lambda matrix: np.any(matrix[~np.eye(len(matrix), dtype=bool)]))
)


@pytest.mark.large
@settings(max_examples=60, deadline=None)
@given(MATRICES)
def test_every_byte_is_sent_once(matrix: np.ndarray) -> None:
    schedule, size = ll.Schedule.from_matrix(matrix.astype(float))
    assert size == max(matrix.sum(axis=0).max(), matrix.sum(axis=1).max())
    carried = []
    for index in range(len(schedule.shares)):
        transfers = schedule.transfers(index)
        assert len({src for src, *_ in transfers}) == len({dst for _, dst, *_ in transfers}) == len(transfers)
        carried += [(src, dst, chunk) for src, dst, _, chunks in transfers for chunk in chunks]
    # The decomposition as it is, and whatever is best, where a piece is a whole block.
    for planner in ("bvn", None):
        plan = ll.plan(matrix=matrix, planner=planner)
        pieces = json.loads(plan.to_json())["chunks"].get("pieces")
        if pieces is not None:
            planned = np.zeros(matrix.shape)
            for src, dst, share in pieces:
                planned[src, dst] += share * plan.size_bytes
            assert planned == pytest.approx(matrix, rel=1e-9)
            if planner == "bvn":
                moving = [(src, dst, chunk) for chunk, (src, dst, _) in enumerate(pieces) if src != dst]
                assert sorted(carried, key=lambda sent: sent[2]) == moving
        assert plan.collective == "all-to-all"
        assert all(check.passed for check in ll.verify(plan))


@settings(max_examples=30, deadline=None)
@given(MATRICES, st.integers(1, 4))
def test_columns_of_experts_add_up_at_their_rank(
    tmp_path_factory: pytest.TempPathFactory, matrix: np.ndarray, experts: int
) -> None:
    # Every block is dealt to the experts of its destination, in parts that add up to it again.
    parts = np.array([[[size // (experts + k) for k in range(experts - 1)] for size in row] for row in matrix])
    parts = parts.reshape(*matrix.shape, experts - 1)
    tokens = np.concatenate([parts, (matrix - parts.sum(axis=2))[:, :, None]], axis=2).reshape(len(matrix), -1)
    path = tmp_path_factory.mktemp("tokens") / "tokens.csv"
    np.savetxt(path, tokens, fmt="%d", delimiter=",")
    assert np.array_equal(read_matrix(path), matrix)
    np.save(path.with_suffix(".npy"), tokens)
    assert np.array_equal(read_matrix(path.with_suffix(".npy")), matrix)


@settings(max_examples=30, deadline=None)
@given(MATRICES)
def test_files_hold_what_arrays_hold(tmp_path_factory: pytest.TempPathFactory, matrix: np.ndarray) -> None:
    folder = tmp_path_factory.mktemp("matrix")
    np.save(folder / "m.npy", matrix)
    np.savetxt(folder / "commas.csv", matrix, fmt="%d", delimiter=",")
    np.savetxt(folder / "blanks.csv", matrix, fmt="%d", delimiter=" ", header="bytes")
    np.savetxt(folder / "semicolons.csv", matrix, fmt="%.17g", delimiter=";")
    for name in ("m.npy", "commas.csv", "blanks.csv", "semicolons.csv"):
        assert np.array_equal(read_matrix(folder / name), matrix)


def test_layouts_and_types_do_not_matter(tmp_path: Path) -> None:
    matrix = np.arange(16.0).reshape(4, 4)
    for number, array in enumerate([matrix, np.asfortranarray(matrix), matrix.astype("float32"), matrix.astype(">u2")]):
        np.save(tmp_path / f"{number}.npy", array)
        assert ll.plan(matrix=tmp_path / f"{number}.npy").to_json() == ll.plan(matrix=matrix).to_json()
    assert ll.plan(matrix=matrix.tolist()).to_json() == ll.plan(matrix=matrix).to_json()


def test_equal_matrices_are_the_direct_all_to_all() -> None:
    plan = ll.plan(matrix=np.full((8, 8), 1024.0))
    assert plan.total_s == ll.plan("all-to-all", size="1KiB/pair", fabric=ll.Fabric(gpus=8), algorithm="direct").total_s


@pytest.mark.large
def test_generated_matrices_repeat_and_mean_what_the_size_says() -> None:
    fabric = ll.Fabric(gpus=12, ports=2)
    seeded = ll.plan(size="1MB/pair", fabric=fabric, matrix="zipf:0.4:7")
    assert seeded.to_json() == ll.plan(size="1MB/pair", fabric=fabric, matrix="zipf", seed=7).to_json()
    assert seeded.to_json() != ll.plan(size="1MB/pair", fabric=fabric, matrix="zipf", seed=8).to_json()
    pieces = json.loads(seeded.to_json())["chunks"]["pieces"]
    sent = sum(share for src, dst, share in pieces if src != dst) * seeded.size_bytes
    assert sent == pytest.approx(12 * 11 * 1e6, rel=1e-6)
    # Another size is that of the busiest GPU's buffer.
    assert ll.plan(size="1MB", fabric=fabric, matrix="random").size_bytes == 10**6
    uniform, plain = (
        ll.compare("all-to-all", "12MB", fabric=fabric, algorithm=algorithm, matrix=matrix)
        for algorithm, matrix in ((None, "uniform"), ("direct", None))
    )
    # A named algorithm is kept by all; a matrix leaves it to `weave`.
    rows = [[(row.planner, row.total_s) for row in side.rows if row.planner != "weave"] for side in (uniform, plain)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("matrix", "size", "gpus", "field"),
    [
        ("zipf:x", "1MB", 8, "matrix"),
        ("uniform:3", "1MB", 8, "matrix"),
        ("random", None, 8, "size"),
        ("random", "1MB", None, "gpus"),
        ("zipf", "1MB/pair", 60000, "matrix"),
    ],
)
def test_wrong_generated_matrices_name_what_is_wrong(
    matrix: str, size: str | None, gpus: int | None, field: str
) -> None:
    with pytest.raises(ll.InputError) as caught:
        ll.plan(size=size, fabric=ll.Fabric(gpus=gpus), matrix=matrix)
    assert caught.value.field == field


def test_chunks_are_forwarded_by_index() -> None:
    fabric = ll.Fabric(gpus=8, reconfiguration_delay="1s")
    whole = ll.plan("all-to-all", "4MB/pair", fabric=fabric, planner="topo-opt")
    chunked = ll.plan("all-to-all", "4MB/pair", fabric=fabric, planner="topo-opt", chunk_size="1MB")
    # 28 slots of one hop on the ring; four chunks pay startup and hop delay four times.
    assert (len(whole.steps), len(chunked.steps)) == (28, 112)
    assert chunked.total_s - whole.total_s == pytest.approx(28 * 3 * 1e-6)
    assert all(check.passed for check in ll.verify(chunked))


def test_fewer_optical_ports_are_for_bridge() -> None:
    fabric = ll.Fabric(gpus=16)
    plan = ll.plan("all-gather", "1MB", fabric=fabric, algorithm="bruck", optical_ports=8)
    assert plan.planner == "bridge"
    assert {step.topology_name.partition(",")[0] for step in plan.steps} == {"block-ring:4"}
    rows = ll.compare("all-gather", "1MB", fabric=fabric, algorithm="bruck", optical_ports=8).rows
    assert [row.planner for row in rows if row.total_s is not None and not row.keeps_the_best] == [
        "never-change",
        "bridge",
    ]
    # The best of all algorithms keep to these ports as well.
    assert {row.topology.partition(",")[0] for row in rows if row.planner == "never-change"} == {"block-ring:4"}
    assert all("optical" in (row.reason or "") for row in rows if row.total_s is None)
    with pytest.raises(ll.InputError) as caught:
        ll.plan("all-gather", "1MB", fabric=fabric, algorithm="bruck", optical_ports=8, planner="harvest")
    assert caught.value.field == "optical_ports"


@pytest.mark.parametrize(
    ("collective", "planner"), [("all-reduce", None), ("all-reduce", "pccl"), ("all-to-all", "bvn")]
)
def test_chunks_are_refused_where_no_blocks_are_forwarded(collective: str, planner: str | None) -> None:
    for make in (ll.plan, ll.compare):
        with pytest.raises(ll.InputError) as caught:
            make(collective, "1MB", fabric=ll.Fabric(gpus=8), planner=planner, chunk_size="1KB")
        assert caught.value.field == "chunk_size"
    served = ll.compare("all-to-all", "1MB", fabric=ll.Fabric(gpus=8), algorithm="direct", chunk_size="1KB").rows
    assert {"mixnet", "bvn"} <= {row.planner for row in served if row.total_s is not None}


@pytest.mark.parametrize("overlap", ["additive", "pipelined"])
def test_candidates_without_paths_are_named(overlap: str) -> None:
    with pytest.raises(ll.InputError) as caught:
        ll.plan(
            "all-to-all",
            "1MB",
            fabric=ll.Fabric(gpus=8),
            algorithm="direct",
            candidates="shifted-ring:2",
            planner="harvest",
            overlap=overlap,
        )
    assert caught.value.field == "candidates"


@pytest.mark.parametrize("entry", [1e300, 1e-300, 2.0**53])
def test_numbers_that_are_out_of_range_are_told_in_few_words(entry: float) -> None:
    with pytest.raises(ll.InputError, match=r"^matrix: ") as caught:
        ll.plan(fabric=ll.Fabric(gpus=3), matrix=np.full((3, 3), entry))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(("rows", "said"), [(1, "it has 1 row; it takes 2 to 512"), (513, "it has 513 rows")])
def test_as_many_rows_as_can_be_planned(rows: int, said: str) -> None:
    with pytest.raises(ll.InputError, match=said):
        ll.plan(matrix=np.ones((rows, rows)))


@pytest.mark.parametrize(
    ("planner", "said"),
    [("direct-connect-kautz", r"its flow problem has \d+ commodities"), ("mixnet", "at most 512 GPUs, not 1024")],
)
def test_a_planner_of_one_algorithm_says_why_it_cannot_serve_that(planner: str, said: str) -> None:
    with pytest.raises(ll.InputError, match=said):
        ll.plan("all-to-all", size="64MiB", fabric=ll.Fabric(gpus=1024, ports=4), planner=planner)


def test_masked_entries_are_no_traffic() -> None:
    numbers = np.full((3, 3), 7.0)
    mask = np.eye(3, dtype=bool)
    rows = [np.ma.array(row, mask=hidden) for row, hidden in zip(numbers, mask, strict=True)]
    for masked in (np.ma.array(numbers, mask=mask), rows, tuple(rows)):
        with pytest.raises(ll.InputError, match=r"^matrix: entries of it are masked; it takes an array without a mask"):
            read_matrix(masked)
    assert np.array_equal(read_matrix(np.ma.array(numbers, mask=np.zeros((3, 3), dtype=bool))), numbers)
    assert read_matrix(np.ma.array(numbers, mask=mask).filled(0)).sum() == 42
    with pytest.raises(ll.InputError, match="masked") as refused:
        ll.route_fibres("2x2", np.ma.array([[0, 1], [1, 2]], mask=[[False, False], [True, False]]))
    assert refused.value.field == "circuits"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ll.InputError, match=r"^matrix: row 0, column 1 is nan"):
            read_matrix([[0, np.ma.masked], [1, 0]])  # type: ignore[arg-type]
