"""Any text, any mutation of a good file: an answer or one `InputError`, never anything else."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lightloom as ll
from lightloom import _core
from lightloom.base.errors import InputError
from lightloom.inputs.matrix import read_matrix
from tests.draws import cases

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
FABRIC = ll.Fabric(gpus=8, initial="ring")
PLAN = ll.plan(
    "all-reduce", size="1MiB", fabric=FABRIC, algorithm="swing", planner="harvest", candidates="shifted-rings"
)
KNOWN = json.loads(PLAN.to_json())


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where every value of a JSON document is."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(path for key, child in children for path in paths(child, (*here, key)))]


PATHS = [path for path in paths(KNOWN) if path]


def one_line(error: InputError) -> None:
    assert error.field
    assert "\n" not in str(error)
    assert str(error).startswith(error.field)


# Keys that may differ without the plan being wrong: labels, a looser bound, ports to spare, a symmetry left out.
HARMLESS = {"algorithm", "planner", "bound_class", "lower_bound_s", "fabric", "name", "symmetry"}


@settings(max_examples=cases(400), deadline=None)
@given(path=st.sampled_from(PATHS), replacement=JSON)
def test_a_plan_with_one_value_replaced_is_refused_or_fails_or_is_as_good(
    path: tuple[Any, ...], replacement: Any
) -> None:
    document = json.loads(PLAN.to_json())
    place = document
    for key in path[:-1]:
        place = place[key]
    before, place[path[-1]] = place[path[-1]], replacement
    try:
        plan = ll.Plan.from_json(json.dumps(document))
    except InputError as error:
        one_line(error)
        return
    if all(check.passed for check in ll.verify(plan)):
        unused = path[0] == "topologies" and all(step.topology_index != path[1] for step in PLAN.steps)
        # A run of one chunk, `[5, 5, 1]`, is that chunk.
        alike = replacement == before or (isinstance(replacement, list) and replacement[:2] == [before, before])
        assert alike or unused or HARMLESS & set(path)


@pytest.mark.parametrize("key", sorted(KNOWN))
def test_every_key_of_a_plan_is_needed_and_named(key: str) -> None:
    document = {name: value for name, value in KNOWN.items() if name != key}
    with pytest.raises(InputError, match=key):
        ll.Plan.from_json(json.dumps(document))


def test_unknown_keys_are_named() -> None:
    for place in ("plan", "fabric", "step", "topology"):
        document = json.loads(PLAN.to_json())
        target = {
            "plan": document,
            "fabric": document["fabric"],
            "step": document["steps"][3],
            "topology": document["topologies"][0],
        }[place]
        target["surprise"] = 1
        with pytest.raises(InputError, match="surprise") as raised:
            ll.Plan.from_json(json.dumps(document))
        one_line(raised.value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("total_s",), 1.0),
        (("reconfigurations",), 99),
        (("gpus",), 16),
        (("schema",), "lightloom.plan/2"),
        (("steps", 0, "index"), 1),
        (("steps", 0, "topology"), 99),
        (("topologies", 0, "links", 0), [0, 99, 1]),
        (("topologies", 0, "links", 0), [0, 1, 0]),
        (("fabric", "bandwidth_bps"), 0.0),
        (("fabric", "ports"), 0),
    ],
)
def test_inconsistent_plans_are_refused(path: tuple[Any, ...], value: object) -> None:
    document = json.loads(PLAN.to_json())
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InputError) as raised:
        ll.Plan.from_json(json.dumps(document))
    one_line(raised.value)


@settings(max_examples=cases(100), deadline=None)
@given(cut=st.integers(0, len(PLAN.to_json()) - 2))
def test_a_truncated_plan(cut: int) -> None:
    with pytest.raises(InputError) as raised:
        ll.Plan.from_json(PLAN.to_json()[:cut])
    one_line(raised.value)


@given(st.text(max_size=40))
def test_any_text_as_any_quantity(text: str) -> None:
    for make in (
        lambda: ll.Fabric(bandwidth=text),
        lambda: ll.Fabric(startup=text),
        lambda: ll.Fabric(reconfiguration_delay=text),
        lambda: ll.Fabric(dims=text),
        lambda: ll.plan("all-gather", size=text, fabric=ll.Fabric(gpus=4), algorithm="ring", candidates="ring"),
        lambda: ll.plan("all-gather", size="1KiB", fabric=ll.Fabric(gpus=4), algorithm="ring", candidates=text),
        lambda: ll.Fabric.preset(text),
    ):
        try:
            make()
        except InputError as error:
            one_line(error)


@given(st.floats() | st.integers())
def test_any_number_as_a_size(size: float) -> None:
    try:
        plan = ll.plan("all-gather", size=size, fabric=ll.Fabric(gpus=4), algorithm="ring", candidates="ring")
    except InputError as error:
        assert error.field == "size"
        one_line(error)
    else:
        assert plan.size_bytes == size


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary(max_size=200) | st.text("0123456789.,;-einf \n#", max_size=80).map(str.encode))
@pytest.mark.parametrize("name", ["any.csv", "any.npy"])
def test_any_bytes_as_a_matrix(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes((b"\x93NUMPY" if name.endswith("npy") else b"") + content)
    try:
        matrix = read_matrix(tmp_path / name)
    except InputError as error:
        assert error.field == "matrix"
        one_line(error)
    else:
        assert matrix.shape[0] == matrix.shape[1] >= 2


@given(st.lists(st.sampled_from(["ring", "circulant:1,5", "shifted-ring:3,one-way", "torus:4x4", "b.csv"]), min_size=1))
def test_lists_split_where_their_items_end(items: list[str]) -> None:
    assert _core.split_names(",".join(items)) == items
    assert _core.split_names(";".join([*items, "ring"])) == [*items, "ring"]
