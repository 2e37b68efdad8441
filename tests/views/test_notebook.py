"""Results as HTML and as DataFrames, and how they read in a session."""

import pickle
import re
from html.parser import HTMLParser

import pytest

import lightloom as ll
from lightloom.base import frames
from lightloom.base.frames import Table

FABRIC = ll.Fabric(gpus=8)
PLAN = ll.plan("all-reduce", size="1MiB", fabric=FABRIC)
COMPARISON = ll.compare("all-reduce", size="1MiB", fabric=FABRIC)
SIZES = ll.plan_sizes("all-reduce", "1KiB:1MiB:4", fabric=FABRIC)
TABLES: list[Table] = [PLAN, COMPARISON, SIZES]
VOID = {"br", "hr", "img"}


class Reader(HTMLParser):
    """The tags and texts of a page; fails where tags do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("result", [*TABLES, PLAN.steps[0]], ids=lambda result: type(result).__name__)
def test_html_is_small_whole_and_loads_nothing(result: object) -> None:
    html = result._repr_html_()  # type: ignore[attr-defined]
    page = Reader(html)
    assert len(html) < 20_000
    assert set(page.tags) <= {"div", "p", "table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"}
    assert set(page.attributes) <= {"style"}
    # A plan's total, bound and bandwidths are named in a table of their own, its topologies in another.
    assert page.tags.count("table") == (3 if isinstance(result, ll.Plan) else 1)


def test_html_says_what_the_table_says() -> None:
    page = Reader(PLAN._repr_html_())
    assert page.texts[0].startswith("all-reduce of 1 MiB on 8 GPUs: ")
    assert page.texts[1].startswith("1 port of 800 Gbit/s, startup 500.0 ns, hop delay 500.0 ns, reconf")
    assert page.tags.count("th") == 22
    assert page.texts[page.texts.index("algbw") + 1].endswith(" GB/s")
    names = {row.planner for row in COMPARISON.by_planner()}
    assert names <= set(Reader(COMPARISON._repr_html_()).texts)


def test_names_are_escaped() -> None:
    topology = ll.Topology.from_links("<script>alert('x')</script>&", 8, [(gpu, (gpu + 1) % 8, 1) for gpu in range(8)])
    plan = ll.plan("all-gather", size="1MiB", fabric=FABRIC, topology=topology, planner="static", algorithm="ring")
    for result in (plan, plan.steps[0]):
        html = result._repr_html_()
        assert "<script" not in html
        assert topology.name in "".join(Reader(html).texts)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
def test_columns_are_as_long_as_each_other(table: Table) -> None:
    columns = table.to_columns()
    assert len({len(values) for values in columns.values()}) == 1
    total_s = [value for value in columns["total_s"] if value is not None]
    assert total_s
    assert all(seconds > 0 for seconds in total_s)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
def test_tables_become_frames(table: Table, library: str) -> None:
    pytest.importorskip(library)
    frame = getattr(table, f"to_{library}")()
    columns = table.to_columns()
    assert list(frame.columns) == list(columns)
    assert len(frame) == len(columns["total_s"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_without_the_library_it_is_said_what_to_install(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    monkeypatch.setattr(frames, "import_module", nothing)
    with pytest.raises(ImportError, match=f"to_{library}: it needs {library}, which is not installed; `pip install"):
        getattr(PLAN, f"to_{library}")()


def test_representations_read_well() -> None:
    assert re.fullmatch(r"Step\(0, \S+, \d+ KiB, hops=1, load=1: \d.+ µs\)", repr(PLAN.steps[0]))
    assert re.fullmatch(r"Plan\(all-reduce, 1 MiB, 8 GPUs, \S+, \S+: .+ µs, \d+ reconfigurations?\)", repr(PLAN))
    assert re.fullmatch(
        r"Comparison\(all-reduce, 1 MiB, 8 GPUs: best Row\(\S+, \S+: .+\), \d+ rows\)", repr(COMPARISON)
    )
    assert repr(SIZES) == "SizeTable(all-reduce, 8 GPUs, 6 sizes from 1 KiB to 1 MiB)"


def test_a_step_holds_its_topology() -> None:
    for step in PLAN.steps:
        assert step.topology is PLAN.topologies[step.topology_index]
        assert step.topology_name == step.topology.name
        assert pickle.loads(pickle.dumps(step)) == step  # noqa: S301
        with pytest.raises(AttributeError):
            step.hops = 2  # type: ignore[misc]


@pytest.mark.parametrize("result", TABLES, ids=lambda result: type(result).__name__)
def test_results_survive_pickling(result: Table) -> None:
    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301
