"""The table of options, and everything that derives from it or has to agree with it."""

import dataclasses
import inspect
import re
from collections import Counter
from collections.abc import Callable
from importlib import import_module

import click
import pytest
from docs.generators.options_page import PAGE, page, types
from docs.generators.options_page import TYPES as SETTINGS_FILE

import lightloom as ll
from lightloom import _core
from lightloom.base.errors import InputError
from lightloom.calibration.measurements import ScheduleOf
from lightloom.cli.options import VerbCommand
from lightloom.cli.registry import VERBS
from lightloom.inputs.options import (
    ARGUMENTS,
    CALIBRATION,
    FABRIC,
    OF_PLAN,
    OPTIONS,
    SCHEDULE_OF,
    SETTINGS,
    SIMULATION,
    SWEEP,
    TRAINING,
    Group,
    Kind,
    Option,
    Settings,
    by_name,
    options_of,
)
from lightloom.inputs.options.option import PLANNING
from lightloom.sweeps.keys import known_keys
from lightloom.views.listings import everything
from tests.conftest import RunCli

# How the types of keyword arguments are written that take values of a kind.
TYPES = {
    Kind.NAME: {"str"},
    Kind.CHOICE: {"str"},
    Kind.TEXT: {"str"},
    Kind.WHOLE: {"int"},
    Kind.NUMBER: {"float"},
    Kind.SIZE: {"str", "float"},
    Kind.TIME: {"str", "float"},
    Kind.RATE: {"str", "float"},
    Kind.DELAY: {"str", "float"},
    Kind.BARRIER: {"str", "float", "os.PathLike[str]"},
    Kind.POSITIONS: {"str", "os.PathLike[str]"},
    Kind.PAIR_RATES: {"str", "os.PathLike[str]"},
    Kind.WINDOW: {"str", "float"},
    Kind.DIMS: {"str"},
    Kind.FLAG: {"bool"},
    Kind.YES_OR_NO: {"bool"},
    Kind.FILE: {"str", "os.PathLike[str]"},
    Kind.FOLDER: {"str", "os.PathLike[str]"},
    Kind.MATRIX: {"str", "os.PathLike[str]"},
    Kind.OPTICS: {"str", "os.PathLike[str]"},
    Kind.FABRIC: {"str", "os.PathLike[str]"},
    Kind.TOPOLOGY: {"TopologyLike"},
    Kind.TOPOLOGIES: {"Topologies"},
}
CHOICES = [row for row in SIMULATION if row.choices]


def keywords(call: Callable[..., object]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(call).parameters
    return {name: one for name, one in parameters.items() if one.kind is not inspect.Parameter.VAR_KEYWORD}


def types_of(annotation: object) -> set[str]:
    return {part.strip() for part in str(annotation).split("|")} - {"None"}


def assert_agree(rows: tuple[Option, ...], parameters: dict[str, inspect.Parameter]) -> None:
    assert [row.name for row in rows] == list(parameters)
    for row in rows:
        parameter = parameters[row.name]
        assert types_of(parameter.annotation) >= TYPES[row.kind], row.name
        if parameter.default is not inspect.Parameter.empty and not row.otherwise and row.name != "fabric":
            assert parameter.default == row.default, row.name


def test_typed_settings_are_those_of_the_table() -> None:
    assert list(Settings.__annotations__) == [row.name for row in SETTINGS]
    assert SETTINGS_FILE.read_text() == types(), "python -m docs.generators.options_page writes it"


@pytest.mark.parametrize("call", [ll.plan, ll.compare, ll.bound, ll.Problem])
def test_what_plans_takes_the_arguments_and_the_settings(call: Callable[..., object]) -> None:
    own = OF_PLAN if call is ll.plan else ()
    parameters = keywords(call)
    # Functions that are told something have no text.
    parameters.pop("report", None)
    parameters.pop("progress", None)
    assert_agree((*ARGUMENTS, *own), parameters)
    (settings,) = [one for name, one in inspect.signature(call).parameters.items() if name not in keywords(call)]
    assert settings.annotation == "Unpack[Settings]"


def test_arguments_of_a_fabric_a_simulation_a_sweep_and_a_calibration_agree_with_the_table() -> None:
    fabric = keywords(ll.Fabric)
    assert [field.name for field in dataclasses.fields(ll.Fabric)] == list(fabric)
    assert sorted(fabric) == sorted(row.name for row in FABRIC)
    assert_agree(FABRIC, {row.name: fabric[row.name] for row in FABRIC})
    assert_agree(SIMULATION, {name: one for name, one in keywords(ll.simulate).items() if name != "plan"})
    sweep = {name: one for name, one in keywords(ll.sweep).items() if name not in {"description", "advance"}}
    assert_agree(SWEEP, sweep)
    read = keywords(ll.Workload.read)
    assert [row.name for row in TRAINING if row.name in read] == [name for name in read if name != "path"]
    assert {row.name for row in TRAINING} - set(read) == {"policy"}
    assert keywords(ll.train)["policy"].default == by_name(TRAINING)["policy"].default
    calibrate = keywords(ll.calibrate)
    assert {row.name for row in (*CALIBRATION, *SCHEDULE_OF)} == {*calibrate, *ScheduleOf.__annotations__} - {
        "measurements"
    }
    assert all(calibrate[row.name].default == row.default for row in CALIBRATION)


def test_sweeps_take_what_plans_and_simulations_take() -> None:
    planned = {row.name for row in (*ARGUMENTS, *FABRIC, *SETTINGS)}
    assert set(known_keys("model")) == planned
    assert set(known_keys("packet")) == planned | {row.name for row in SIMULATION} - {"level"}
    trained = {row.name for row in options_of("train") if row.group not in {Group.OUTPUT, Group.LAYOUT}}
    assert set(known_keys("train")) == trained | {"workload"}


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_every_option_of_a_verb_is_a_row_and_every_row_an_option(verb: str) -> None:
    command = import_module(f"lightloom.cli.{verb}").command
    if not isinstance(command, VerbCommand):
        # A verb with only an argument.
        assert [parameter for parameter in command.params if isinstance(parameter, click.Option)] == []
        assert not options_of(verb)
        return
    made = [parameter for parameter in command.params if isinstance(parameter, click.Option) and not parameter.hidden]
    assert [option.opts[0] for option in made] == [row.flag for row in options_of(verb)]
    assert max(Counter(option.name for option in made).values(), default=1) == 1


def test_every_row_is_of_a_verb_and_says_what_it_means() -> None:
    verbs = {verb.name for verb in VERBS}
    kinds = everything()
    for row in OPTIONS:
        assert row.verbs, row
        assert set(row.verbs) <= verbs, row
        assert row.meaning.endswith("."), row
        assert row.names in {"", *kinds}, row
        assert (row.kind is Kind.CHOICE) == bool(row.choices), row
        assert not row.choices or row.default in {None, *row.choices}, row


def test_help_is_in_groups_that_begin_with_what_a_newcomer_needs(cli: RunCli) -> None:
    text = cli("plan", "--help").out
    sections = re.findall(r"^(\w+):$", text.partition("Examples:")[2], re.MULTILINE)
    assert sections == ["Problem", "Fabric", "Planner", "Expert", "Output", "Other"]
    problem = text.partition("Problem:")[2].partition("Fabric:")[0]
    assert re.findall(r"^  (--[a-z-]+)", problem, re.MULTILINE)[:3] == ["--collective", "--size", "--gpus"]
    for row in options_of("plan"):
        assert re.search(rf"^  (-\w, )?{row.flag} ", text, re.MULTILINE), row.flag


def test_all_that_is_missing_is_said_at_once_with_an_example_that_works(cli: RunCli) -> None:
    for arguments, missing in [
        ([], "collective, size, gpus"),
        (["--collective", "broadcast"], "size, gpus"),
        (["--size", "1MiB"], "collective, gpus"),
        (["--size", "1MiB", "--dims", "2x4"], "collective"),
        (["--matrix", "zipf:0.4"], "size, gpus"),
        (["--collective", "all-gather", "--gpus", "8"], "size"),
    ]:
        for verb in PLANNING:
            ran = cli(verb, *arguments)
            assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
            assert ran.err.startswith(f"error: {missing}: missing; give "), ran.err
            assert all(f"--{name} " in ran.err for name in missing.split(", "))
        example = ran.err.partition("such as: lightloom ")[2].split()
        assert cli(*example).status == 0, example


def test_all_that_is_missing_is_said_at_once_in_python() -> None:
    with pytest.raises(InputError, match=r"^collective, size, gpus: missing; such as ") as raised:
        ll.plan()
    assert raised.value.field == "collective"
    with pytest.raises(TypeError, match="did you mean `planner`"):
        ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=4), plannr="static")  # type: ignore[call-arg]


@pytest.mark.parametrize("option", CHOICES, ids=lambda option: option.name)
def test_choices_are_what_the_simulation_takes(option: Option) -> None:
    plan = ll.plan("all-gather", "1KiB", fabric=ll.Fabric(gpus=4), algorithm="ring", planner="harvest")
    for choice in option.choices:
        assert ll.simulate(plan, **{option.name: choice}).total_s > 0
    with pytest.raises(InputError) as raised:
        ll.simulate(plan, **{option.name: "neither"})
    assert all(choice in str(raised.value) for choice in option.choices)


@pytest.mark.parametrize("verb", ["plan", "list", "calibrate"])
def test_a_whole_number_is_read_and_shown_short(cli: RunCli, verb: str) -> None:
    arguments = ["examples.csv"] if verb == "calibrate" else []
    for text in ("9" * 5000, "9" * 30, "eight", "8.5", "٨", "1_000", ""):
        ran = cli(verb, *arguments, "--gpus", text)
        assert ran.status == 2
        assert ran.err.startswith("error: gpus: ")
        assert len(ran.err) < 150


def test_the_page_is_what_the_table_says() -> None:
    assert PAGE.read_text() == page(), "run: python -m docs.generators.options_page"


def test_the_core_refuses_an_option_that_it_does_not_know() -> None:
    with pytest.raises(InputError, match="unknown name `plannr`, did you mean `planner`"):
        _core.Request(ll.Fabric(gpus=4).to_core(), "all-gather", 1024, plannr="static")


def test_the_example_of_what_is_missing_keeps_what_is_given(cli: RunCli) -> None:
    ran = cli("plan", "--matrix", "zipf:0.4", "--ports", "2")
    assert ran.err.endswith(" such as: lightloom plan --size 64MiB --gpus 64 --ports 2 --matrix zipf:0.4\n")
    ran = cli("simulate")
    assert (ran.status, ran.err) == (2, "error: plan: missing; give PLAN, such as: lightloom simulate plan.json\n")
    ran = cli("plan", "64")
    assert (ran.status, ran.err) == (
        2,
        "error: arguments: unexpected argument `64`; the usage is `lightloom plan [OPTIONS]`\n",
    )
