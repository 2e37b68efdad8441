"""Additions of other distributions: found by entry point, and no harm where it is missing or broken."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lightloom.base import plugins
from lightloom.cli.registry import VERBS
from lightloom.sweeps.benchmarks import find_benchmark
from tests.conftest import RunCli

GROUPS = (plugins.VERBS, plugins.BENCHMARKS, plugins.NAMES)
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """`install("lightloom.verbs", "hello = a_module:command", code)` puts a distribution with a module on the path."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def made(group: str, line: str, code: str | None = None) -> None:
        folder = tmp_path / "thirds-1.2.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: thirds\nVersion: 1.2\n")
        (folder / "entry_points.txt").write_text(f"[{group}]\n{line}\n")
        if code is not None:
            module = line.partition("=")[2].partition(":")[0].strip()
            (tmp_path / f"{module}.py").write_text(code)
            # The module of an earlier test, whose folder is gone.
            sys.modules.pop(module, None)

    return made


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is installed."""
    monkeypatch.setattr(plugins, "brought", lambda _group: {})


def test_a_verb_of_another_distribution_is_listed_and_runs(cli: RunCli, install: Install) -> None:
    code = "import click\n@click.command('hello', short_help='Say hello.')\ndef command(): click.echo('hello there')\n"
    install(plugins.VERBS, "hello = thirds_hello:command", code)
    assert "Say hello." in cli("--help").out
    assert cli("hello") == (0, "hello there\n", "")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (None, "ModuleNotFoundError: No module named 'thirds_broken'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise ImportError('two\\nlines')", "ImportError: two\\nlines"),
        ("command = 7", "`thirds_broken:command` is not a click command"),
    ],
)
def test_a_verb_that_does_not_load_breaks_nothing_else(
    cli: RunCli, install: Install, code: str | None, reason: str
) -> None:
    install(plugins.VERBS, "hello = thirds_broken:command", code)
    shown = cli("--help")
    assert shown.status == 0
    assert all(verb.summary.split()[0] in shown.out for verb in VERBS)
    assert "hello of thirds 1.2 does not load" in " ".join(shown.out.split())
    assert cli("list", "overlaps").status == 0
    ran = cli("hello")
    assert (ran.status, ran.out, ran.err) == (1, "", f"error: hello of thirds 1.2 does not load: {reason}\n")


VERB = "import click\n@click.command('hello')\ndef command():\n    "


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError('two\\nlines')", "ValueError: two\\nlines"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("assert False", "AssertionError"),
        ("raise StopIteration", "StopIteration"),
        ("raise BaseException('all')", "BaseException: all"),
        ("raise ConnectionRefusedError(111, 'refused')", "ConnectionRefusedError: [Errno 111] refused"),
        ("raise PermissionError(13, 'denied', 'x')", "PermissionError: [Errno 13] denied: 'x'"),
    ],
)
def test_what_a_verb_raises_is_one_line_that_says_whose_it_is(
    cli: RunCli, install: Install, body: str, reason: str
) -> None:
    install(plugins.VERBS, "hello = thirds_raises:command", VERB + body)
    assert cli("hello") == (1, "", f"error: hello of thirds 1.2 failed: {reason}\n")


@pytest.mark.parametrize(
    ("body", "ended"),
    [
        ("return 7", (1, "", "")),
        ("return 2", (2, "", "")),
        ("return True", (0, "", "")),
        ("raise SystemExit(7)", (1, "", "")),
        ("raise SystemExit", (0, "", "")),
        ("raise SystemExit('why')", (1, "", "error: why\n")),
        ("raise click.exceptions.Exit(9)", (1, "", "")),
    ],
)
def test_a_verb_ends_with_one_of_three_statuses(
    cli: RunCli, install: Install, body: str, ended: tuple[int, str, str]
) -> None:
    install(plugins.VERBS, "hello = thirds_ends:command", VERB + body)
    assert cli("hello") == ended


def test_verbs_of_a_verb_are_shown_where_none_is_named(cli: RunCli, install: Install) -> None:
    install(plugins.VERBS, "hello = thirds_group:command", "import click\n@click.group('hello')\ndef command(): ...\n")
    ran = cli("hello")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("Usage: lightloom hello ")


@pytest.mark.parametrize("code", ["import sys\nsys.exit(3)", "raise BaseException", "class command: 1 / 0"])
def test_an_import_that_ends_the_program_does_not(cli: RunCli, install: Install, code: str) -> None:
    install(plugins.VERBS, "hello = thirds_exits:command", code)
    assert "hello of thirds 1.2 does not load" in " ".join(cli("--help").out.split())
    assert cli("hello").status == 1


def test_a_summary_that_raises_is_said_in_its_place(cli: RunCli, install: Install) -> None:
    code = "import click\nclass Verb(click.Command):\n    def get_short_help_str(self, limit): 1 / 0\n"
    install(plugins.VERBS, "hello = thirds_summary:command", code + "command = Verb('hello')\n")
    shown = cli("--help")
    assert shown.status == 0
    assert "ZeroDivisionError" in shown.out


def test_a_distribution_whose_entry_points_are_no_entry_points_breaks_nothing(cli: RunCli, install: Install) -> None:
    install(plugins.VERBS, "hello")
    assert cli("--help").status == 0
    assert cli("list", "figures").status == 0


def test_an_own_verb_wins(cli: RunCli, install: Install) -> None:
    install(plugins.VERBS, "plan = thirds_plan:command", "1 / 0")
    assert cli("plan", "--help").status == 0
    assert cli("--help").out.count("\n  plan ") == 1


def test_names_that_do_not_load_are_left_out_and_said(cli: RunCli, install: Install) -> None:
    install(plugins.NAMES, "spoons = thirds_spoons:names", "1 / 0")
    ran = cli("list")
    assert ran.status == 0
    assert "topologies" in ran.out
    assert ran.err == "warning: spoons of thirds 1.2 does not load: ZeroDivisionError: division by zero\n"
    assert cli("list", "spoons").status == 1


@pytest.mark.parametrize("output_format", ["table", "json", "csv"])
@pytest.mark.parametrize(
    "names",
    [
        "lambda: 1 / 0",
        "5",
        "lambda: None",
        "lambda: 'spoon'",
        "lambda: {'name': 'spoon'}",
        "lambda: [{'name': 5}]",
        "lambda: [{'summary': 'x'}]",
    ],
)
def test_names_that_are_none_are_refused(cli: RunCli, install: Install, names: str, output_format: str) -> None:
    install(plugins.NAMES, "spoons = thirds_names:names", f"names = {names}")
    ran = cli("list", "spoons", "--format", output_format)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: spoons of thirds 1.2 does not load: ")
    assert ran.err.count("\n") == 1


def test_names_of_another_distribution_are_listed(cli: RunCli, install: Install) -> None:
    install(plugins.NAMES, "forks = thirds_forks:names", "names = lambda: [{'name': 'dinner'}]")
    assert "dinner" in cli("list", "forks").out


def test_benchmarks_that_do_not_load_are_said(cli: RunCli, install: Install) -> None:
    install(plugins.BENCHMARKS, "all = thirds_points:BENCHMARKS", "")
    ran = cli("compare", "--benchmark", "nothing")
    assert ran.status == 1
    assert ran.err.startswith("error: all of thirds 1.2 does not load: AttributeError: ")
    assert cli("list").status == 0


SERIES = "BenchmarkSeries('one', 'all-reduce', Fabric(gpus=4), ('1KiB',), ('1us',))"


@pytest.mark.parametrize(
    ("benchmarks", "reason"),
    [
        ("None", "`thirds_points:BENCHMARKS` is not a sequence of benchmarks"),
        ("[5]", "`thirds_points:BENCHMARKS` is not a sequence of benchmarks"),
        ("[Benchmark('b', '', '', ())]", "series: `()` is not accepted"),
        ("[Benchmark('b', '', '', (5,))]", "series: `5` is not accepted"),
        (f"[Benchmark('../b', '', '', ({SERIES},))]", "name: `../b` is not accepted"),
        (f"[Benchmark('b', '', '', ({SERIES}, {SERIES}))]", "label: `one` makes no folder name of its own"),
    ],
)
def test_benchmarks_that_are_none_are_refused(cli: RunCli, install: Install, benchmarks: str, reason: str) -> None:
    code = "from lightloom import Fabric\nfrom lightloom.sweeps.benchmarks import Benchmark, BenchmarkSeries\n"
    install(plugins.BENCHMARKS, "all = thirds_points:BENCHMARKS", f"{code}BENCHMARKS = {benchmarks}")
    ran = cli("list", "benchmarks")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"error: all of thirds 1.2 does not load: {reason}")


def test_benchmarks_that_do_not_load_hide_no_others(install: Install) -> None:
    install(plugins.BENCHMARKS, "all = thirds_points:BENCHMARKS", "1 / 0")
    assert find_benchmark("bridge").name == "bridge"


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("reproduce", "bridge-12"), "verb"),
        (("reproduce", "--help"), "verb"),
        (("list", "figures"), "kind"),
        (("compare", "--benchmark", "bridge"), "benchmark"),
    ],
)
def test_what_is_not_installed_says_what_to_install(cli: RunCli, arguments: tuple[str, ...], field: str) -> None:
    ran = cli(*arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {field}: ")
    assert ran.err.endswith("pip install lightloom-papers\n")
    assert ran.err.count("\n") == 1


@pytest.mark.usefixtures("alone")
def test_nothing_else_needs_another_distribution(cli: RunCli) -> None:
    assert "reproduce" not in cli("--help").out
    assert cli("list", "benchmarks").status == 0
    assert "figures" not in cli("list", "--format", "json").out
