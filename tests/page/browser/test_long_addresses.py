"""Pasted text is packed in the address; values for which it is too short are named, saved and asked for."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

import lightloom as ll
from lightloom._core import show_time
from tests.page.browser.test_training import WORKLOAD, compact, headline

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened

RANKS = 8
MATRIX = [[0 if row == column else 1 + (row + column) % 3 for column in range(RANKS)] for row in range(RANKS)]
UNPACKED = """
(address) => {
  const packed = new URLSearchParams(new URL(address).hash.slice(1)).get('packed');
  const letters = atob(packed.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(letters, (one) => one.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text();
}
"""


def paste_workload(opened: Opened, workload: dict[str, Any]) -> None:
    page = opened.page
    if page.get_by_label("Training job", exact=True).input_value() != "pasted":
        page.get_by_label("Training job", exact=True).select_option(label="A workload of your own (JSON)")
    page.get_by_label("Workload", exact=True).fill(json.dumps(workload))


def expected(workload: dict[str, Any]) -> str:
    return compact(show_time(ll.train(ll.Workload.of(workload), fabric=ll.Fabric()).total_s))


def long_workload() -> dict[str, Any]:
    """One whose names no compression shortens much."""
    draw = random.Random(7)  # noqa: S311
    nodes: list[dict[str, Any]] = []
    for place in range(600):
        name = "".join(draw.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=160))
        after = [nodes[-1]["id"]] if nodes else []
        nodes.append({"id": f"{place}-{name}", "kind": "compute", "duration_s": 1e-3, "after": after})
    return {**WORKLOAD, "nodes": nodes}


@pytest.mark.large
def test_a_workload_is_in_the_address(opened: Opened) -> None:
    page = opened.go("/training?model=bert-pccl&ranks=8")
    paste_workload(opened, WORKLOAD)
    page.wait_for_url(re.compile("model=pasted.*#packed="))
    opened.settle()
    address = page.url
    # Nothing of it is sent to a server by who opens the address.
    assert "workload" not in address.partition("#")[0]
    assert json.loads(json.loads(page.evaluate(UNPACKED, address))["workload"]) == WORKLOAD
    other = opened.context.new_page()
    other.goto(address)
    expect(other.locator(".headline")).to_contain_text("8 ranks")
    assert compact(other.locator(".headline .first dd").first.inner_text()) == expected(WORKLOAD)
    assert json.loads(other.get_by_label("Workload", exact=True).input_value()) == WORKLOAD
    other.close()


@pytest.mark.large
def test_each_workload_is_an_entry_of_the_history(opened: Opened) -> None:
    page = opened.go("/training?model=bert-pccl&ranks=8")
    shorter = {**WORKLOAD, "nodes": WORKLOAD["nodes"][:1]}
    for workload in (WORKLOAD, shorter):
        paste_workload(opened, workload)
        page.get_by_label("Workload", exact=True).dispatch_event("change")
        expect(page.locator(".headline .first dd").first).to_have_text(re.compile(r"\d"))
        page.wait_for_function("(text) => document.querySelector('textarea').value === text", arg=json.dumps(workload))
        opened.settle()
        page.wait_for_timeout(300)
    assert headline(opened) == expected(shorter)
    page.reload()
    opened.settle()
    assert headline(opened) == expected(shorter)


@pytest.mark.large
@pytest.mark.parametrize("view", ["plan", "compare"])
def test_a_matrix_is_in_the_address(opened: Opened, view: str) -> None:
    page = opened.go(f"/{view}?collective=all-to-all&size=8MiB&gpus={RANKS}")
    page.get_by_text("More of the problem").click()
    page.get_by_label("Matrix", exact=True).fill(json.dumps(MATRIX))
    page.wait_for_url(re.compile("#packed="))
    assert "matrix" not in page.url
    opened.settle()
    plan = ll.plan("all-to-all", size="8MiB", fabric=ll.Fabric(gpus=RANKS), matrix=MATRIX)
    shown = page.locator(".headline .first dd" if view == "plan" else ".sentence").first
    assert compact(show_time(plan.total_s)) in compact(shown.inner_text())
    page.reload()
    opened.settle()
    assert json.loads(page.get_by_label("Matrix", exact=True).input_value()) == MATRIX
    assert compact(show_time(plan.total_s)) in compact(shown.inner_text())
    # The link past the form leads to the result and leaves the address as it is.
    address = page.url
    page.get_by_role("link", name="Skip to the result").press("Enter")
    assert page.evaluate("document.activeElement.id") == "result"
    page.wait_for_timeout(100)
    assert page.url == address
    # A link within the page takes it along.
    name = "Compare all planners" if view == "plan" else "weave"
    page.get_by_role("link", name=name).first.click()
    page.wait_for_url(re.compile("#packed="))
    opened.settle()
    assert json.loads(page.get_by_label("Matrix", exact=True).input_value()) == MATRIX


@pytest.mark.large
def test_what_an_address_is_too_short_for_is_said_and_saved(opened: Opened) -> None:
    page = opened.go("/training?model=bert-pccl&ranks=8")
    workload = long_workload()
    paste_workload(opened, workload)
    page.wait_for_url(re.compile("#lacks=workload$"))
    opened.settle()
    notice = page.locator(".notice")
    expect(notice).to_contain_text("lacks the workload")
    expect(notice).to_contain_text("32\u00a0000")
    with page.expect_download() as found:
        notice.get_by_role("button", name="Save workload.json").click()
    assert json.loads(found.value.path().read_bytes()) == workload
    # Who opens the address is told, and shown no plan of anything else.
    page.goto("about:blank")
    page.goto(opened.address + "/training?model=pasted#lacks=workload")
    expect(page.locator(".field .wrong:visible")).to_contain_text("too short")
    assert page.locator(".headline").count() == 0
    paste_workload(opened, WORKLOAD)
    opened.settle()
    assert headline(opened) == expected(WORKLOAD)
    assert page.locator(".notice").count() == 0


@pytest.mark.large
def test_an_address_that_lacks_a_matrix_makes_no_other_plan(opened: Opened) -> None:
    page = opened.page
    page.goto(f"{opened.address}/plan?collective=all-to-all&size=8MiB&gpus={RANKS}#lacks=matrix")
    expect(page.locator('[data-field="matrix"] .wrong')).to_contain_text("too short")
    assert page.locator(".headline").count() == 0
    # Who goes on without it is told so, until it is there.
    page.get_by_label("Ports", exact=True).fill("2")
    expect(page.locator(".headline")).to_be_visible()
    expect(page.locator(".notice")).to_contain_text("without the matrix")
    page.get_by_label("Matrix", exact=True).fill(json.dumps(MATRIX))
    expect(page.locator(".notice")).to_have_count(0)


@pytest.mark.large
@pytest.mark.parametrize(
    "packed", ["", "AAAA", "%%%", "q1YqSy0qzszPU7JSMtRRKs8vyk5NUbJSSjQyMTW3sDQwNFKqBQA", "8" * 3000]
)
def test_an_address_that_was_cut_off_says_so(opened: Opened, packed: str) -> None:
    page = opened.page
    page.goto(f"{opened.address}/plan?collective=all-reduce&size=1MiB&gpus=8#packed={packed}")
    expect(page.locator(".notice")).to_contain_text("cut off or damaged")
    expect(page.locator(".headline")).to_be_visible()


@pytest.mark.large
def test_what_unpacks_to_more_than_a_request_may_have_is_refused(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-reduce&size=1MiB&gpus=8")
    packed = page.evaluate(
        "new Response(new Blob([JSON.stringify({matrix: '0'.repeat(6 << 20)})]).stream().pipeThrough("
        "new CompressionStream('deflate-raw'))).arrayBuffer().then((bytes) => btoa(String.fromCharCode(..."
        "new Uint8Array(bytes))).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''))"
    )
    assert len(packed) < 32_000
    page.goto("about:blank")
    page.goto(f"{opened.address}/plan?collective=all-reduce&size=1MiB&gpus=8#packed={packed}")
    expect(page.locator(".notice")).to_contain_text("cut off or damaged")
