"""Schemas describe exactly the output of verbs and the input of readers."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from docs.generators.json_page import FOLDER, PAGE, page, schemas
from jsonschema import Draft202012Validator

import lightloom as ll
from lightloom.schemas import documents, schema
from lightloom.sweeps.benchmark_runs import Summary
from tests.schemas.answers import answers

# A benchmark takes minutes; its summary is compared with the type that it is made of.
LONG = "benchmark"
NAMES = [one.name for one in documents() if one.name != LONG]
READERS: dict[str, Callable[[str], object]] = {
    "plan": ll.Plan.from_json,
    "circuits": ll.Circuits.from_json,
    "workload": ll.Workload.from_json,
    "training": ll.Training.from_json,
}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Real answers of every kind."""
    return answers(tmp_path_factory.mktemp("answers"))


@pytest.mark.large
def test_every_kind_is_answered(found: dict[str, list[Any]]) -> None:
    assert sorted(found) == sorted(NAMES)


@pytest.mark.parametrize("name", [one.name for one in documents()])
def test_schemas_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


@pytest.mark.large
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_as_their_schema_says(found: dict[str, list[Any]], name: str) -> None:
    validator = Draft202012Validator(schema(name))
    for document in found[name]:
        assert [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_key_and_alternative_is_met(found: dict[str, list[Any]], name: str) -> None:
    """A schema that names what no answer has is out of date."""
    whole = schema(name)
    assert list(_unmet(whole, found[name], whole.get("$defs", {}), name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_key_more_or_less_is_refused(found: dict[str, list[Any]], name: str) -> None:
    whole = schema(name)
    validator = Draft202012Validator(whole)
    if "properties" not in whole:
        pytest.skip("all its keys are names")
    document = found[name][0]
    assert not validator.is_valid({**document, "zzz": 0})
    for key in whole["required"]:
        assert not validator.is_valid({other: value for other, value in document.items() if other != key}), key


@pytest.mark.large
@pytest.mark.parametrize("name", READERS)
def test_what_a_schema_refuses_is_not_read(found: dict[str, list[Any]], name: str) -> None:
    """Every object of a document without one of its keys, or with one more: readers are at least as strict.

    Baselines and samples that the verb `plan` prints with a plan are no part of it, and passed over.
    """
    validator = Draft202012Validator(schema(name))
    refused = 0
    for document in found[name]:
        if len(json.dumps(document)) > 100_000:
            continue
        READERS[name](json.dumps(document))
        for changed in _changed(document):
            is_of_plan = all(changed.get(key) == document.get(key) for key in ("baselines", "sampled", "repair"))
            if not validator.is_valid(changed) and is_of_plan:
                refused += 1
                with pytest.raises(ll.InputError):
                    READERS[name](json.dumps(changed))
    assert refused > 20


def test_the_summary_of_a_benchmark_is_as_its_type() -> None:
    assert list(schema(LONG)["properties"]) == ["benchmark", *Summary._fields, "csv"]


def test_the_page_and_the_files_are_up_to_date() -> None:
    told = "run: python -m docs.generators.json_page"
    assert page() == PAGE.read_text(), told
    assert schemas() == {file.name: file.read_text() for file in FOLDER.iterdir()}, told


def test_schemas_of_unknown_names_are_refused() -> None:
    with pytest.raises(ll.InputError, match="plan"):
        schema("plam")


def _unmet(form: dict[str, Any], values: list[Any], others: dict[str, Any], place: str) -> Iterator[str]:
    """Keys and alternatives of a form that no value has."""
    if "$ref" in form:
        # Documents within documents are met by themselves.
        return
    for number, one in enumerate(form.get("anyOf", ())):
        validator = Draft202012Validator({**one, "$defs": others})
        own = [value for value in values if validator.is_valid(value)]
        if own or not values:
            yield from _unmet(one, own, others, place)
        else:
            yield f"{place}: alternative {number}"
    for key, below in form.get("properties", {}).items():
        had = [value[key] for value in values if isinstance(value, dict) and key in value]
        if not had and values:
            yield f"{place}.{key}"
        yield from _unmet(below, had, others, f"{place}.{key}")
    if isinstance(form.get("additionalProperties"), dict):
        had = [item for value in values if isinstance(value, dict) for item in value.values()]
        yield from _unmet(form["additionalProperties"], had, others, f"{place}.*")
    lists = [value for value in values if isinstance(value, list)]
    if "items" in form:
        yield from _unmet(form["items"], [item for value in lists for item in value], others, f"{place}[]")
    for index, below in enumerate(form.get("prefixItems", ())):
        yield from _unmet(below, [value[index] for value in lists], others, f"{place}[{index}]")


def _changed(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The document with a key less or more in one of its objects; of a list, in its first object."""
    for path in _objects(document):
        for key in [*_at(document, path), None]:
            changed = copy.deepcopy(document)
            if key is None:
                _at(changed, path)["zzz"] = 0
            else:
                del _at(changed, path)[key]
            yield changed


def _objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict):
        yield path
        for key, below in value.items():
            yield from _objects(below, (*path, key))
    elif isinstance(value, list) and value:
        yield from _objects(value[0], (*path, 0))


def _at(document: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        document = document[step]
    return document
