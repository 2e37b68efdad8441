"""The view of a plan: form, address, sentences, downloads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest
from playwright.sync_api import expect

import lightloom as ll
from lightloom._core import show_time
from lightloom.formats import written_formats
from lightloom.formats.export import exported
from lightloom.inputs.options import options_of

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened

PROBLEM = "/plan?collective=all-reduce&size=1MiB&gpus=16"


def headline(opened: Opened) -> str:
    return opened.page.locator(".headline .first dd").first.inner_text().replace("\n", " ")


def compact(words: str) -> str:
    return re.sub(r"\s", "", words)


@pytest.mark.large
def test_the_headline_is_the_plan_s(opened: Opened) -> None:
    opened.go(PROBLEM)
    plan = ll.plan("all-reduce", size="1MiB", fabric=ll.Fabric(gpus=16))
    assert compact(headline(opened)) == compact(show_time(plan.total_s))
    words = opened.page.locator(".headline").inner_text()
    assert plan.algorithm in words
    assert compact(show_time(plan.lower_bound_s)) in compact(words)
    assert f"{plan.algbw / 1e9:.4g}" in words
    assert f"{plan.busbw / 1e9:.4g}" in words


@pytest.mark.large
def test_a_sentence_says_whether_changing_circuits_is_worth_it(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-reduce&size=64KiB&gpus=16&reconfiguration-delay=1us")
    plan = ll.plan("all-reduce", size="64KiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="1us"))
    fixed = ll.plan("all-reduce", size="64KiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="100s"))
    assert plan.reconfigurations > 0
    assert fixed.reconfigurations == 0
    sentence = page.locator(".sentence")
    expect(sentence).to_contain_text(f"{fixed.total_s / plan.total_s:.2f}× as fast")
    assert show_time(fixed.total_s) in sentence.inner_text().replace("\xa0", " ")
    page.get_by_label("Reconfiguration delay", exact=True).fill("1ms")
    expect(sentence).to_contain_text("does not pay here")
    opened.settle()


def test_a_planner_that_is_set_is_no_verdict_on_changing_circuits(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-reduce&size=64KiB&gpus=16&reconfiguration-delay=1us&planner=static")
    fabric = ll.Fabric(gpus=16, reconfiguration_delay="1us")
    best = ll.plan("all-reduce", size="64KiB", fabric=fabric)
    static = ll.plan("all-reduce", size="64KiB", fabric=fabric, planner="static")
    assert (static.reconfigurations, best.reconfigurations > 0) == (0, True)
    sentence = page.locator(".sentence")
    expect(sentence).to_contain_text("With planner static circuits stay as they are")
    words = sentence.inner_text().replace("\xa0", " ")
    assert f"changes them {best.reconfigurations} times and is {static.total_s / best.total_s:.2f}× as fast" in words
    assert show_time(best.total_s) in words


@pytest.mark.large
def test_a_fabric_with_a_name_says_what_its_fields_are(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-reduce&size=64KiB&gpus=16&fabric=mems-3d")
    delay = page.get_by_label("Reconfiguration delay", exact=True)
    expect(delay).to_have_attribute("placeholder", "15ms")
    expect(page.get_by_label("Reconfiguration delay, slider", exact=True)).to_have_attribute("aria-valuetext", "15ms")
    # The usual delay is not this fabric's: it is kept where it is entered.
    delay.fill("10us")
    page.wait_for_url(re.compile("reconfiguration-delay=10us"))
    opened.settle()
    plan = ll.plan(
        "all-reduce", size="64KiB", fabric=ll.Fabric.preset("mems-3d", gpus=16, reconfiguration_delay="10us")
    )
    assert compact(show_time(plan.total_s)) in compact(headline(opened))
    page.reload()
    opened.settle()
    assert compact(show_time(plan.total_s)) in compact(headline(opened))
    page.locator("details", has_text="More of the fabric").locator("summary").click()
    delay.fill("")
    page.get_by_label("Fabric", exact=True).select_option("sip")
    expect(delay).to_have_attribute("placeholder", "7us")
    opened.settle()


@pytest.mark.large
def test_a_change_of_the_form_is_planned_and_in_the_address(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    page.get_by_label("Reconfiguration delay", exact=True).fill("1ms")
    plan = ll.plan("all-reduce", size="1MiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="1ms"))
    expect(page.locator(".headline")).to_contain_text(compact(show_time(plan.total_s))[:4])
    opened.settle()
    assert "reconfiguration-delay=1ms" in page.url
    first = headline(opened)
    page.reload()
    opened.settle()
    assert headline(opened) == first
    assert page.get_by_label("Reconfiguration delay", exact=True).input_value() == "1ms"


@pytest.mark.large
def test_back_and_forward_show_what_was_there(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    before = headline(opened)
    page.get_by_label("Size", exact=True).fill("64MiB")
    page.get_by_label("Size", exact=True).blur()
    page.wait_for_url(re.compile("size=64MiB"))
    opened.settle()
    after = headline(opened)
    assert after != before
    page.go_back()
    page.wait_for_url(re.compile("size=1MiB"))
    opened.settle()
    assert headline(opened) == before
    page.go_forward()
    page.wait_for_url(re.compile("size=64MiB"))
    opened.settle()
    assert headline(opened) == after


@pytest.mark.large
def test_a_slider_moves_its_field(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    page.get_by_label("Size, slider", exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_label("Size", exact=True).input_value() == "2MiB"
    page.wait_for_url(re.compile("size=2MiB"))
    opened.settle()


@pytest.mark.large
def test_what_an_option_means_is_said_where_it_is_entered(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    options = {option.name: option for option in options_of("plan")}
    page.get_by_label("Reconfiguration delay", exact=True).focus()
    hint = page.locator(".hint")
    assert hint.inner_text() == f"--reconfiguration-delay {options['reconfiguration_delay'].meaning.replace('`', '')}"
    described = page.get_by_label("Bandwidth", exact=True).get_attribute("aria-describedby") or ""
    help_id = described.split()[0]
    assert page.locator(f"#{help_id}").text_content() == options["bandwidth"].meaning


@pytest.mark.large
def test_an_error_is_at_the_field_that_it_names(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    size = page.get_by_label("Size", exact=True)
    size.fill("many")
    wrong = page.locator('[data-field="size"] .wrong')
    expect(wrong).to_contain_text("size")
    assert size.get_attribute("aria-invalid") == "true"
    size.fill("2MiB")
    expect(wrong).to_be_hidden()
    opened.settle()
    assert size.get_attribute("aria-invalid") is None
    opened.forgive("422")


def test_an_address_that_is_wrong_says_so(opened: Opened) -> None:
    page = opened.page
    page.goto(f"{opened.address}/plan?collective=all-reduce&size=1MiB&gpus=16&planner=best")
    expect(page.locator('[data-field="planner"] .wrong')).to_contain_text("best")
    expect(page.get_by_label("Planner", exact=True)).to_be_visible()
    opened.forgive("422")


@pytest.mark.large
def test_the_problem_goes_along_to_another_view(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    page.get_by_role("link", name="Compare", exact=True).click()
    page.wait_for_url(re.compile("/compare.*gpus=16"))
    assert page.get_by_label("GPUs", exact=True).input_value() == "16"


@pytest.mark.large
@pytest.mark.slow
def test_downloads_are_what_they_say(opened: Opened, tmp_path: Path) -> None:
    page = opened.go(PROBLEM)
    buttons = page.get_by_role("group", name="Downloads").first
    starts = {"CSV": b"index,", "SVG": b"<?xml", "PNG": b"\x89PNG"}
    for words in ("JSON", *starts):
        with page.expect_download() as found:
            buttons.get_by_role("button", name=words).click()
        path = tmp_path / found.value.suggested_filename
        found.value.save_as(path)
        content = path.read_bytes()
        if words == "JSON":
            assert json.loads(content)["schema"] == "lightloom.plan/1"
        else:
            assert content.startswith(starts[words])


@pytest.mark.large
def test_a_plan_is_taken_to_switches_and_other_tools(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    card = page.get_by_role("region", name="For switches and other tools")
    with page.expect_download() as found:
        card.get_by_role("button", name="JSON").click()
    circuits = ll.circuits(ll.plan("all-reduce", size="1MiB", fabric=ll.Fabric(gpus=16)))
    assert json.loads(found.value.path().read_bytes()) == json.loads(circuits.to_json())
    card.get_by_label("Files of another tool", exact=True).select_option("msccl-xml")
    expect(card).to_contain_text("It cannot say: circuits")
    with page.expect_download() as found:
        card.get_by_role("button", name="Archive").click()
    with ZipFile(found.value.path()) as archive:
        assert archive.read("plan.xml").startswith(b"<algo")


@pytest.mark.large
@pytest.mark.parametrize(
    "rates", [{"pair-rates": "inside:4:800Gbps:100ns"}, {"ports": 2, "bandwidth": "400Gbps,200Gbps"}]
)
def test_archives_that_a_format_refuses_are_not_offered(opened: Opened, rates: dict[str, str | int]) -> None:
    told: dict[str, Any] = {key.replace("-", "_"): value for key, value in rates.items()}
    fabric = ll.Fabric(gpus=16, **told)
    plan = ll.plan("all-reduce", "1MiB", fabric=fabric)
    able = []
    for name, one in written_formats().items():
        try:
            exported(one, [plan], {})
        except ll.InputError as error:
            assert "rates" in str(error)
        else:
            able.append(name)
    opened.go(PROBLEM + "".join(f"&{key}={value}" for key, value in rates.items()))
    card = opened.page.get_by_role("region", name="For switches and other tools")
    expect(card.get_by_role("button", name="JSON")).to_be_visible()
    offered = card.get_by_label("Files of another tool", exact=True).locator("option")
    assert [one.get_attribute("value") for one in offered.all()] == able
    assert 0 < len(able) < len(written_formats())


@pytest.mark.large
def test_a_matrix_of_numbers(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-to-all&size=3MiB&gpus=3")
    page.get_by_text("More of the problem").click()
    page.get_by_label("Matrix", exact=True).fill("[[0, 2, 1], [1, 0, 1], [1, 1, 0]]")
    page.wait_for_url(re.compile("matrix="))
    opened.settle()
    plan = ll.plan("all-to-all", size="3MiB", fabric=ll.Fabric(gpus=3), matrix=[[0, 2, 1], [1, 0, 1], [1, 1, 0]])
    assert compact(headline(opened)) == compact(show_time(plan.total_s))
    page.reload()
    opened.settle()
    assert compact(headline(opened)) == compact(show_time(plan.total_s))


@pytest.mark.large
def test_the_command_is_copied(opened: Opened) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened.go(PROBLEM)
    opened.code().get_by_role("button", name="Copy: as a command").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("lightloom plan")
    assert "--size 1MiB" in copied
    assert "import lightloom" in opened.code("python").inner_text()


@pytest.mark.large
def test_many_gpus_are_drawn_in_part_or_not_at_all(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-reduce&size=64MiB&gpus=1024&planner=bvn&algorithm=recursive-doubling")
    expect(page.locator("main")).to_contain_text("one GPU in")
    page = opened.go("/plan?collective=all-reduce&size=64MiB&gpus=2048&planner=bvn&algorithm=recursive-doubling")
    expect(page.locator("main")).to_contain_text("too many to be drawn")
    assert page.locator("tbody tr").count() > 0


def test_names_are_explained(opened: Opened) -> None:
    page = opened.go("/plan?collective=all-reduce&size=1MiB&gpus=16&algorithm=recursive-doubling&planner=harvest")
    fabric = ll.Fabric(gpus=16)
    plan = ll.plan("all-reduce", size="1MiB", fabric=fabric, algorithm="recursive-doubling", planner="harvest")
    names = page.locator("dl.names")
    expect(names).to_contain_text("algorithm recursive-doubling")
    expect(names).to_contain_text("planner harvest")
    # Explanations come after the plan.
    expect(names).not_to_contain_text("not described yet")
    words = names.inner_text()
    for topology, explanation in zip(plan.topologies, plan.explanations, strict=True):
        assert topology.name in words
        assert explanation in words


@pytest.mark.large
def test_a_field_that_is_left_as_it_was_asks_nothing(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.url.endswith("/api/plan") else None)
    size = page.get_by_label("Size", exact=True)
    size.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("2MiB")
    opened.settle()
    answered = len(asked)
    assert answered
    size.blur()
    page.wait_for_timeout(300)
    opened.settle()
    assert len(asked) == answered


@pytest.mark.large
def test_steps_name_the_tiers_that_carry(opened: Opened) -> None:
    page = opened.go("/plan?collective=broadcast&size=16MiB&fabric=nvl72")
    plan = ll.plan("broadcast", size="16MiB", fabric=ll.Fabric.preset("nvl72"))
    steps = page.get_by_role("region", name="Steps of the plan")
    assert steps.locator("th").nth(2).inner_text() == "Tiers"
    shown = {frozenset(words.split(", ")) for words in steps.locator("tbody td:nth-child(3)").all_inner_texts()}
    loads = [{"electrical": step.electrical_load, "optical": step.load} for step in plan.steps]
    assert shown == {frozenset(tier for tier, load in each.items() if load) for each in loads}
    assert len(shown) > 1
    words = page.locator(".result > p.quiet").inner_text().replace("\xa0", " ")
    assert "islands of 72 GPUs round electrical switches of 7.2 Tbit/s, hop delay 500 ns." in words


@pytest.mark.large
def test_the_page_opens_on_the_problem_of_the_readme(opened: Opened) -> None:
    page = opened.go("/")
    readme = (Path(ll.__file__).parents[2] / "README.md").read_text("utf-8")
    asked = re.search(r"AllReduce of (\S+) MiB on (\d+) GPUs at (\S+) µs, its plan takes ([\d.]+ µs)", readme)
    assert asked is not None
    size, gpus, delay, total = asked.groups()
    assert compact(headline(opened)) == compact(total)
    assert page.get_by_label("Size", exact=True).input_value() == f"{size}MiB"
    assert page.get_by_label("GPUs", exact=True).input_value() == gpus
    assert page.get_by_label("Reconfiguration delay", exact=True).input_value() == f"{delay}us"


def test_an_address_that_leaves_the_delay_open_has_the_usual_one(opened: Opened) -> None:
    opened.go("/plan?gpus=16")
    plan = ll.plan("all-reduce", size="1MiB", fabric=ll.Fabric(gpus=16))
    assert compact(headline(opened)) == compact(show_time(plan.total_s))
