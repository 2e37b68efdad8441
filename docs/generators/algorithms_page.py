"""`docs/algorithms.md` and its drawings, from the registries.

`python -m docs.generators.algorithms_page` writes the page, and every drawing of `docs/drawings/`.
"""

from pathlib import Path

from docs.generators.drawings.animation import animation
from docs.generators.drawings.families import families_drawing, names
from docs.generators.drawings.plans import composed_drawing, doubling, doubling_drawing, search_drawing, search_of
from docs.generators.drawings.schedules import GPUS, algorithm_drawing, collective_of, schedule_of
from docs.generators.drawings.schedules import names as algorithms
from docs.generators.drawings.spreading import spreading_drawing

from lightloom import _core

PAGE = Path(__file__).resolve().parent.parent / "algorithms.md"
FOLDER = PAGE.parent / "drawings"
HEADER = """\
# Algorithms, topologies and plans, drawn

An *algorithm* says what goes from whom to whom in which step; a *topology* is the circuits that are live during a
step; a *plan* puts the two together. `python -m docs.generators.algorithms_page` draws all of this page from the
registries, by the same code that plans. Orange arrows are transfers that the receiver adds to what it has, blue ones
are kept as they are; grey are circuits.

## A plan, step by step

AllReduce of 256 KiB by recursive doubling on 8 GPUs with one port; a change of topology takes 1 µs. A `*` marks steps
before which the fabric is reconfigured. In steps 3 and 4 every GPU sends to the one across, two hops along circuits
that are there already, which is faster than circuits of their own after another change:

![Six panels: a ring, rings of every second GPU for steps 2 to 5, the ring again](drawings/plan-recursive-doubling.svg)

## How the topologies are chosen

Every step costs something on every candidate topology ([the cost model](cost-model.md#completion-time)): startup, hop
delays and bytes over the busiest circuit, read from the [front of hops and load](cost-model.md#front-of-a-pair) of
the step's traffic there. A state is a step on a topology, an edge stays or pays for a change, and the plan is the
shortest path ([planning](cost-model.md#planning)):

![Steps by topologies; the path goes from the ring to shifted-ring:2 and back](drawings/state-search.svg)

Circuits to the GPU across (`shifted-ring:4`) would save {saved} in steps 3 and 4, but the two changes more cost
{changes}. Costs are found when the search first needs them, and bounded until then ([decision
3](decisions/0003-lazy-search.md)).

## Composed collectives

`weave` chooses the algorithm together with the topologies: the ranks get coordinates, and each phase works along one
of them on circuits along it ([composed collectives](cost-model.md#composed-collectives)). AllReduce of 1 MiB on 16
GPUs with one port, a change taking 5 µs: a ReduceScatter along rows, then the rest of it along columns, gathered
the same way back:

![Four panels of 4 by 4 GPUs: rings along rows, rings along columns twice, rings along rows](drawings/plan-composed.svg)

## Topologies

One example of every family (`lightloom list topologies`), under its name the parameters and ports. A line without
heads is a circuit each way.

![One panel for each family of topologies](drawings/topologies.svg)

{topologies}

Planners also set up topologies that no family holds: a step's own circuits, circulants found by search, products of
rings along coordinates, Cayley digraphs ([search](cost-model.md#composed-collectives)).

## Algorithms

Each on 8 GPUs, its first collective (`lightloom list algorithms`); m is the buffer. Steps in a row that are alike
share a panel.
"""


def page() -> str:
    """The page, without its drawings."""
    search = search_of(doubling())
    saved_s = sum(costs[taken] - min(costs) for costs, taken in zip(search.costs_s, search.chosen, strict=True))
    saved, changes = _core.show_time(saved_s), _core.show_time(2 * search.change_s)
    return HEADER.format(topologies=_topologies(), saved=saved, changes=changes) + "".join(map(_section, algorithms()))


def drawings() -> dict[str, str]:
    """Every drawing by the name of its file."""
    found = {f"algorithm-{name}.svg": algorithm_drawing(name) for name in algorithms()}
    return found | {
        "changing-circuits.svg": animation(),
        "plan-composed.svg": composed_drawing(),
        "plan-recursive-doubling.svg": doubling_drawing(),
        "spreading.svg": spreading_drawing(),
        "state-search.svg": search_drawing(),
        "topologies.svg": families_drawing(),
    }


def _topologies() -> str:
    told = {entry["name"]: entry for entry in _core.registry()["topologies"]}
    lines = ["| family | what it is | source |", "|---|---|---|"]
    for name in names():
        cells = (f"`{name}{told[name]['parameters']}`", told[name]["summary"], told[name]["source"])
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _section(name: str) -> str:
    entry = next(entry for entry in _core.registry()["algorithms"] if entry["name"] == name)
    collective, schedule = collective_of(name), schedule_of(name)[0]
    count = len(schedule.shares)
    return f"""
### `{name}`

{entry["summary"][0].upper()}{entry["summary"][1:]} ({entry["source"]}).

Serves {entry["collectives"]}; takes {entry["requirement"]}. On {GPUS} GPUs {collective} has
{_core.counted(count, "step")}, in which the busiest rank sends {schedule.sent_share:.4g}·m.

![{name}, step by step](drawings/algorithm-{name}.svg)
"""


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    PAGE.write_text(page())
    for file, drawn in drawings().items():
        (FOLDER / file).write_text(drawn)
