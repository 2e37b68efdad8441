"""A server that is busy, is gone or comes back; colours; a page that asks nobody else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.page.browser.chromium import Opened
from tests.page.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

PROBLEM = "/plan?collective=all-reduce&size=1MiB&gpus=16"


@pytest.mark.large
def test_a_busy_server_is_asked_again(opened: Opened) -> None:
    refused: list[str] = []

    def answer(route: Route) -> None:
        if len(refused) < 2:
            refused.append(route.request.url)
            body = json.dumps({"error": "64 requests wait already", "retry_after_s": 1})
            route.fulfill(status=429, headers={"Retry-After": "1"}, content_type="application/json", body=body)
        else:
            route.continue_()

    page = opened.page
    page.route("**/api/plan", answer)
    page.goto(opened.address + PROBLEM)
    expect(page.locator(".notice")).to_contain_text("too much to do")
    page.get_by_role("button", name="Ask again now").click()
    opened.settle()
    assert len(refused) == 2
    assert page.locator(".notice").count() == 0
    opened.forgive("429")


@pytest.mark.large
@pytest.mark.slow
def test_a_server_that_has_ended_is_said_and_waited_for(browser: Browser) -> None:
    first = Served.start("--workers", 1)
    port = first.port
    opened = Opened.at(browser, first.address)
    try:
        page = opened.go(PROBLEM)
        before = page.locator(".headline").inner_text()
        first.process.terminate()
        first.process.communicate(timeout=20)
        page.get_by_label("Size", exact=True).fill("2MiB")
        expect(page.locator(".notice")).to_contain_text("does not answer")
        assert page.locator(".headline").inner_text() == before
        again = Served.start("--workers", 1, "--port", port)
        try:
            page.get_by_role("button", name="Ask again now").click()
            opened.settle()
            assert page.locator(".headline").inner_text() != before
        finally:
            again.process.terminate()
            again.process.communicate(timeout=20)
        opened.forgive("ERR_CONNECTION_REFUSED")
        opened.forgive("503")
        assert opened.problems == []
    finally:
        opened.context.close()
        first.process.kill()


@pytest.mark.large
def test_the_colours_that_are_chosen_stay(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    colour = "getComputedStyle(document.body).color"
    light = page.evaluate(colour)
    page.get_by_role("combobox", name="Colours", exact=True).select_option("dark")
    dark = page.evaluate(colour)
    assert dark != light
    page.reload()
    opened.settle()
    assert page.evaluate(colour) == dark
    assert page.get_by_role("combobox", name="Colours", exact=True).input_value() == "dark"


@pytest.mark.large
def test_the_policy_refuses_what_is_written_into_the_page(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    page.evaluate(
        "() => { const script = document.createElement('script'); script.textContent = 'window.ran = true';"
        " document.head.append(script); const style = document.createElement('style');"
        " style.textContent = 'body { color: rgb(1, 2, 3) }'; document.head.append(style); }"
    )
    assert page.evaluate("window.ran === undefined && getComputedStyle(document.body).color !== 'rgb(1, 2, 3)'")
    assert len(opened.problems) == 2
    opened.forgive("Content Security Policy")


@pytest.mark.large
def test_words_of_an_address_are_text(opened: Opened) -> None:
    page = opened.page
    page.goto(f"{opened.address}/plan?collective=all-reduce&size=%3Cimg%20src=x%20onerror=alert(1)%3E&gpus=16")
    expect(page.locator('[data-field="size"] .wrong')).to_contain_text("<img")
    assert page.locator("main img").count() == 0
    opened.forgive("422")


@pytest.mark.large
def test_a_slider_asks_once_it_rests(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-reduce&size=1MiB&gpus=64")
    page.wait_for_load_state("networkidle")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/api/" in request.url else None)
    box = page.get_by_label("Size, slider", exact=True).bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.4, y)
    # No time passes during the drag, however busy the machine is: the slider does not rest.
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
    page.mouse.down()
    for step in range(20):
        page.mouse.move(box["x"] + box["width"] * (0.4 + 0.02 * step), y)
    page.mouse.up()
    page.clock.resume()
    page.wait_for_url("**size=*GiB*")
    opened.settle()
    page.wait_for_load_state("networkidle")
    # The plan, that of circuits that never change, the first step's loads, ports, meanings of names, and the code.
    assert 1 <= len(asked) <= 6, asked


@pytest.mark.large
def test_names_of_an_address_that_are_no_options_are_said(opened: Opened) -> None:
    page = opened.go(f"{PROBLEM}&colour=red&speed=9")
    expect(page.locator(".notice")).to_contain_text("The address says colour, speed")
    assert page.locator(".headline").count() == 1
    page.goto(opened.address + PROBLEM)
    opened.settle()
    assert page.locator(".notice").count() == 0


@pytest.mark.large
def test_what_was_found_before_the_time_was_over_is_shown(opened: Opened) -> None:
    cell = {"x_index": 0, "y_index": 0, "x": 1024, "y": 1e-7, "total_s": 1e-6, "against_s": 2e-6, "speedup": 2.0}
    row = {**cell, "reconfigurations": 1, "planner": "auto", "algorithm": "ring", "lower_bound_s": None, "gap": None}
    error = {"error": "the request takes longer than 1 s", "field": "", "status": 504}
    events = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in (("row", row), ("error", error)))
    page = opened.page
    page.route("**/api/map", lambda route: route.fulfill(content_type="text/event-stream", body=events))
    page.goto(f"{opened.address}/when-it-pays?collective=all-reduce&size=1MiB&gpus=4")
    expect(page.locator(".result .notice")).to_contain_text("What was found until then is shown")
    opened.settle()
    assert page.locator("rect.cell:not(.empty)").count() == 1
    # Nothing runs that could be stopped; the rest of the map can be computed.
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(page.get_by_role("button", name="Compute on")).to_be_visible()


@pytest.mark.large
def test_the_code_is_that_of_the_form_after_a_refusal_and_while_it_is_computed(opened: Opened) -> None:
    """The server is made to refuse, and to answer late; what it says of the code is its own."""
    page = opened.go(PROBLEM)
    command = page.locator(".code.command code")
    # Far below the screen it is there after a while, though nobody comes near.
    expect(command).to_contain_text("--size 1MiB")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/plan", hold)
    page.get_by_label("Size", exact=True).fill("2MiB")
    page.get_by_label("Size", exact=True).press("Enter")
    card = page.locator("section[aria-labelledby='as-code']")
    expect(card).to_have_class("card outdated")
    expect(card.get_by_role("button").first).to_be_disabled()
    expect(command).to_contain_text("--size 2MiB")
    expect(card).to_have_class("card")
    held[-1].fulfill(status=504, content_type="application/json", body=json.dumps({"error": "it takes too long"}))
    expect(page.locator(".notice.bad")).to_contain_text("it takes too long")
    page.unroute("**/api/plan")
    page.route("**/api/plan", lambda route: route.fulfill(status=504, content_type="application/json", body="{}"))
    page.get_by_label("GPUs", exact=True).fill("32")
    expect(command).to_contain_text("--gpus 32")
    opened.forgive("504")
