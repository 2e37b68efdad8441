"""The view of a training iteration: policies, course in time, break-even, a workload of one's own."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

import lightloom as ll
from lightloom import _core
from lightloom._core import show_size, show_time
from lightloom.advice.job import Job
from lightloom.inputs.workloads.model import preset_workload
from lightloom.training.break_even import DELAYS_S
from lightloom.training.communications import changes_within, communications
from lightloom.views.listings import everything
from lightloom.views.policy_titles import title_of

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened

PROBLEM = "/training?model=bert-pccl&ranks=8"
WORKLOAD: dict[str, Any] = {
    "schema": "lightloom.workload/1",
    "ranks": 8,
    "mesh": {"dp": 8},
    "groups": {},
    "nodes": [
        {"id": "forward", "kind": "compute", "duration_s": 1e-3, "after": []},
        {
            "id": "sum",
            "kind": "collective",
            "collective": "all-reduce",
            "axis": "dp",
            "size_bytes": 1 << 20,
            "after": ["forward"],
        },
    ],
}


def compact(words: str) -> str:
    return re.sub(r"\s", "", words)


def headline(opened: Opened) -> str:
    return compact(opened.page.locator(".headline .first dd").first.inner_text())


def trained(**fabric: Any) -> ll.Training:
    return ll.train("bert-pccl", ranks=8, fabric=ll.Fabric(**fabric))


@pytest.mark.large
def test_policies_are_those_of_the_iteration(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    training = trained()
    assert headline(opened) == compact(show_time(training.total_s))
    words = compact(page.get_by_role("region", name="Iteration time by policy").inner_text())
    titles = {name: title for name, title, *_ in _core.training_policies()}
    for name, time_s in training.policies.items():
        assert compact(f"{titles[name]} {show_time(time_s) if time_s is not None else 'cannot serve it'}") in words


@pytest.mark.large
def test_a_change_of_the_form_is_planned_and_in_the_address(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    page.get_by_label("Bandwidth", exact=True).fill("100Gbps")
    page.wait_for_url(re.compile("bandwidth=100Gbps"))
    opened.settle()
    assert headline(opened) == compact(show_time(trained(bandwidth="100Gbps").total_s))
    page.get_by_label("Policy", exact=True).select_option("static")
    page.wait_for_url(re.compile("policy=static"))
    opened.settle()
    page.reload()
    opened.settle()
    assert page.get_by_label("Policy", exact=True).input_value() == "static"


@pytest.mark.large
def test_the_timeline_is_the_iteration_s(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    assert page.locator(".row-names li").all_inner_texts() == ["compute", "dp", "port 1"]
    tracks = page.locator(".tracks")
    tracks.scroll_into_view_if_needed()
    box = tracks.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + 55)
    expect(page.locator(".timeline .readout")).to_contain_text("port 1")


@pytest.mark.large
def test_times_against_the_delay_are_computed_when_asked_for(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    page.get_by_role("button", name="Compute at delays").click()
    # The first of thirteen plans of the iteration is there after seconds, of a busy machine's time after many.
    expect(page.locator("svg.lines path")).not_to_have_count(0, timeout=60_000)
    page.get_by_text("As a table", exact=True).click()
    rows = page.get_by_role("region", name="Iteration times by reconfiguration delay").locator("tbody tr")
    assert rows.count() == 13
    first = compact(rows.first.inner_text())
    assert compact(show_time(trained(reconfiguration_delay="1us").total_s)) in first
    # It is said to those who do not see it once, not again where it is only drawn anew.
    status = page.locator("#status")
    expect(status).to_contain_text("Changing circuits")
    status.evaluate("(one) => { one.textContent = ''; }")
    width = page.locator("svg.lines").get_attribute("viewBox")
    page.set_viewport_size({"width": 1100, "height": 900})
    expect(page.locator("svg.lines")).not_to_have_attribute("viewBox", width or "")
    page.wait_for_timeout(500)
    assert status.inner_text() == ""


@pytest.mark.large
def test_a_gain_is_over_the_best_fixed_circuits(opened: Opened) -> None:
    page = opened.go("/training?model=llama-3-70b&ranks=64&ports=4")
    page.get_by_role("button", name="Compute at delays").click()
    fixed = title_of("one-shot")
    sentence = page.locator(".card .sentence", has_text=f"the {fixed}")
    expect(sentence).to_have_count(1, timeout=60_000)
    made = [ll.train("llama-3-70b", ranks=64, fabric=ll.Fabric(ports=4, reconfiguration_delay=s)) for s in DELAYS_S]
    times = [(one.policies["one-shot"], one.policies["carry"]) for one in made]
    gain = max(fixed_s / own_s for fixed_s, own_s in times if fixed_s and own_s)
    assert gain >= 1.1
    assert all((one.policies["static"] or 0) > (one.policies["one-shot"] or 0) for one in made)
    assert f"{gain:.2f}× as fast as with the {fixed}" in sentence.inner_text()
    assert page.locator(".legend li").filter(has_text=fixed).count() == 1


@pytest.mark.large
def test_every_kind_of_communication_has_its_axis_and_size_and_the_planned_ranks_are_told(opened: Opened) -> None:
    page = opened.go("/training?model=gpt-3&ranks=64&ports=4")
    page.locator("summary", has_text="of communication, as a table").click()
    rows = page.get_by_role("region", name="Kinds of communication").locator("tbody tr").all_inner_texts()
    training = ll.train("gpt-3", ranks=64, fabric=ll.Fabric(ports=4))
    mesh = " · ".join(f"{axis} {size}" for axis, size in training.mesh.items())
    assert page.get_by_text(f"Planned here: 64 ranks ({mesh})").count() == 1
    found = sorted(compact("".join(row.split("\t")[:4])) for row in rows)
    kinds = communications(training)
    sizes = [(one.collective, ", ".join(one.labels), one.group_size, show_size(one.size_bytes)) for one in kinds]
    assert found == sorted({compact("".join(map(str, told))) for told in sizes})


def test_policies_are_chosen_by_their_titles(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    offered = page.get_by_label("Policy", exact=True).locator("option").all_inner_texts()
    assert offered == [title for _, title, _, can_be_chosen in _core.training_policies() if can_be_chosen]


@pytest.mark.large
def test_another_job_keeps_the_ranks_that_it_takes(opened: Opened) -> None:
    page = opened.go("/training?model=bert-pccl&ranks=32")
    page.get_by_label("Training job", exact=True).select_option("gpt-3")
    page.wait_for_url(re.compile("model=gpt-3"))
    opened.settle()
    assert page.get_by_label("Ranks", exact=True).input_value() == "32"
    assert "32 ranks" in page.locator(".headline").inner_text()


@pytest.mark.large
def test_another_job_that_does_not_take_the_ranks_says_so_and_has_its_own(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    page.get_by_label("Training job", exact=True).select_option("mixtral-8x22b")
    page.wait_for_url(lambda url: "model=mixtral-8x22b" in url and "ranks=" not in url)
    opened.settle()
    assert "128 ranks" in page.locator(".headline").inner_text()
    assert page.get_by_label("Ranks", exact=True).input_value() == ""
    words = page.get_by_text("8 ranks are left out.")
    expect(words).to_contain_text("a multiple of tensor · pipeline · expert = 128")
    # A number that is typed after that, and that the job does not take, is refused at its field.
    page.get_by_label("Ranks", exact=True).fill("9")
    expect(page.locator('[data-field="ranks"] .wrong')).to_contain_text("multiple")
    opened.forgive("422")


@pytest.mark.large
def test_a_workload_of_one_s_own(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    page.get_by_label("Training job", exact=True).select_option(label="A workload of your own (JSON)")
    text = page.get_by_label("Workload", exact=True)
    expect(page.locator(".field .wrong:visible")).to_contain_text("Paste a workload")
    text.fill("{")
    expect(page.locator(".field .wrong:visible")).to_contain_text("not JSON")
    text.fill(json.dumps(WORKLOAD))
    opened.settle()
    training = ll.train(ll.Workload.of(WORKLOAD), fabric=ll.Fabric())
    assert headline(opened) == compact(show_time(training.total_s))


@pytest.mark.large
@pytest.mark.slow
def test_downloads(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    for words, start in {"JSON": b"{", "CSV": b"node,", "SVG": b"<?xml", "PNG": b"\x89PNG"}.items():
        with page.expect_download() as found:
            page.get_by_role("group", name="Downloads").last.get_by_role("button", name=words).click()
        content = found.value.path().read_bytes()
        assert content.startswith(start)
        if words == "JSON":
            assert "timeline" not in json.loads(content)


@pytest.mark.large
def test_what_a_policy_and_a_bound_are_is_said(opened: Opened) -> None:
    # Three families of groups on one port: circuits that stay cannot serve them.
    page = opened.go("/training?model=mixtral-8x22b")
    training = ll.train("mixtral-8x22b", fabric=ll.Fabric())
    assert training.policies["static"] is None
    words = page.get_by_role("region", name="Iteration time by policy").inner_text()
    summary = next(one["summary"] for one in everything("policies")["policies"] if one["name"] == "static")
    assert summary in words
    assert "for reference: all pairs one hop apart" in words
    main = page.locator("main").inner_text()
    assert f"The bound holds for {training.bound_class}." in main
    within = changes_within(training)
    assert f"{training.reconfigurations:,} between communications" in main
    assert f", {within:,} within them" in main
    assert page.locator(".headline dt", has_text="Reconfigurations").locator("+ dd").inner_text() == (
        f"{training.reconfigurations + within:,}"
    )


@pytest.mark.large
def test_circuits_of_an_iteration_are_those_of_the_command(opened: Opened) -> None:
    page = opened.go(PROBLEM)
    card = page.get_by_role("region", name="For switches")
    with page.expect_download() as found:
        card.get_by_role("button", name="JSON").click()
    assert json.loads(found.value.path().read_bytes()) == json.loads(ll.circuits(trained()).to_json())
    expect(card).to_contain_text("lightloom circuits iteration.json --optics parallel")


@pytest.mark.large
def test_names_of_circuits_that_never_change_are_explained(opened: Opened) -> None:
    page = opened.go("/training?model=bert-pccl&ranks=64&ports=4")
    training = ll.train("bert-pccl", ranks=64, fabric=ll.Fabric(ports=4), policy="one-shot")
    for plan in training.plans:
        for topology, words in zip(plan.topologies, plan.explanations, strict=True):
            assert topology.name in training.policy_notes["one-shot"]
            entry = page.locator(".names dt", has_text=topology.name).locator("+ dd")
            expect(entry).to_have_text(words)


@pytest.mark.large
def test_advice_is_for_the_job_that_was_trained_and_else_says_that_it_is_an_example(opened: Opened) -> None:
    page = opened.go("/training?model=bert-pccl&ranks=8&ports=2&bandwidth=400Gbps")
    page.route("**/api/advise", lambda route: route.fulfill(status=504, json={"error": "it takes too long"}))
    page.get_by_role("link", name="Which switch does this job need?").click()
    page.wait_for_url(re.compile("/advice"))
    job = Job.of_text(page.get_by_label("Job (TOML)", exact=True).input_value())
    assert (job.name, job.gpus, job.ports, job.fabric.bandwidth) == ("bert-pccl", 8, (2,), "400Gbps")
    (entry,) = job.entries
    assert entry.workload is not None
    assert entry.workload.ranks == 8
    # Models are choices in the view itself, each with as many GPUs as it has ranks.
    page.get_by_label("A model as the job", exact=True).select_option("gpt-3")
    chosen = Job.of_text(page.get_by_label("Job (TOML)", exact=True).input_value())
    assert (chosen.name, chosen.gpus) == ("gpt-3", ll.Workload.of(preset_workload("gpt-3")).ranks)
    page.unroute("**/api/advise")
    opened.go("/advice")
    expect(page.locator(".result .card").first).to_contain_text("This is for the example job “decode”")
    opened.forgive("504")


@pytest.mark.large
def test_a_workload_that_was_pasted_leads_to_advice_on_it(opened: Opened) -> None:
    workload = {**WORKLOAD, "name": "it's ''' mine"}
    page = opened.go(PROBLEM)
    page.get_by_label("Training job", exact=True).select_option(label="A workload of your own (JSON)")
    page.get_by_label("Workload", exact=True).fill(json.dumps(workload))
    opened.settle()
    page.route("**/api/advise", lambda route: route.fulfill(status=504, json={"error": "it takes too long"}))
    page.get_by_role("link", name="Which switch does this job need?").click()
    page.wait_for_url(re.compile("/advice"))
    job = Job.of_text(page.get_by_label("Job (TOML)", exact=True).input_value())
    (entry,) = job.entries
    assert (job.gpus, entry.label, entry.workload) == (8, workload["name"], ll.Workload.of(workload))
    opened.forgive("504")


@pytest.mark.large
def test_rows_of_advice_are_shown_while_others_are_looked_for(opened: Opened) -> None:
    told = {"gpus": 8, "mix": [{"collective": "all-gather", "size": "64KiB"}]}
    rows = ll.advise(told, switches="sirius,polatis").rows[:2]
    events = [f"event: row\ndata: {json.dumps(asdict(row))}\n\n" for row in rows]
    events.append('event: error\ndata: {"error": "it takes too long", "status": 504}\n\n')
    page = opened.page
    page.route("**/api/advise", lambda route: route.fulfill(content_type="text/event-stream", body="".join(events)))
    opened.go("/advice")
    expect(page.locator(".result")).to_contain_text("2 rows found so far")
    expect(page.locator(".result")).to_contain_text("What was found until then is shown")
    drawn = compact(page.get_by_role("region", name="1 port of every GPU").inner_text())
    for row in rows:
        assert row.total_s is not None
        assert compact(f"{row.switch}") in drawn
        assert compact(show_time(row.total_s)) in drawn
    page.unroute("**/api/advise")


@pytest.mark.large
def test_a_bound_that_no_plan_can_beat_is_said(opened: Opened) -> None:
    """The workload's one AllReduce of two ranks has no other circuits than the pair's."""
    workload = {**WORKLOAD, "ranks": 2, "mesh": {"dp": 2}}
    page = opened.go(PROBLEM)
    page.get_by_label("Training job", exact=True).select_option(label="A workload of your own (JSON)")
    page.get_by_label("Workload", exact=True).fill(json.dumps(workload))
    opened.settle()
    training = ll.train(ll.Workload.of(workload), fabric=ll.Fabric())
    fixed_s = training.policies["one-shot"]
    assert fixed_s is not None
    above = fixed_s / training.lower_bound_s - 1
    assert above < 1e-3
    words = page.locator(".sentence").first.inner_text()
    found = re.search(r"No reconfiguration delay pays that is this long or longer: .* within ([\d.]+) % of", words)
    assert found is not None, words
    assert above * 100 <= float(found[1]) < max(2e-4, 130 * above)
