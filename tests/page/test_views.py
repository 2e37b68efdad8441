"""The views of the page have the same names wherever they are listed, and each is the module of its name."""

from __future__ import annotations

import re

from lightloom.page.app import VIEWS
from tests.conftest import ROOT
from tests.page.browser.views import VIEWS as OPENED

STATIC = ROOT / "python" / "lightloom" / "page" / "static"


def test_every_view_has_an_address_a_link_a_module_and_its_tests() -> None:
    listed = re.search(r"^const VIEWS = \[(.*)\];$", (STATIC / "js" / "address.js").read_text(), re.MULTILINE)
    assert listed is not None
    names = re.findall(r'"([a-z-]+)"', listed[1])
    assert len(names) > 4
    assert list(VIEWS) == ["/", *(f"/{name}" for name in names)]
    assert re.findall(r'<a href="/([a-z-]+)" data-view="\1">', (STATIC / "index.html").read_text()) == names
    modules = (STATIC / "js" / "views").glob("*.js")
    mounted = {module.stem for module in modules if "export function mount(" in module.read_text()}
    assert mounted == set(names)
    assert {address.partition("?")[0] for address in OPENED.values()} == set(VIEWS) - {"/"}
