"""The animation of the front page: an AllReduce whose circuits change under it, next to circuits that never change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from docs.generators.drawings.svg import COLOURS, FAINT, INK, text

import lightloom as ll
from lightloom import _core
from lightloom.views.palette import TERM_COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Pixels: the picture, a circle of GPUs, the middles of both, and the bars of time.
WIDTH, HEIGHT, RADIUS, GPU = 760, 488, 142, 2.6
MIDDLES, MIDDLE_Y = (190, 570), 232
BAR_LEFT, BAR_TOP, BAR_WIDTH, BAR_HEIGHT, BAR_GAP = 150, 414, 500, 14, 26
# Seconds of one turn of the animation, and the share of it after which the slower one is done.
TURN_S, DONE = 12, 0.86
LEGEND_Y = 472
CAPTIONS = ("Circuits change during the collective", "The best circuits that never change")
STYLE = """<style>
.once{{opacity:0}}
.flow{{stroke-dasharray:4 4;animation-name:flow;animation-duration:.5s;animation-iteration-count:infinite}}
@keyframes flow{{from{{stroke-dashoffset:8}}to{{stroke-dashoffset:0}}}}
@media (prefers-color-scheme:dark){{
.ground{{fill:#0d1117}}text{{fill:#e6edf3}}.faint{{fill:#9da7b1}}.gpu{{fill:#0d1117;stroke:#e6edf3}}.lit{{stroke:#56B4E9}}}}
@media (prefers-reduced-motion:reduce){{*{{animation:none!important}}.still{{opacity:1}}.cover{{display:none}}}}
{rules}
</style>"""


def plans() -> tuple[ll.Plan, ll.Plan]:
    """The README's AllReduce: planned, and by the best circuits that never change."""
    fabric = ll.Fabric(gpus=64, reconfiguration_delay="1us")
    best = ll.plan("all-reduce", "1MiB", fabric=fabric)
    return best, ll.plan("all-reduce", "1MiB", fabric=fabric, planner="never-change")


class Rules:
    """Style rules by which things are seen from one share of the turn to another."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def seen(self, start: float, end: float) -> str:
        """The class of what is seen from `start` to `end`, shares of the turn."""
        name = f"s{len(self.lines)}"
        before = "0%{opacity:0}" if start > 0 else ""
        after = f"{100 * end:.2f}%{{opacity:0}}" if end < 1 else ""
        self.lines.append(
            f"@keyframes {name}{{{before}{100 * start:.2f}%{{opacity:1}}{after}}}"
            f".{name}{{animation:{name} {TURN_S}s step-end infinite}}"
            f".{name} .flow{{animation-timing-function:linear}}"
        )
        return name


def animation() -> str:
    """The whole picture."""
    both = plans()
    slowest_s = max(plan.total_s for plan in both)
    rules = Rules()
    body = [
        text((WIDTH / 2, 24), "AllReduce of 1 MiB on 64 GPUs, one port of 800 Gbit/s each", 15, bold=True),
        _faint((WIDTH / 2, 43), f"a change of circuits takes 1 µs; slowed down {_slower(slowest_s)} times"),
    ]
    for number, plan in enumerate(both):
        body += _circle(plan, MIDDLES[number], CAPTIONS[number], slowest_s, rules)
        body += _bar(plan, number, slowest_s)
    body += [_cover(rules), *_totals(both, slowest_s, rules), *_legend()]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" role="img">',
            f"<title>{CAPTIONS[0]}: {_core.show_time(both[0].total_s)}; {CAPTIONS[1].lower()}: "
            f"{_core.show_time(both[1].total_s)}</title>",
            STYLE.format(rules="\n".join(rules.lines)),
            '<rect class="ground" width="100%" height="100%" fill="#ffffff"/>',
            *body,
            "</svg>\n",
        ]
    )


def _slower(slowest_s: float) -> str:
    return f"{round(TURN_S * DONE / slowest_s, -3):,.0f}"


def _faint(place: tuple[float, float], words: str, size: float = 12, anchor: str = "middle") -> str:
    return text(place, words, size, colour=FAINT, anchor=anchor).replace("<text ", '<text class="faint" ', 1)


def spans(plan: ll.Plan) -> Iterator[tuple[float, float, float, Sequence[ll.Step]]]:
    """Steps on one topology in a row: seconds at which its circuits begin to change, are there, and are not needed."""
    now_s = 0.0
    runs: list[list[ll.Step]] = []
    for step in plan.steps:
        if runs and not step.reconfigured and runs[-1][-1].topology_index == step.topology_index:
            runs[-1].append(step)
        else:
            runs.append([step])
    for run in runs:
        change_s, whole_s = run[0].reconfiguration_s, sum(step.total_s for step in run)
        yield now_s, now_s + change_s, now_s + whole_s, run
        now_s += whole_s


def _circle(plan: ll.Plan, middle: float, caption: str, slowest_s: float, rules: Rules) -> Iterator[str]:
    """GPUs on a circle, and the circuits of each run of steps while they are there."""

    def at(gpu: int) -> tuple[float, float]:
        turn = 2 * math.pi * gpu / plan.gpus
        return middle + RADIUS * math.sin(turn), MIDDLE_Y - RADIUS * math.cos(turn)

    yield text((middle, 72), caption, 13, bold=True)
    for number, (change_s, start_s, end_s, run) in enumerate(spans(plan)):
        ends = [(*at(source), *at(destination)) for source, destination, _ in run[0].topology.links]
        lines = "".join(f"M{x:.0f} {y:.0f}L{to_x:.0f} {to_y:.0f}" for x, y, to_x, to_y in ends)
        changing, there, done = (DONE * seconds / slowest_s for seconds in (change_s, start_s, end_s))
        if there > changing:
            dark = rules.seen(changing, there)
            look = f'fill="none" stroke="{COLOURS["change"]}" stroke-dasharray="2 3"'
            yield f'<g class="once {dark}"><path d="{lines}" {look}/>'
            yield text((middle, MIDDLE_Y + RADIUS + 24), "circuits change", 12, colour=COLOURS["change"]) + "</g>"
        lit = rules.seen(there, done)
        still = " still" if number == 0 else ""
        yield (
            f'<g class="once {lit}{still}"><path d="{lines}" fill="none" stroke="#bbbbbb" stroke-width="1"/>'
            f'<path class="flow lit" d="{lines}" fill="none" stroke="{TERM_COLOURS["transmission"]}" stroke-width="2"/>'
        )
        yield _faint((middle, MIDDLE_Y + RADIUS + 24), plan.explanations[run[0].topology_index]) + "</g>"
    # The last circuits stay, and carry nothing.
    finished, said = rules.seen(DONE * plan.total_s / slowest_s, 1), f"done after {_core.show_time(plan.total_s)}"
    yield f'<g class="once {finished}"><path d="{lines}" fill="none" stroke="#999999" stroke-width="1.5"/>'
    yield text((middle, MIDDLE_Y + RADIUS + 24), said, 12, bold=True) + "</g>"
    for gpu in range(plan.gpus):
        x, y = at(gpu)
        yield f'<circle class="gpu" cx="{x:.1f}" cy="{y:.1f}" r="{GPU}" fill="#ffffff" stroke="{INK}"/>'


def _bar(plan: ll.Plan, number: int, slowest_s: float) -> Iterator[str]:
    """A bar of time: changes of circuits, and steps."""
    top = BAR_TOP + BAR_GAP * number
    yield text((BAR_LEFT - 8, top + 11), ("changing", "never changing")[number], 11.5, anchor="end")
    for change_s, start_s, end_s, _ in spans(plan):
        for first_s, last_s, colour in (
            (change_s, start_s, COLOURS["change"]),
            (start_s, end_s, TERM_COLOURS["transmission"]),
        ):
            if last_s > first_s:
                left, width = (BAR_WIDTH * seconds / slowest_s for seconds in (first_s, last_s - first_s))
                yield (
                    f'<rect x="{BAR_LEFT + left:.1f}" y="{top}" width="{width:.1f}" height="{BAR_HEIGHT}" '
                    f'fill="{colour}"/>'
                )


def _legend() -> Iterator[str]:
    """What the colours of the bars mean."""
    for left, colour, words in (
        (BAR_LEFT, TERM_COLOURS["transmission"], "data on circuits"),
        (BAR_LEFT + 160, COLOURS["change"], "circuits are changed, and carry nothing"),
    ):
        yield f'<rect x="{left}" y="{LEGEND_Y - 9}" width="18" height="10" fill="{colour}"/>'
        yield _faint((left + 25, LEGEND_Y), words, 11.5, anchor="start")


def _cover(rules: Rules) -> str:
    """What hides the bars' future: it moves to the right as time goes."""
    height = BAR_GAP + BAR_HEIGHT + 4
    rules.lines.append(
        f"@keyframes time{{{100 * DONE:.2f}%{{transform:translateX({BAR_WIDTH}px)}}"
        f"100%{{transform:translateX({BAR_WIDTH}px)}}}}.cover{{animation:time {TURN_S}s linear infinite}}"
    )
    return (
        f'<rect class="ground cover" x="{BAR_LEFT}" y="{BAR_TOP - 2}" width="{BAR_WIDTH + 110}" height="{height}" '
        'fill="#ffffff"/>'
    )


def _totals(both: Sequence[ll.Plan], slowest_s: float, rules: Rules) -> Iterator[str]:
    """The times, from when they are reached."""
    for number, plan in enumerate(both):
        share = plan.total_s / slowest_s
        seen = rules.seen(DONE * share, 1)
        place = (BAR_LEFT + BAR_WIDTH * share + 8, BAR_TOP + BAR_GAP * number + 12)
        words = text(place, _core.show_time(plan.total_s), 13, anchor="start", bold=True)
        yield f'<g class="once still {seen}">{words}</g>'
