"""Results as HTML, for notebooks: small, escaped, without anything from elsewhere."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from lightloom._core import show_size, show_time
from lightloom.views.tables.bound import bound_parts
from lightloom.views.tables.circuits import circuits_parts
from lightloom.views.tables.comparison import comparison_parts
from lightloom.views.tables.plan import plan_parts
from lightloom.views.tables.simulation import simulation_parts
from lightloom.views.tables.sizes import size_parts
from lightloom.views.tables.sweep import sweep_parts
from lightloom.views.tables.training import training_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType

    from lightloom.optics.port_maps import Circuits
    from lightloom.planning.bounds import Bounds
    from lightloom.planning.sizes import SizeTable
    from lightloom.plans import Plan
    from lightloom.plans.comparison import Comparison
    from lightloom.plans.steps import Step
    from lightloom.simulation import Simulation
    from lightloom.sweeps.result import SweepResult
    from lightloom.training.result import Training

# As wide as a notebook's cell is.
COLUMNS = 110
# A line of a name, perhaps empty, and its value, separated as columns are.
NAMED = re.compile(r"(\S(?:(?! {2}).)*|) {2,}(\S(?:(?! {2}).)*)")


def plan_html(plan: Plan) -> str:
    """The problem, a row per run of equal steps, the total and the bound."""
    return as_html(plan_parts(plan, is_wide=True))


def comparison_html(comparison: Comparison) -> str:
    """The best row of every planner, why the best wins, and the bound."""
    return as_html(comparison_parts(comparison, columns=COLUMNS))


def circuits_html(circuits: Circuits) -> str:
    """Changed and unchanged circuits, a row per switch of a configuration."""
    return as_html(circuits_parts(circuits))


def step_html(step: Step) -> str:
    """The numbers of a step, a row each."""
    rows = {
        "step": str(step.index + 1),
        "topology": f"{step.topology.name}: {step.topology.explanation}",
        "reconfigured before it": "yes" if step.reconfigured else "no",
        "bytes of the largest transfer": show_size(step.transfer_bytes),
        "hops": str(step.hops),
        "load": f"{step.load:.4g}",
        **({"barrier": show_time(step.barrier_s)} if step.barrier_s else {}),
        "startup": show_time(step.startup_s),
        "propagation": show_time(step.propagation_s),
        "transmission": show_time(step.transmission_s),
        "reconfiguration": show_time(step.reconfiguration_s),
        "total": show_time(step.total_s),
    }
    made = Table("", "", show_header=False)
    for name, value in rows.items():
        made.add_row(name, value)
    return as_html([made])


def sizes_html(sizes: SizeTable) -> str:
    """A row per size."""
    return as_html(size_parts(sizes))


def simulation_html(simulation: Simulation) -> str:
    """A simulation, a row per run of equal steps, and the data sent."""
    return as_html(simulation_parts(simulation))


def bounds_html(bounds: Bounds) -> str:
    """A row per bound with its terms, and why each holds."""
    return as_html(bound_parts(bounds))


def sweep_html(result: SweepResult) -> str:
    """The best and the worst points, and the choices."""
    return as_html(sweep_parts(result))


def training_html(training: Training) -> str:
    """The time of an iteration and its parts, every policy, and the communication."""
    return as_html(training_parts(training))


def as_html(parts: Iterable[RenderableType]) -> str:
    """Texts and tables as paragraphs and tables, their words escaped."""
    made: list[str] = []
    facts: list[tuple[str, str]] = []
    for part in parts:
        fact = None if isinstance(part, Table) else NAMED.fullmatch(_plain(part))
        if fact is not None:
            facts.append((fact[1], fact[2]))
            continue
        made += [_facts(facts), _part(part)]
        facts = []
    return f"<div>{''.join(made)}{_facts(facts)}</div>"


def _part(part: RenderableType) -> str:
    if isinstance(part, Table):
        return _table(part)
    text = _plain(part)
    return f"<p>{_words(text)}</p>" if text.strip() else ""


def _facts(facts: Sequence[tuple[str, str]]) -> str:
    """Names with their meanings, as a table."""
    rows = (_row("td", fact, ("left", "left")) for fact in facts)
    return f"<table><tbody>{''.join(rows)}</tbody></table>" if facts else ""


def _plain(text: object) -> str:
    return text.plain if isinstance(text, Text) else str(text)


def _words(text: object) -> str:
    return escape(_plain(text))


def _table(made: Table) -> str:
    sides = ["right" if column.justify == "right" else "left" for column in made.columns]
    header = [column.header for column in made.columns] if made.show_header else []
    footer = [column.footer for column in made.columns] if made.show_footer else []
    rows = [_row("td", row, sides) for row in zip(*(column.cells for column in made.columns), strict=True)]
    head = f"<thead>{_row('th', header, sides)}</thead>" if header else ""
    foot = f"<tfoot>{_row('th', footer, sides)}</tfoot>" if footer else ""
    caption = f'<caption style="caption-side:bottom">{_words(made.caption)}</caption>' if made.caption else ""
    return f"<table>{caption}{head}<tbody>{''.join(rows)}</tbody>{foot}</table>"


def _row(tag: str, cells: Iterable[RenderableType], sides: Iterable[str]) -> str:
    made = (f'<{tag} style="text-align:{side}">{_words(cell)}</{tag}>' for cell, side in zip(cells, sides, strict=True))
    return f"<tr>{''.join(made)}</tr>"
