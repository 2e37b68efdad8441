"""/openapi.json describes requests and answers."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from lightloom.page import work
from lightloom.page.interface import openapi
from lightloom.page.interface.answers import ANSWERS
from lightloom.page.interface.arguments import ASKED
from lightloom.page.offer import offered
from lightloom.page.tasks import SHOWN, TASKS
from lightloom.schemas import documents
from tests.page.streams import events

if TYPE_CHECKING:
    from tests.page.served import Served

DESCRIBED = openapi()
SMALL: dict[str, Any] = {"collective": "all-reduce", "size": "1MiB", "gpus": 4, "ports": 2}
MAP: dict[str, Any] = {
    "options": {"collective": "all-reduce", "gpus": 6},
    "x": {"option": "size", "from": "1KiB", "to": 1e9, "points": 3},
    "y": {"option": "algorithm", "values": ["ring", "recursive-doubling", "halving-doubling"]},
    "against": {"planner": "bvn"},
}
JOB = 'gpus = 4\n[[mix]]\ncollective = "all-reduce"\nsize = "1MiB"\n'
JOBS = '[[job]]\ncollective = "all-to-all"\nsize = "1MiB"\nranks = 3\niterations = 9\n' * 2
OWN = '[mine]\nreconfiguration_delay = "2ms"\n'
# Every task with something that it takes; the answers have most of the keys that there are.
EXAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("options", {}),
    ("plan", {**SMALL, "baselines": True, "reconfiguration_delay": ["1us", 2e-3], "seed": None}),
    ("plan", {"matrix": [[0, 1.5e6], [1, 0]], "window": "1=20us", "dims": None}),
    ("plan", {**SMALL, "collective": "broadcast", "root": "3", "optics": "islands:2x2"}),
    ("compare", SMALL),
    ("bound", {**SMALL, "algorithm": "ring"}),
    ("verify", SMALL),
    ("simulate", {**SMALL, "explain": True, "links": True, "header_size": 64, "level": "packet"}),
    ("circuits", SMALL),
    ("circuits", {"model": "bert-pccl", "ranks": "4", "policy": "one-shot"}),
    ("loads", {**SMALL, "step": 0}),
    ("ports", SMALL),
    ("ports", {**SMALL, "ports": 2, "failed": "port:1.0,receiver:2.1"}),
    ("journey", {**SMALL, "chunk": 0}),
    ("explain", SMALL),
    ("explain", {"model": "bert-pccl", "ranks": "4", "ports": 2}),
    ("train", {"model": "bert-pccl", "ranks": 8, "break_even": True, "delays": "1us,1ms", "timeline": True}),
    ("advise", {"job": JOB, "switches": "sirius,robotic", "own_switches": OWN, "ports": "1,2"}),
    ("robust", {"matrices": "zipf:0.6", "size": "1MiB/pair", "gpus": 4, "iterations": 3, "hold_out": 1}),
    ("robust", {"matrices": [[[0, 1e6], [2e6, 0]], [[0, 3e6], [1, 0]]], "objective": "worst"}),
    ("jobs", {"jobs": JOBS, "gpus": 4, "ports": 4, "order": "search"}),
    ("map", MAP),
    ("map", {**MAP, "against": None}),
    ("as-code", {"verb": "plan", "options": SMALL}),
    ("figures", {}),
    ("reproduce", {"figure": "bridge-table-1"}),
]


def form(name: str) -> dict[str, Any]:
    """A component, whole in itself."""
    components = DESCRIBED["components"]["schemas"]
    assert name in components
    return {"$ref": f"#/components/schemas/{name}", "components": {"schemas": components}}


def problems(name: str, told: Any) -> list[str]:
    """Where this is not as the component says."""
    errors = Draft202012Validator(form(name)).iter_errors(told)
    return [f"{error.json_path}: {error.message[:300]}" for error in errors]


@pytest.mark.large
def test_it_is_openapi(server: Served) -> None:
    answer = server.client.get("/openapi.json")
    assert answer.json() == json.loads(json.dumps(DESCRIBED))
    validate(DESCRIBED)
    for one in DESCRIBED["components"]["schemas"].values():
        Draft202012Validator.check_schema(one)


def test_every_task_is_there_and_described() -> None:
    names = [task.name for task in TASKS]
    assert [path.removeprefix("/api/") for path in DESCRIBED["paths"]] == names
    assert list(ANSWERS) == names
    assert list(ASKED) == [task.name for task in TASKS if task.is_asked]
    assert {name for name, _ in EXAMPLES} == set(names) - {"export", "picture", "table"}
    folder = Path(work.__file__).parent
    carried_out = {path.stem for path in folder.glob("*.py") if "\ndef work(" in path.read_text()}
    assert {import_module(task.module).__name__.rpartition(".")[2] for task in TASKS} == carried_out


def test_results_are_shown_in_the_ways_that_are_listed() -> None:
    listed = {name: ways for task in TASKS for name, ways in task.subjects.items()}
    made = {name: one for task in TASKS for name, one in getattr(import_module(task.module), "SUBJECTS", {}).items()}
    assert {name: tuple(way for way in SHOWN if getattr(one, way)) for name, one in made.items()} == listed


def test_answers_of_verbs_are_the_documents_of_verbs() -> None:
    known = {document.name for document in documents()}
    assert {answer.name for answer in ANSWERS.values() if answer.form is None and answer.name} <= known


def test_every_option_is_described_with_its_range() -> None:
    for name, option in offered("plan").items():
        described = ASKED["plan"]["properties"][name]
        assert option.meaning in json.dumps(described, ensure_ascii=False), name
    assert '"maximum": 65536' in json.dumps(ASKED["train"]["properties"]["ranks"])


@pytest.mark.large
@pytest.mark.parametrize(("task", "asked"), EXAMPLES)
def test_answers_are_as_described(server: Served, task: str, asked: dict[str, Any]) -> None:
    if task in ASKED:
        assert problems(f"{task}-asked", asked) == []
    answer = server.post(task, **asked) if task in ASKED else server.client.get(f"/api/{task}")
    assert answer.status_code == 200, answer.text
    name = DESCRIBED["paths"][f"/api/{task}"]["post" if task in ASKED else "get"]["responses"]["200"]
    reference = name["content"]["application/json"]["schema"]["$ref"]
    assert problems(reference.rpartition("/")[2], answer.json()) == []


@pytest.mark.parametrize(
    ("task", "asked"),
    [("plan", {"gpus": "many"}), ("plan", {}), ("map", {}), ("train", {"model": 5}), ("loads", {"step": 0, "a": 1})],
)
def test_errors_are_as_described(server: Served, task: str, asked: dict[str, Any]) -> None:
    answer = server.post(task, **asked)
    assert answer.status_code == 422
    assert problems("error", answer.json()) == []
    if next(one.streams for one in TASKS if one.name == task):
        # In a stream it says the status, too.
        assert events(server, task, asked) == [("error", {**answer.json(), "status": 422})]
        assert problems("error", {**answer.json(), "status": 422}) == []


@pytest.mark.parametrize("wrong", [{"gpus": 1}, {"gpus": 2.5}, {"schedule": "a.xml"}, {"baselines": 1}, {"dims": {}}])
def test_what_is_refused_is_not_described_as_taken(server: Served, wrong: dict[str, Any]) -> None:
    asked = {**SMALL, **wrong}
    assert problems("plan-asked", asked) != []
    assert server.post("plan", **asked).status_code == 422
