"""Makes the text of a picture fit: long titles are wrapped, and of labels that would overlap some are left out."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

__all__ = [
    "legend_above",
    "legend_below",
    "settle",
]

# Most lines of a figure's and of a panel's title; a longer title ends in an ellipsis.
MOST_TITLE_LINES, MOST_PANEL_LINES = 4, 3
# Names within a panel. Those that would hide others are left out; the names of the largest parts stay.
NAME = "name-of-a-part"
# Text under a panel without axes, wrapped like its title.
CAPTION = "caption"
# Mark of the number in a cell of a map.
NUMBER = "number-of-a-cell"
SLANT = 45
# Matplotlib's name of the axes of a colour bar.
COLOUR_BAR = "<colorbar>"
# Between two labels, and between a text and the border of the figure, in pixels of 1/72 inch.
GAP, BORDER = 4.0, 6.0
SCALES_DIFFER = "the panels' vertical scales differ"


def settle(figure: Figure) -> None:
    """Lay the figure out and make its texts fit. To be called once, when all is drawn."""
    with catch_warnings():
        # A box stands for a character that the font does not have.
        filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        _say_scales(figure)
        _wrap_wide(figure)
        # Text that is still to be wrapped must not take room from the panels.
        for axes in figure.axes:
            for text in _wrapped_texts(axes):
                text.set_in_layout(False)
        _lay_out(figure)
        for axes in figure.axes:
            _wrap_labels(axes)
            for text in _wrapped_texts(axes):
                text.set_in_layout(True)
        _lay_out(figure)
        for axes in figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                _fit_ticks(axis)
            _leave_names_out(axes)
        _lay_out(figure)


def _lay_out(figure: Figure) -> None:
    """Places of panels and labels, without drawing them."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def legend_below(figure: Any, handles: Sequence[Any], labels: Sequence[str], **settings: Any) -> Any:
    """A legend under all panels, in as many columns as fit. figure: a figure or subfigure."""
    return _legend_outside(figure, handles, labels, "outside lower center", **settings)


def legend_above(figure: Any, handles: Sequence[Any], labels: Sequence[str], **settings: Any) -> Any:
    """A legend over all panels, in as many columns as fit."""
    return _legend_outside(figure, handles, labels, "outside upper center", **settings)


def _legend_outside(figure: Any, handles: Sequence[Any], labels: Sequence[str], place: str, **settings: Any) -> Any:
    from matplotlib.font_manager import FontProperties

    size = settings.pop("fontsize", 8)
    room = figure.bbox.width / figure.figure.dpi * 72 - 2 * BORDER
    # A handle and the gaps next to it take four and a half letters' heights.
    widest = max((text_width(label, FontProperties(size=size)) for label in labels), default=0.0) + 5 * size
    columns = max(1, min(len(labels), int(room // widest)))
    return figure.legend(handles, labels, loc=place, ncols=columns, frameon=False, fontsize=size, **settings)


@cache
def _measuring(dpi: float = 72.0) -> Any:
    """A renderer to measure texts; a figure would make one for each text."""
    from matplotlib.backends import backend_agg

    agg: Any = backend_agg
    return agg.RendererAgg(1, 1, dpi)


def _box(text: Text) -> Any:
    figure = text.get_figure(root=True)
    return text.get_window_extent(_measuring(float(figure.dpi) if figure else 72.0))


def text_width(text: str, font: Any) -> float:
    """The width of a line of text, in points."""
    width, _, _ = _measuring().get_text_width_height_descent(text.replace(r"\$", "$"), font, ismath=False)
    return float(width)


def wrapped(text: str, font: Any, width: float, most_lines: int) -> str:
    """The text in lines no wider than `width` points, broken between words or, in a word that is wider, within it.

    Where these are too many, the part between two line breaks that has most of them ends in an ellipsis.
    """
    parts = [_lines(given, font, width) for given in text.split("\n")]
    while sum(map(len, parts)) > most_lines and max(map(len, parts)) > 1:
        longest = max(range(len(parts)), key=lambda index: len(parts[index]))
        parts[longest] = [*parts[longest][:-2], _cut(parts[longest][-2], font, width)]
    return "\n".join(line for part in parts for line in part)


def _cut(line: str, font: Any, width: float) -> str:
    """The line up to where an ellipsis fits."""
    line = line.removesuffix(" …")
    while text_width(f"{line} …", font) > width and " " in line:
        line = line.rpartition(" ")[0]
    letters = _letters(line)
    while letters and text_width("".join(letters) + " …", font) > width:
        letters.pop()
    return "".join(letters) + " …"


def _letters(text: str) -> list[str]:
    """An escaped dollar sign is one letter."""
    return re.findall(r"\\\$|.", text)


def _lines(text: str, font: Any, width: float) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if text_width(longer, font) <= width:
            lines[-1] = longer
            continue
        parts = _broken(word, font, width)
        lines += parts if lines[-1] else []
        if not lines[0]:
            lines = parts
    return lines


def _broken(word: str, font: Any, width: float) -> list[str]:
    """Parts of a word that are not too wide, broken behind a comma, colon, bracket or hyphen if there is one."""
    parts = [""]
    for piece in re.findall(r"(?:\\\$|[^,;:)\]\-])*[,;:)\]\-]*", word):
        if text_width(parts[-1] + piece, font) <= width:
            parts[-1] += piece
            continue
        parts.append("")
        for letter in _letters(piece):
            if parts[-1] and text_width(parts[-1] + letter, font) > width:
                parts.append("")
            parts[-1] += letter
    return [part for part in parts if part] or [""]


def _points(pixels: float, figure: Any) -> float:
    return pixels * 72 / float(figure.dpi)


def _wrap(text: Text, width: float, most_lines: int) -> None:
    if text.get_text():
        text.set_text(wrapped(text.get_text(), text.get_fontproperties(), width, most_lines))


def _wrap_wide(figure: Figure) -> None:
    """The title over all panels; bounded only by the figure."""
    parts: list[Any] = [figure, *figure.subfigs]
    for part in parts:
        title = next((text for text in part.texts if text.get_text() == part.get_suptitle()), None)
        if title is not None:
            _wrap(title, _points(part.bbox.width, figure) - 2 * BORDER, MOST_TITLE_LINES)


def _wrapped_texts(axes: Axes) -> list[Text]:
    captions = [text for text in axes.texts if text.get_gid() == CAPTION]
    return [axes.title, axes.xaxis.label, axes.yaxis.label, *captions]


def _wrap_labels(axes: Axes) -> None:
    """The panel's title, captions and its axes' labels, to the panel's width and height."""
    figure: Any = axes.get_figure(root=True)
    part: Any = axes.get_figure(root=False)
    place, within = axes.get_position(original=True), part.bbox
    width, height = _points(place.width * within.width, figure), _points(place.height * within.height, figure)
    title, x_label, y_label, *captions = _wrapped_texts(axes)
    for text in (title, *captions):
        _wrap(text, 0.92 * width, MOST_PANEL_LINES)
    _wrap(x_label, 1.1 * width, 2)
    _wrap(y_label, height, 3)


def _fit_ticks(axis: Any) -> None:
    """Slants the labels of a horizontal axis where they overlap, and leaves some out where that is not enough."""
    ticks = _shown_ticks(axis)
    if len(ticks) < 2:
        return
    places = [place for place, _, _ in ticks]
    sizes = [(box.width, box.height) for _, _, box in ticks]
    scale = float(axis.axes.get_figure(root=True).dpi) / 72
    if axis.axis_name == "x" and axis.axes.get_label() != COLOUR_BAR:
        slanted = any(label.get_rotation() % 180 for _, label, _ in ticks)
        if not slanted and _fitting(places, [width for width, _ in sizes], scale) < len(places):
            for _, label, _ in ticks:
                label.set(rotation=SLANT, ha="right", rotation_mode="anchor")
            slanted = True
        # Slanted lines of text are apart by their height, across.
        line = _line_height(ticks[0][1], scale)
        needed = [line / math.sin(math.radians(SLANT))] * len(ticks) if slanted else [width for width, _ in sizes]
    else:
        needed = [size[0 if axis.axis_name == "x" else 1] for size in sizes]
    kept = _kept(places, needed, scale)
    if len(kept) == len(places):
        return
    shown = {label.get_text() for index, (_, label, _) in enumerate(ticks) if index in kept}
    seen: set[str] = set()
    labels = []
    for label in axis.get_ticklabels():
        text = label.get_text()
        labels.append(text if text in shown and text not in seen else "")
        seen.add(text)
    axis.set_ticks(list(axis.get_ticklocs()), labels=labels)


def _line_height(label: Text, scale: float) -> float:
    return float(label.get_fontsize()) * 1.2 * scale


def _shown_ticks(axis: Any) -> list[tuple[float, Text, Any]]:
    """Place along the axis in pixels, label and its box, of the labels that are seen, in order."""
    across = 0 if axis.axis_name == "x" else 1
    low, high = sorted(axis.get_view_interval())
    # An end's own tick may be beyond it by rounding.
    low, high = low - 1e-9 * (high - low), high + 1e-9 * (high - low)
    shown = []
    for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False):
        if label.get_visible() and label.get_text() and low <= place <= high and axis.get_visible():
            point = (place, 1.0) if across == 0 else (1.0, place)
            shown.append((float(axis.axes.transData.transform(point)[across]), label, _box(label)))
    return sorted(shown, key=lambda tick: tick[0])


def _fitting(places: Sequence[float], needed: Sequence[float], scale: float) -> int:
    return len(_kept(places, needed, scale))


def _kept(places: Sequence[float], needed: Sequence[float], scale: float) -> set[int]:
    """Both end labels, and from the last on those that have room."""
    kept = [len(places) - 1]

    def apart(one: int, other: int) -> bool:
        return abs(places[one] - places[other]) >= (needed[one] + needed[other]) / 2 + GAP * scale

    for index in range(len(places) - 2, 0, -1):
        if apart(index, kept[-1]) and apart(index, 0):
            kept.append(index)
    if apart(0, kept[-1]):
        kept.append(0)
    return set(kept)


def _leave_names_out(axes: Axes) -> None:
    """Names of parts, the largest first: one that would lie on another or leave the panel is not drawn.

    Neither are the numbers of cells that are too narrow for them.
    """
    panel = axes.get_window_extent()
    placed: list[Any] = []
    for text in axes.texts:
        if text.get_gid() != NAME:
            continue
        box = _box(text)
        inside = panel.x0 <= box.x0 and box.x1 <= panel.x1 and panel.y0 <= box.y0 and box.y1 <= panel.y1
        if inside and not any(box.overlaps(other) for other in placed):
            placed.append(box)
        else:
            text.set_visible(False)
    numbers = [text for text in axes.texts if text.get_gid() == NUMBER]
    boxes = [_box(text) for text in numbers]
    if any(one.overlaps(other) for one, other in combinations(boxes, 2)):
        for text in numbers:
            text.set_visible(False)


def _say_scales(figure: Figure) -> None:
    """Add a note where panels next to each other have different scales."""
    rows: dict[tuple[int, int], set[tuple[float, float]]] = {}
    for axes in figure.axes:
        spec = axes.get_subplotspec()
        if spec is not None and axes.axison and axes.has_data() and axes.get_label() != COLOUR_BAR:
            key = id(spec.get_gridspec()), spec.rowspan.start
            rows.setdefault(key, set()).add(axes.get_ylim())
    if any(len(limits) > 1 for limits in rows.values()) and figure.get_supxlabel() == "":
        figure.supxlabel(SCALES_DIFFER, fontsize=8, color="0.35", style="italic")
