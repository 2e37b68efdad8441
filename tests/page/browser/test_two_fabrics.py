"""Two fabrics: the same problem on both, next to each other, with what differs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import lightloom as ll
from lightloom._core import show_time
from tests.page.browser.chromium import NARROW, WIDE
from tests.page.browser.rules import is_wider_than_the_screen, violations

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened

BOTH = "/two-fabrics?collective=all-reduce&size=64KiB&gpus=16&reconfiguration-delay=1us&other-reconfiguration-delay=1ms"


def plans() -> tuple[ll.Plan, ll.Plan]:
    fast, slow = (
        ll.plan("all-reduce", size="64KiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay=delay))
        for delay in ("1us", "1ms")
    )
    assert fast.total_s < slow.total_s
    assert fast.reconfigurations > slow.reconfigurations == 0
    return fast, slow


def said(words: str) -> str:
    return words.replace("\xa0", " ")


@pytest.mark.large
def test_both_plans_and_what_differs(opened: Opened) -> None:
    page = opened.go(BOTH)
    fast, slow = plans()
    sentence = said(page.locator(".sentence").inner_text())
    ratio = f"{slow.total_s / fast.total_s:.2f}×"
    assert f"delay 1us it takes {show_time(fast.total_s)}, {ratio} as fast as with" in sentence
    assert show_time(slow.total_s) in sentence
    assert sentence.endswith(f"The first has {fast.reconfigurations} reconfigurations, the second no reconfiguration.")
    rows = {
        (cells := [said(cell) for cell in row.locator("td").all_inner_texts()])[0]: cells[1:]
        for row in page.locator("tr.difference").all()
    }
    assert rows["Time"] == [show_time(fast.total_s), show_time(slow.total_s), f"{ratio}, worse"]
    assert rows["Reconfig."][2] == "less, better"
    assert rows["Reconfigurations"] == [str(fast.reconfigurations), "0", "less"]
    assert rows["Algorithm"] == [fast.algorithm, slow.algorithm, rows["Algorithm"][2]]
    # Worse and better are words too, and each a colour of its own.
    colours = {
        kind: page.locator(f"tr.difference.{kind} td:last-child").first.evaluate("(one) => getComputedStyle(one).color")
        for kind in ("better", "worse")
    }
    assert colours["better"] != colours["worse"]
    # Somebody who is sent the address sees the same.
    before = page.locator(".result").inner_text()
    page.reload()
    opened.settle()
    assert page.locator(".result").inner_text() == before


@pytest.mark.large
def test_one_player_moves_both_until_each_is_done(opened: Opened) -> None:
    page = opened.go(BOTH)
    fast, slow = plans()
    page.locator("main").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".side .quiet").first).to_have_text(f"step 2 of {len(fast.steps)}")
    between = (fast.total_s + slow.total_s) / 2 / slow.total_s
    page.get_by_label("Time in the plan", exact=True).fill(str(round(2000 * between)))
    texts = [said(text) for text in page.locator(".side > .quiet").all_inner_texts()]
    assert texts[0] == f"done after {show_time(fast.total_s)}"
    assert re.fullmatch(rf"step \d+ of {len(slow.steps)}", texts[1])


@pytest.mark.large
def test_what_differs_is_chosen_by_keys_alone(opened: Opened) -> None:
    page = opened.go(BOTH)
    page.get_by_role("button", name="One more difference").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Option that differs", exact=True).last).to_be_focused()
    page.keyboard.type("Ports")
    page.keyboard.press("Tab")
    page.keyboard.type("2")
    page.wait_for_url(re.compile("other-reconfiguration-delay=1ms&other-ports=2"))
    opened.settle()
    slow = ll.plan("all-reduce", size="64KiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="1ms", ports=2))
    expect(page.locator(".headline").last).to_contain_text(show_time(slow.total_s).split()[0])
    expect(opened.code()).to_contain_text("--ports 2")
    page.get_by_role("button", name="Remove this difference").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"delay=1us&other-ports=2$"))
    opened.settle()
    assert page.locator(".sentence").inner_text().count("ports 2") == 1


def test_an_error_of_the_second_is_at_its_row(opened: Opened) -> None:
    opened.page.goto(f"{opened.address}{BOTH}&other-ports=many")
    expect(opened.page.locator("fieldset .wrong").last).to_contain_text("many")
    expect(opened.page.get_by_label("Value of the second", exact=True).last).to_have_attribute("aria-invalid", "true")
    opened.forgive("422")


@pytest.mark.large
@pytest.mark.parametrize("viewport", [WIDE, NARROW])
def test_they_are_next_to_each_other_or_one_above_the_other(opened: Opened, axe: str, viewport: dict[str, int]) -> None:
    page = opened.page
    page.set_viewport_size(viewport)  # type: ignore[arg-type]
    opened.go(BOTH)
    first, second = (page.locator(".sides .headline").nth(place).bounding_box() for place in (0, 1))
    assert first is not None
    assert second is not None
    if viewport is WIDE:
        assert first["y"] == second["y"]
        assert first["x"] + first["width"] < second["x"]
    else:
        assert first["x"] == second["x"]
        assert first["y"] + first["height"] < second["y"]
    assert not is_wider_than_the_screen(opened)
    assert violations(opened, axe) == []


@pytest.mark.large
def test_rows_of_the_fabrics_are_no_verdicts_and_neither_are_bounds(opened: Opened) -> None:
    page = opened.go("/two-fabrics?collective=all-reduce&size=1MiB&fabric=nvl72&other-fabric=pccl-servers")
    rows = {
        (cells := [said(cell) for cell in row.locator("td").all_inner_texts()])[0]: cells[1:]
        for row in page.locator("tr.difference").all()
    }
    one, other = (ll.Fabric.preset(name) for name in ("nvl72", "pccl-servers"))
    assert one.electrical is not None
    assert rows["GPUs"][:2] == [str(one.gpus), str(other.gpus)]
    assert rows["Bandwidth of a port"][:2] == ["400 Gbit/s", "3.6 Tbit/s"]
    assert rows["Islands"][0].startswith("72 GPUs round electrical switches of 7.2 Tbit/s")
    assert rows["Islands"][1] == "none"
    # Both have one port.
    assert (one.ports, "Ports" in rows) == (other.ports, False)
    for name in ("Lower bound", "Time over the bound", "GPUs", "Bandwidth of a port", "Islands"):
        assert not re.search("better|worse", rows[name][2])
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    table = page.get_by_role("region", name="Both plans")
    assert table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
