"""Every view of the page is a link of the header, a module of its name, and an address that the tests open."""

from __future__ import annotations

import re

import pytest

from lightloom.cli.registry import VERBS
from lightloom.page.files import INDEX, index_of, page_files, view_addresses
from tests.conftest import ROOT
from tests.page.browser.views import VIEWS as OPENED

IMPORTED = re.compile(r'^(?:import|export) (?:[^"]* from )?"([^"]+)";$', re.MULTILINE)
STATIC = ROOT / "python" / "lightloom" / "page" / "static"


def test_every_view_has_a_link_a_module_and_its_tests() -> None:
    index = page_files()[INDEX]
    (header,) = re.findall(r'<ul class="views">(.*?)</ul>', index.content.decode(), re.DOTALL)
    links = re.findall(
        r'<li><a href="/([a-z-]+)" data-view="\1"(?: data-verb="([a-z]+)")?(?: data-own="[a-z ]+")?>', header
    )
    assert len(links) == header.count("<li>") > 4
    names = [name for name, _ in links]
    assert view_addresses(index) == ("/", *(f"/{name}" for name in names))
    assert {verb for _, verb in links} - {""} <= {verb.name for verb in VERBS}
    mounted = {}
    for module in (STATIC / "js" / "views").glob("*.js"):
        text = module.read_text()
        if "export function mount(" in text:
            mounted[module.stem] = "new Scaffold(" in text
    # A link carries the problem to a view with a form.
    assert mounted == {name: bool(verb) for name, verb in links}
    assert {address.partition("?")[0] for address in OPENED.values()} == set(view_addresses(index)) - {"/"}


@pytest.mark.parametrize("address", view_addresses(page_files()[INDEX]))
def test_the_head_of_a_page_names_all_modules_that_it_needs(address: str) -> None:
    named = re.findall(
        r'<link rel="modulepreload" href="/static/([^"]+)">', index_of(page_files(), address).content.decode()
    )
    needed = {STATIC / "js" / "main.js", STATIC / "js" / "views" / f"{address.strip('/') or 'plan'}.js"}
    while True:
        imported = {
            (module.parent / name).resolve() for module in needed for name in IMPORTED.findall(module.read_text())
        }
        if imported <= needed:
            break
        needed |= imported
    assert {STATIC / path for path in named} == needed
    assert len(named) == len(needed) > 20
