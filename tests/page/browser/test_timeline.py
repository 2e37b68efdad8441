"""The timeline: seconds by colour at any zoom, as the data have them; keys, pointer, selection and search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from playwright.sync_api import expect

import lightloom as ll
from lightloom.views.training_rows import timeline

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened

PROBLEM = "/training?model=mixtral-8x22b&ports=2"
# Of the sums.
LARGEST_ERROR = 1e-3
SUMS = """async ([rows, windows]) => {
  const { lanesOf, secondsOf } = await import("/static/js/charts/shares.js");
  const lanes = rows.map(lanesOf);
  return windows.map(([first, last]) => lanes.map((own) => Object.fromEntries(secondsOf(own, first, last))));
}"""
# The pixels of the tracks.
PAINTED = """() => {
  const canvas = document.querySelector(".tracks canvas");
  const { width, height } = canvas;
  return { width, height, data: [...canvas.getContext("2d").getImageData(0, 0, width, height).data] };
}"""


@pytest.fixture(scope="module")
def training() -> ll.Training:
    return ll.train("mixtral-8x22b", fabric=ll.Fabric(ports=2))


def seen(boxes: list[dict[str, Any]], first: float, last: float) -> dict[str, float]:
    """Seconds by role in a span, of boxes of one lane in the order of drawing: by elementary intervals."""
    moments = np.unique([first, last, *(m for box in boxes for m in (box["first_s"], box["last_s"]))])
    moments = moments[(moments >= first) & (moments <= last)]
    top = np.full(len(moments) - 1, -1)
    roles = sorted({box["role"] for box in boxes})
    for box in boxes:
        low, high = np.searchsorted(moments, [box["first_s"], box["last_s"]])
        top[low:high] = roles.index(box["role"])
    lengths = np.diff(moments)
    return {role: float(lengths[top == place].sum()) for place, role in enumerate(roles)}


def close(found: dict[str, float], expected: dict[str, float]) -> bool:
    roles = found.keys() | expected.keys()
    whole = sum(expected.values())
    return all(
        abs(found.get(role, 0) - expected.get(role, 0)) <= LARGEST_ERROR * expected.get(role, 0) + 1e-9 * whole
        for role in roles
    )


def spans(end: float, seed: int) -> list[tuple[float, float]]:
    """Spans of all lengths from the whole down to a hundred-thousandth of it."""
    random = np.random.default_rng(seed)
    found = [(0.0, end)]
    for length in end * np.geomspace(1e-5, 0.9, 40):
        first = random.uniform(0, end - length)
        found.append((float(first), float(first + length)))
    return found


def sums_of(rows: list[dict[str, Any]], windows: list[tuple[float, float]]) -> list[list[dict[str, float]]]:
    told = []
    for first, last in windows:
        of_rows = []
        for row in rows:
            sums: dict[str, float] = {}
            for lane in range(row["lanes"]):
                for role, seconds in seen([box for box in row["boxes"] if box["lane"] == lane], first, last).items():
                    sums[role] = sums.get(role, 0.0) + seconds
            of_rows.append(sums)
        told.append(of_rows)
    return told


@pytest.mark.large
def test_sums_of_any_span_are_the_data_s(opened: Opened, training: ll.Training) -> None:
    page = opened.go("/plan?collective=broadcast&size=1MiB&gpus=4")
    rows = timeline(training)
    windows = spans(training.total_s, seed=1)
    for found, expected in zip(page.evaluate(SUMS, [rows, windows]), sums_of(rows, windows), strict=True):
        for of_row, own in zip(found, expected, strict=True):
            assert close(of_row, own), (of_row, own)


@pytest.mark.large
def test_boxes_that_cover_each_other_count_once(opened: Opened) -> None:
    page = opened.go("/plan?collective=broadcast&size=1MiB&gpus=4")
    random = np.random.default_rng(2)
    rows = []
    for boxes in (1, 5, 60):
        firsts = random.uniform(0, 1, boxes)
        lasts = firsts + random.choice([1e-6, 0.01, 0.5], boxes)
        told = [
            {"first_s": f, "last_s": e, "role": role, "words": "", "event": 0, "lane": lane}
            for f, e, role, lane in zip(
                firsts.tolist(),
                lasts.tolist(),
                random.choice(["a", "b", "=dark"], boxes).tolist(),
                random.integers(0, 3, boxes).tolist(),
                strict=True,
            )
        ]
        rows.append({"name": str(boxes), "lanes": 3, "boxes": told})
    windows = spans(1.5, seed=3)
    for found, expected in zip(page.evaluate(SUMS, [rows, windows]), sums_of(rows, windows), strict=True):
        for of_row, own in zip(found, expected, strict=True):
            assert close(of_row, own), (of_row, own)


@pytest.mark.large
@pytest.mark.parametrize("presses", [0, 9, 18])
def test_pixels_show_the_shares(opened: Opened, training: ll.Training, presses: int) -> None:
    """Of the row of computation: how much of its room is painted, next to how long ranks compute."""
    page = opened.go(PROBLEM)
    tracks = page.locator(".tracks")
    tracks.focus()
    for _ in range(presses):
        page.keyboard.press("w")
    page.wait_for_timeout(200)
    first, last = (float(tracks.get_attribute(f"data-{end}") or "nan") for end in ("first", "last"))
    assert (last - first) == pytest.approx(training.total_s / 1.3**presses)
    said = page.evaluate("() => getComputedStyle(document.querySelector('.swatch.term-compute')).backgroundColor")
    colour = [int(part) for part in re.findall(r"\d+", said)]
    painted = page.evaluate(PAINTED)
    pixels = np.array(painted["data"]).reshape(painted["height"], painted["width"], 4)
    # Above the row are only the lines of the time's axis.
    room = pixels[2:20][:, pixels[0, :, 3] == 0]
    assert np.abs(room[room[..., 3] == 255][:, :3] - colour).max(initial=0) <= 1
    row = timeline(training)[0]
    expected = seen(row["boxes"], first, last)["=compute"] / (last - first)
    assert room[..., 3].mean() / 255 == pytest.approx(expected, rel=0.01)


def shown(opened: Opened) -> tuple[float, float]:
    opened.page.wait_for_timeout(60)
    tracks = opened.page.locator(".tracks")
    return tuple(float(tracks.get_attribute(f"data-{end}") or "nan") for end in ("first", "last"))  # type: ignore[return-value]


@pytest.mark.large
def test_keys_are_those_of_perfetto(opened: Opened, training: ll.Training) -> None:
    page = opened.go(PROBLEM)
    page.locator(".tracks").focus()
    whole = shown(opened)
    assert whole == (0.0, training.total_s)
    page.keyboard.press("w")
    closer = shown(opened)
    assert closer[0] > 0
    assert closer[1] < training.total_s
    page.keyboard.press("d")
    later = shown(opened)
    assert later[0] > closer[0]
    assert later[1] - later[0] == pytest.approx(closer[1] - closer[0])
    page.keyboard.press("a")
    assert shown(opened) == pytest.approx(closer)
    page.keyboard.press("m")
    page.keyboard.press("s")
    assert shown(opened)[0] < closer[0]
    expect(page.locator(".timeline .readout")).to_contain_text("Selected:")
    page.keyboard.press("f")
    fitted = shown(opened)
    assert fitted[0] <= closer[0] <= closer[1] <= fitted[1]
    page.keyboard.press("Escape")
    expect(page.locator(".timeline .readout")).not_to_contain_text("Selected:")
    page.keyboard.press("f")
    assert shown(opened) == whole


@pytest.mark.large
def test_a_drag_selects_and_its_sums_are_the_data_s(opened: Opened, training: ll.Training) -> None:
    page = opened.go(PROBLEM)
    tracks = page.locator(".tracks")
    tracks.scroll_into_view_if_needed()
    box = tracks.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 40)
    page.mouse.up()
    table = page.get_by_role("region", name="Time by row and colour, of what is selected")
    expect(table).to_have_count(1)
    first, last = (at / box["width"] * training.total_s for at in (100, 300))
    heads = table.locator("th").all_inner_texts()
    cells = table.locator("tbody tr").first.locator("td").all_inner_texts()
    told = dict(zip(heads, cells, strict=True))["computation"]
    share = float(told.partition("(")[2].partition("\N{NO-BREAK SPACE}")[0].split()[0])
    expected = seen(timeline(training)[0]["boxes"], first, last)["=compute"] / (last - first)
    assert share == pytest.approx(100 * expected, abs=0.6)


@pytest.mark.large
def test_the_wheel_zooms_where_it_points_once_the_timeline_has_the_focus(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    tracks = page.locator(".tracks")
    tracks.scroll_into_view_if_needed()
    box = tracks.bounding_box()
    assert box is not None
    whole = shown(opened)
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 10)
    page.mouse.wheel(0, -1)
    assert shown(opened) == whole
    tracks.focus()
    page.mouse.wheel(0, -300)
    first, last = shown(opened)
    assert last - first < whole[1]
    about = whole[1] / 4
    assert (about - first) / (last - first) == pytest.approx(0.25, abs=0.01)


@pytest.mark.large
def test_a_search_shows_one_match_after_the_other(opened: Opened, training: ll.Training) -> None:
    page = opened.go(PROBLEM)
    page.locator(".tracks").focus()
    page.keyboard.press("/")
    page.keyboard.type("send")
    sends = [box for row in timeline(training) for box in row["boxes"] if box["words"].startswith("send")]
    status = page.locator(".timeline-search output")
    expect(status).to_contain_text("found")
    count = int(re.sub(r"\D", "", status.inner_text()))
    assert count >= len(sends) > 0
    page.keyboard.press("Enter")
    expect(status).to_have_text(f"1 of {count:,}")
    first, last = shown(opened)
    assert last - first < training.total_s
    page.keyboard.press("Shift+Enter")
    expect(status).to_have_text(f"{count:,} of {count:,}")
    assert shown(opened)[0] > first


@pytest.mark.large
def test_the_verdict_names_the_times(opened: Opened) -> None:
    page = opened.go("/training")
    training = ll.train("gpt-3", ranks=64, fabric=ll.Fabric(ports=4))
    fixed = training.policies["one-shot"]
    assert fixed is not None
    words = page.locator(".result > .sentence").inner_text()
    assert "Changing circuits pays" in words
    assert f"{fixed / training.total_s:.2f}×" in words
