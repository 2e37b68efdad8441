"""Jobs from TOML: what is wrong is refused in one line, and nothing else happens."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom.jobs.description import MOST_ITERATIONS, MOST_JOBS, read_requests
from tests.conftest import RunCli
from tests.jobs.workloads import computing, workload
from tests.refusals import assert_refused

ONE = {"collective": "all-gather", "size": "1MiB", "ranks": 4, "iterations": 10}
TEXT = '[[job]]\ncollective = "all-gather"\nsize = "1MiB"\nranks = 4\niterations = 10\n'


def test_a_job_is_read_with_what_it_leaves_open() -> None:
    (job,) = read_requests({"job": [ONE]}, 8)
    (grant,) = job.grants
    assert (job.name, job.arrival_s, grant.ranks, grant.iterations) == ("job 0", 0.0, 4, 10)
    assert grant.workload.nodes[0]["size_bytes"] == 1 << 20


def test_iterations_are_for_the_first_number_of_ranks() -> None:
    (job,) = read_requests({"job": [{"model": "bert-pccl", "ranks": [6, 4, 6], "iterations": 3}]}, 8)
    # 18 replicas' worth of samples take five iterations of four replicas.
    assert [(grant.ranks, grant.iterations, grant.workload.ranks) for grant in job.grants] == [(6, 3, 6), (4, 5, 4)]


def test_files_are_looked_for_in_the_folder_of_the_description(tmp_path: Path) -> None:
    workload(computing(1e-3)).save(tmp_path / "mine.json")
    (tmp_path / "jobs.toml").write_text('[[job]]\nworkload = "mine.json"\niterations = 2\n')
    (job,) = read_requests(tmp_path / "jobs.toml", 8)
    assert job.grants[0].ranks == 4


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"ranks": None}, "job[0].ranks"),
        ({"ranks": 1}, "job[0].ranks"),
        ({"ranks": 9}, "job[0].ranks"),
        ({"ranks": [4, 2]}, "job[0].ranks"),
        ({"ranks": []}, "job[0].ranks"),
        ({"ranks": "4"}, "job[0].ranks"),
        ({"ranks": list(range(2, 20))}, "job[0].ranks"),
        ({"iterations": None}, "job[0].iterations"),
        ({"iterations": 0}, "job[0].iterations"),
        ({"iterations": 1.5}, "job[0].iterations"),
        ({"iterations": MOST_ITERATIONS + 1}, "job[0].iterations"),
        ({"arrival": "-1s"}, "job[0].arrival"),
        ({"arrival": "soon"}, "job[0].arrival"),
        ({"arrival": True}, "job[0].arrival"),
        ({"size": None}, "job[0].size"),
        ({"size": "0"}, "job[0].size"),
        ({"collective": "gossip"}, "job[0].collective"),
        ({"collective": ["all-gather"]}, "job[0].collective"),
        ({"collective": None}, "job[0]"),
        ({"model": "bert-pccl"}, "job[0]"),
        ({"name": ""}, "job[0].name"),
        ({"name": "a\nb"}, "job[0].name"),
        ({"name": "a" * 61}, "job[0].name"),
        ({"name": 3}, "job[0].name"),
        ({"priority": 3}, "job[0]"),
    ],
)
def test_a_wrong_key_is_named(changes: dict[str, object], field: str) -> None:
    told = {key: value for key, value in {**ONE, **changes}.items() if value is not None}
    with pytest.raises(ll.InputError) as caught:
        ll.place_jobs({"job": [told]}, fabric=ll.Fabric(gpus=8))
    assert caught.value.field == field
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ({}, "job"),
        ({"job": []}, "job"),
        ({"job": ONE}, "job"),
        ({"job": [ONE] * (MOST_JOBS + 1)}, "job"),
        ({"job": [3]}, "job[0]"),
        ({"jobs": [ONE]}, "jobs"),
        ({"job": [{**ONE, "name": "a"}, {**ONE, "name": "a"}]}, "job[1].name"),
        ({"job": [{"model": "no-such-model", "ranks": 4, "iterations": 1}]}, "job[0].model"),
        ({"job": [{"model": "bert-pccl", "ranks": 4, "iterations": 1, "size": 4}]}, "job[0]"),
        ({"job": [{"workload": "no/such.json", "iterations": 1}]}, "job[0].workload"),
        (3, "jobs"),
        ("no-such.toml", "jobs"),
    ],
)
def test_wrong_jobs_are_named(told: object, field: str) -> None:
    with pytest.raises(ll.InputError) as caught:
        ll.place_jobs(told, fabric=ll.Fabric(gpus=8))  # type: ignore[arg-type]
    assert caught.value.field == field


def test_a_workload_that_takes_no_time_is_refused(tmp_path: Path) -> None:
    workload(computing(0.0)).save(tmp_path / "nothing.json")
    (tmp_path / "jobs.toml").write_text('[[job]]\nname = "idle"\nworkload = "nothing.json"\niterations = 2\n')
    with pytest.raises(ll.InputError, match="`idle` takes no time"):
        ll.place_jobs(tmp_path / "jobs.toml", fabric=ll.Fabric(gpus=8))


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((), "gpus"),
        (("--gpus", "5000"), "gpus"),
        (("--gpus", "8", "--dims", "3x3"), "dims"),
        (("--gpus", "8", "--order", "random"), "order"),
        (("--gpus", "8", "--sharing", "wired,none"), "sharing"),
        (("--gpus", "8", "--sharing", ""), "sharing"),
        (("--gpus", "8", "--turn", "never"), "turn"),
        (("--gpus", "8", "--plot", "jobs.txt"), "plot"),
        (("--gpus", "8", "--output", "no/such/folder.json"), "output"),
        (("--gpus", "2"), "job[0].ranks"),
    ],
)
def test_wrong_options_are_refused_in_one_line(
    in_tmp: Path, cli: RunCli, arguments: tuple[str, ...], field: str
) -> None:
    (in_tmp / "jobs.toml").write_text(TEXT)
    assert_refused(cli, in_tmp, "jobs", "jobs.toml", *arguments, field=field)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
LIKELY = st.sampled_from([4, 10, "1MiB", "all-gather", "bert-pccl"])
KEYS = st.sampled_from(["name", "arrival", "ranks", "iterations", "collective", "size", "model", "workload", "other"])


@pytest.mark.large
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.dictionaries(KEYS, VALUES | st.sampled_from([4, 10, "1MiB", "all-gather", "bert-pccl"]), max_size=6))
)
def test_anything_is_read_or_refused(jobs: list[dict[str, object]]) -> None:
    try:
        read = read_requests({"job": jobs}, 8)
    except ll.InputError as error:
        assert str(error).startswith(error.field)
        assert "\n" not in str(error)
    else:
        assert all(2 <= grant.ranks <= 8 for one in read for grant in one.grants)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("texts") / "jobs.toml"
    path.write_text(text, encoding="utf-8", errors="replace")
    with pytest.raises(ll.InputError):
        read_requests(path, 8)


def test_a_torus_has_no_more_dimensions_than_its_ports_wire() -> None:
    job = {"collective": "all-gather", "size": "1MiB", "ranks": 4, "iterations": 1}
    fabric = ll.Fabric(gpus=8, ports=4, dims=(2, 2, 2))
    with pytest.raises(ll.InputError, match="`2x2x2` is not accepted on 4 ports; it takes at most 2 dimensions"):
        ll.place_jobs({"job": [job]}, fabric=fabric)


def test_reports_say_which_iteration_of_how_many_is_planned() -> None:
    said: list[str] = []
    job = {"collective": "all-reduce", "size": "1MiB", "ranks": 2, "iterations": 2}
    jobs = {"job": [job | {"name": "a"}, job | {"name": "b"}, job | {"name": "c", "size": "2MiB"}]}
    ll.place_jobs(jobs, fabric=ll.Fabric(gpus=4, ports=2), sharing="changing", report=said.append)
    assert any(one.startswith("all-reduce of 1 MiB on 2 GPUs (1 of 2 iterations): plans for ") for one in said)
    assert any(one.startswith("all-reduce of 2 MiB on 2 GPUs (2 of 2 iterations): plans for ") for one in said)
