"""The map: its cells, its sentence, its frontier, and the plans that its cells open."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

import lightloom as ll
from lightloom._core import show_time

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened
    from tests.page.served import Served

MAP = (
    "/when-it-pays?collective=all-reduce&size=1MiB&gpus=16"
    "&x-from=1KiB&x-to=64MiB&x-points=5&y-from=100ns&y-to=1ms&y-points=5"
)


def planned(size: str, delay: str) -> ll.Plan:
    return ll.plan("all-reduce", size=size, fabric=ll.Fabric(gpus=16, reconfiguration_delay=delay))


def cells(opened: Opened) -> list[dict[str, Any]]:
    """The texts of the cells, row by row from below."""
    found: list[dict[str, Any]] = opened.page.evaluate(
        "[...document.querySelectorAll('[role=gridcell]')].map((cell) => ({x: Number(cell.dataset.x),"
        " y: Number(cell.dataset.y), words: cell.getAttribute('aria-label')}))"
    )
    return found


@pytest.mark.large
def test_cells_are_plans_over_circuits_that_never_change(opened: Opened) -> None:
    opened.go(MAP)
    found = cells(opened)
    assert len(found) == 25
    said = {(cell["x"], cell["y"]): cell["words"].replace("\xa0", " ") for cell in found}
    for place, size, delay in (((0, 0), "1KiB", "100ns"), ((2, 2), "256KiB", "10us"), ((4, 4), "64MiB", "1ms")):
        plan, fixed = planned(size, delay), planned(size, "100s")
        assert fixed.reconfigurations == 0
        words = said[place]
        assert f": {show_time(plan.total_s)} with {plan.reconfigurations} reconfiguration" in words
        assert f"never change {show_time(fixed.total_s)}: {fixed.total_s / plan.total_s:.2f}×" in words


@pytest.mark.large
def test_the_sentence_says_where_it_pays(opened: Opened) -> None:
    page = opened.go(MAP.replace("size=1MiB", "size=16KiB").replace("&gpus=16", "&gpus=16&reconfiguration-delay=10us"))
    pays = []
    for delay in ("100ns", "1us", "10us", "100us", "1ms"):
        plan, fixed = planned("16KiB", delay), planned("16KiB", "100s")
        pays.append(plan.reconfigurations > 0 and fixed.total_s / plan.total_s >= 1.01)
    # As the delay grows it stops paying, once.
    assert pays == sorted(pays, reverse=True)
    assert 0 < sum(pays) < 5
    last = ("100 ns", "1 µs", "10 µs", "100 µs", "1 ms")[sum(pays) - 1]
    sentence = page.locator(".sentence").inner_text().replace("\xa0", " ")
    assert f"up to {last} at 16 KiB" in sentence
    assert "16 GPUs" in sentence
    assert page.locator(".frontier").get_attribute("d")


@pytest.mark.large
def test_a_cell_opens_its_plan_and_back_is_the_map(opened: Opened) -> None:
    page = opened.go(MAP)
    page.locator('[role="gridcell"][data-x="2"][data-y="1"]').click()
    page.wait_for_url(re.compile(r"/plan\?.*size=256KiB.*reconfiguration-delay=1us"))
    opened.settle()
    plan = planned("256KiB", "1us")
    assert re.sub(r"\s", "", page.locator(".headline .first dd").first.inner_text()) == show_time(plan.total_s).replace(
        " ", ""
    )
    page.go_back()
    page.wait_for_url(re.compile("/when-it-pays"))
    opened.settle()
    assert len(cells(opened)) == 25


@pytest.mark.large
def test_a_cell_opens_its_plan_on_a_fabric_with_a_name(opened: Opened) -> None:
    # Its delay is 1 µs, and the usual one of 10 µs is a cell of the map too.
    page = opened.go(MAP.replace("y-from=100ns&y-to=1ms&y-points=5", "y-from=1us&y-to=100us&y-points=3&fabric=harvest"))
    assert "at 1 µs" in page.locator(".sentence").inner_text().replace("\xa0", " ")
    page.locator('[role="gridcell"][data-x="2"][data-y="1"]').click()
    page.wait_for_url(re.compile(r"/plan\?(?=.*fabric=harvest).*reconfiguration-delay=10us"))
    opened.settle()
    expect(page.locator("main")).to_contain_text("reconfiguration delay 10\xa0µs")


@pytest.mark.large
def test_the_map_is_walked_by_keys(opened: Opened) -> None:
    page = opened.go(MAP)
    page.locator('[role="gridcell"][tabindex="0"]').focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    focused = page.locator('[role="gridcell"]:focus')
    assert (focused.get_attribute("data-x"), focused.get_attribute("data-y")) == ("2", "1")
    assert page.locator('[role="gridcell"][tabindex="0"]').count() == 1
    expect(page.locator(".readout")).to_contain_text("256\u00a0KiB, 1\u00a0µs")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/plan\?.*size=256KiB"))
    opened.settle()
    assert page.evaluate("document.activeElement.tagName") == "MAIN"
    assert page.title() == "all-reduce, 256KiB, 16 GPUs – Plan – Lightloom"


@pytest.mark.large
def test_an_example_may_have_axes_of_its_own(opened: Opened) -> None:
    page = opened.go(MAP)
    page.get_by_label("Start from", exact=True).select_option(
        label="AllGather of 16 MiB on 32 GPUs: which bandwidth makes which switch worth it?"
    )
    page.wait_for_url(re.compile("x=bandwidth"))
    opened.settle()
    assert page.locator(".sentence").inner_text().startswith("For all-gather of 16MiB on 32 GPUs")
    assert page.locator("[role=gridcell]").count() == 13 * 29


@pytest.mark.large
def test_other_axes_and_another_baseline(opened: Opened) -> None:
    page = opened.go(MAP)
    page.get_by_label("Across", exact=True).select_option("gpus")
    page.get_by_label("To", exact=True).first.fill("16")
    page.get_by_label("Compared with", exact=True).select_option("bvn")
    page.wait_for_url(re.compile("x=gpus.*x-to=16.*against=bvn"))
    opened.settle()
    found = {(cell["x"], cell["y"]): cell["words"].replace("\xa0", " ") for cell in cells(opened)}
    assert len(found) == 4 * 5
    words = found[3, 0]
    baseline = ll.plan(
        "all-reduce", size="1MiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="100ns"), planner="bvn"
    )
    assert words.startswith("16 GPUs, 100 ns")
    assert f"planner bvn {show_time(baseline.total_s)}" in words
    first = cells(opened)
    page.reload()
    opened.settle()
    assert cells(opened) == first


@pytest.mark.large
def test_the_map_as_a_table_and_as_files(opened: Opened) -> None:
    page = opened.go(MAP)
    page.get_by_text("The map as a table").click()
    expect(page.get_by_role("region", name="How many times as fast").locator("tbody tr")).to_have_count(5)
    for words, start in {"JSON": b"{", "CSV": b"size,rec", "SVG": b"<svg", "PNG": b"\x89PNG"}.items():
        with page.expect_download() as found:
            page.get_by_role("group", name="Downloads").get_by_role("button", name=words).click()
        kept = found.value.path().read_bytes()
        assert kept.startswith(start)
        if words == "SVG":
            # Alone, it says what it shows and what its colours are.
            assert all(part in kept.decode() for part in ("circuits that never change", ">equal<"))


@pytest.mark.large
def test_sizes_are_of_a_pair_where_the_form_has_them_so(opened: Opened) -> None:
    page = opened.go(
        "/when-it-pays?collective=all-to-all&size=64KiB/pair&gpus=8&x-from=4KiB&x-to=1MiB&x-points=5&y-points=4"
    )
    plan = ll.plan("all-to-all", size="4KiB/pair", fabric=ll.Fabric(gpus=8, reconfiguration_delay="10ns"))
    said = {(cell["x"], cell["y"]): cell["words"].replace("\xa0", " ") for cell in cells(opened)}
    assert said[0, 0].startswith(f"4 KiB a pair, 10 ns: {show_time(plan.total_s)} with")
    page.locator('[role="gridcell"][data-x="0"][data-y="0"]').click()
    page.wait_for_url(re.compile(r"/plan\?.*size=4KiB/pair"))
    opened.settle()
    assert plan.algorithm in page.locator(".headline").inner_text()


@pytest.mark.large
@pytest.mark.parametrize(
    ("collective", "pair", "axes"),
    [
        ("all-reduce", "", "x=size&y=reconfiguration-delay"),
        ("all-reduce", "", "x=reconfiguration-delay&y=size"),
        ("all-reduce", "", "x=size&y=startup"),
        ("all-to-all", "/pair", "x=size&y=reconfiguration-delay"),
    ],
)
def test_a_large_map_is_what_one_request_gets(
    opened: Opened, server: Served, collective: str, pair: str, axes: str
) -> None:
    ranges = {
        "size": (f"1KiB{pair}", f"64MiB{pair}"),
        "reconfiguration-delay": ("100ns", "1ms"),
        "startup": ("100ns", "10us"),
    }
    x, y = (axis.partition("=")[2] for axis in axes.split("&"))
    asked = "".join(
        f"&{letter}-from={ranges[name][0]}&{letter}-to={ranges[name][1]}&{letter}-points={points}"
        for letter, name, points in (("x", x, 11), ("y", y, 10))
    )
    page = opened.go(f"/when-it-pays?collective={collective}&size=1MiB{pair}&gpus=8&{axes}{asked}")
    with page.expect_download() as found:
        page.get_by_role("group", name="Downloads").get_by_role("button", name="JSON").click()
    shown = json.loads(found.value.path().read_bytes())
    whole = server.post(
        "map",
        options={"collective": collective, "size": f"1MiB{pair}", "gpus": "8"},
        against=None,
        **{
            letter: {"option": name, "from": ranges[name][0], "to": ranges[name][1], "points": points}
            for letter, name, points in (("x", x, 11), ("y", y, 10))
        },
    ).json()
    told = ("x_index", "y_index", "x", "y", "total_s", "reconfigurations", "planner", "algorithm", "lower_bound_s")
    assert len(shown["cells"]) == 110
    assert [[cell[key] for key in told] for cell in shown["cells"]] == [
        [cell[key] for key in told] for cell in whole["cells"]
    ]
    for letter in ("x", "y"):
        assert shown[letter] == whole[letter]


@pytest.mark.large
def test_an_axis_that_is_wrong_says_so(opened: Opened) -> None:
    page = opened.go(MAP)
    page.get_by_label("From", exact=True).first.fill("2GiB of it")
    expect(page.locator("fieldset .wrong").first).to_be_visible()
    opened.forgive("422")


@pytest.mark.large
@pytest.mark.parametrize(
    ("said", "words"),
    [("against=nonsense", "unknown name `nonsense`"), ("x-points=many", "`many` is not accepted")],
)
def test_what_an_address_says_wrong_is_named(opened: Opened, said: str, words: str) -> None:
    opened.page.goto(f"{opened.address}/when-it-pays?collective=all-reduce&size=1MiB&gpus=8&{said}")
    expect(opened.page.get_by_text(words).first).to_be_visible()
    opened.forgive("422")


@pytest.mark.large
def test_a_planner_that_is_set_is_part_of_what_is_said(opened: Opened) -> None:
    page = opened.go(f"{MAP}&planner=static")
    words = page.locator(".sentence").inner_text()
    assert words.startswith("For all-reduce on 16 GPUs with planner static, changing circuits does not pay anywhere")


def test_a_map_without_any_plan_says_why(opened: Opened) -> None:
    page = opened.go(f"{MAP}&planner=exact&electrical=4:3600Gbps:100ns")
    with pytest.raises(ll.InputError, match="at most 9 with planner exact") as refused:
        ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=16, electrical="4:3600Gbps:100ns"), planner="exact")
    words = page.locator(".sentence").inner_text()
    assert words.endswith(f"none of the 25 cells has a plan – {refused.value}.")
    assert "pay" not in words
    assert all(f"no plan ({refused.value})" in cell["words"] for cell in cells(opened))
    expect(page.get_by_text("25 of 25 cells, 0 with a plan")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(page.locator(".result.outdated")).to_have_count(0)


@pytest.mark.large
def test_a_map_says_on_how_many_plans_it_rests(opened: Opened) -> None:
    axes = "&x=gpus&x-from=4&x-to=16&y-from=100ns&y-to=1ms&y-points=3"
    page = opened.go(f"/when-it-pays?collective=all-reduce&size=1MiB&gpus=4&planner=exact{axes}")
    found = cells(opened)
    planned = [cell for cell in found if "no plan" not in cell["words"]]
    # The planner takes at most 9 GPUs, and the axis has 4, 8 and 16.
    assert (len(planned), len(found)) == (6, 9)
    words = page.locator(".sentence").inner_text()
    assert words.startswith("On 6 of 9 cells (3 without a plan): for all-reduce of 1MiB")
    assert "this map" not in words
    expect(page.get_by_text("9 of 9 cells, 6 with a plan")).to_be_visible()


@pytest.mark.large
@pytest.mark.parametrize(
    ("known", "words"),
    [
        ([None, None], "So far, for this, none of 2 computed cells has a plan – size: too small."),
        (
            [2.0, None],
            "So far, on 1 of 3 cells (1 without a plan): for this, changing circuits pays everywhere on these",
        ),
        (
            [1.0, None],
            "So far, on 1 of 3 cells (1 without a plan): for this, changing circuits does not pay anywhere on",
        ),
        ([2.0, None, 2.0], "On 2 of 3 cells (1 without a plan): for this, changing circuits pays everywhere on these"),
        ([2.0, 2.0, 2.0], "For this, changing circuits pays everywhere on this map"),
    ],
)
def test_sentences_count_cells_that_have_a_plan(opened: Opened, known: list[float | None], words: str) -> None:
    page = opened.go(MAP)
    told = page.evaluate(
        """async (known) => {
          const { sentenceOf } = await import("/static/js/map-words.js");
          const cells = known.map((speedup) => ({
            speedup, total_s: speedup && 1, reconfigurations: speedup && 1, reason: speedup ? "" : "size: too small",
          }));
          const [x, y] = [{ option: "size", values: [1, 2, 4] }, { option: "startup", values: [1] }];
          const map = { x, y, cell: (place) => cells[place] };
          return sentenceOf({ map, own: { x: 0, y: 0 }, problem: "this", against: "others", of: 3 });
        }""",
        known,
    )
    assert told.startswith(words)


@pytest.mark.large
def test_what_no_map_is_made_of_is_refused_at_once(opened: Opened) -> None:
    page = opened.page
    problem = "collective=all-reduce&size=1MiB&gpus=16&electrical=4:3600Gbps:100ns"
    page.goto(f"{opened.address}/when-it-pays?{problem}")
    expect(page.get_by_text("many points are planned on circuits alone").first).to_be_visible()
    expect(page.locator("[role=gridcell]")).to_have_count(0)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    opened.forgive("422")
    # A plan of it leads to no map.
    opened.go(f"/plan?{problem}")
    expect(page.get_by_role("link", name="Compare all planners")).to_be_visible()
    expect(page.get_by_role("link", name="when reconfiguring pays")).to_have_count(0)
    opened.go("/plan?collective=all-reduce&size=1MiB&gpus=16&pair-rates=inside:4:800Gbps:100ns")
    expect(page.get_by_role("link", name="when reconfiguring pays")).to_be_visible()


@pytest.mark.large
def test_cells_without_a_ratio_do_not_count_as_slower(opened: Opened) -> None:
    # From a start that does not join all GPUs no plan leaves circuits as they are.
    page = opened.go(f"{MAP}&initial=circulant:2")
    assert all(cell["words"].endswith("no plan") for cell in cells(opened))
    assert page.locator(".legend li").first.inner_text() == "equal"
    words = "none of the 25 cells has a plan of circuits that never change to compare with."
    assert page.locator(".sentence").inner_text().endswith(words)


@pytest.mark.large
@pytest.mark.parametrize("said", ["x=planner", "y=colour", "layer=nonsense"])
def test_what_an_address_says_and_no_field_has_is_said(opened: Opened, said: str) -> None:
    page = opened.go(f"{MAP.replace('&x-from=1KiB&x-to=64MiB', '')}&{said}")
    expect(page.locator(".notice")).to_contain_text(f"The address says {said}")
    assert len(cells(opened)) > 0


@pytest.mark.large
def test_a_map_is_stopped_and_says_how_far_it_is(opened: Opened) -> None:
    page = opened.page
    page.goto(f"{opened.address}/when-it-pays?collective=all-to-all&size=1MiB&gpus=24&matrix=zipf:0.9&ports=2")
    stop = page.get_by_role("button", name="Stop")
    stop.focus()
    page.keyboard.press("Enter")
    notice = page.locator(".result .notice")
    expect(notice).to_contain_text("Stopped:")
    done, of = (int(number) for number in re.findall(r"\d+", notice.inner_text())[:2])
    assert 0 < done < of
    assert page.locator("[role=gridcell]").count() == of
    assert page.locator(".sentence").inner_text().startswith(f"So far, on {done} of {of} cells: for all-to-all")
    assert "this map" not in page.locator(".sentence").inner_text()
    told = sum(cell["words"] != "not computed yet" for cell in cells(opened))
    assert told == done
    # What is not computed looks like its neighbours: the picture is whole.
    assert page.evaluate("[...document.querySelectorAll('[role=gridcell]')].every((cell) => cell.style.fill !== '')")
    expect(stop).to_be_hidden()
    # The rest begins with what is there.
    page.get_by_role("button", name="Compute on").click()
    expect(page.locator("progress")).to_be_visible()
    first = page.locator(".card .quiet").first
    page.wait_for_function("(one) => /^[0-9]+ of/.test(one.textContent)", arg=first.element_handle())
    assert int(first.inner_text().split()[0]) >= done
