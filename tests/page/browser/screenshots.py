"""Pictures of views and widgets, for eyes.

`python -m tests.page.browser.screenshots --output DIR [--view NAME …] [--browser firefox]`.
"""

from __future__ import annotations

import argparse
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import lightloom as ll
from tests.page.browser.chromium import NARROW, WIDE, Opened, chromium
from tests.page.browser.firefox import Firefox, firefox
from tests.page.browser.notebook import DARK, LIGHT, with_widget
from tests.page.browser.views import VIEWS
from tests.page.served import served

if TYPE_CHECKING:
    from collections.abc import Iterable

    from playwright.sync_api import Browser

# Views worth seeing take longer than those that are quick to test.
SHOWN = {
    **VIEWS,
    "plan": "/plan?collective=all-reduce&size=1MiB&gpus=64",
    "compare": "/compare?collective=all-reduce&size=1MiB&gpus=64",
    "when-it-pays": "/when-it-pays?collective=all-reduce&size=1MiB&gpus=64",
    "training": "/training?model=mixtral-8x22b",
    "broken": "/plan?collective=all-gather&size=16MiB&gpus=16&ports=2&failed=port:1.0,receiver:2.1,gpu:7,link:3-9",
    "grid": "/plan?collective=all-reduce&size=16MiB&gpus=64&dims=8x8&ports=4&planner=static",
}


SCHEMES: tuple[Any, ...] = ("light", "dark")


def main() -> None:
    """A PNG of each view at both widths and in both colour schemes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="folder of the pictures")
    parser.add_argument("--view", choices=SHOWN, action="append", help="only this one; may be repeated")
    parser.add_argument("--browser", choices=["chromium", "firefox"], default="chromium")
    parser.add_argument("--part", action="store_true", help="only one screen, not the whole page")
    asked = parser.parse_args()
    asked.output.mkdir(parents=True, exist_ok=True)
    if asked.browser == "firefox":
        with contextmanager(served)() as server, firefox() as fox:
            show_firefox(fox, server.address, asked.view or SHOWN, asked.output)
        return
    with contextmanager(served)() as server, chromium() as browser:
        for viewport in (WIDE, NARROW):
            for scheme in SCHEMES:
                opened = Opened.at(browser, server.address, viewport=viewport, color_scheme=scheme)
                for view in asked.view or SHOWN:
                    opened.go(SHOWN[view])
                    if view == "plan":
                        for _ in range(9):
                            opened.page.keyboard.press("ArrowRight")
                    opened.page.wait_for_timeout(400)
                    name = f"{view}-{viewport['width']}-{scheme}.png"
                    opened.page.screenshot(path=asked.output / name, full_page=not asked.part)
                opened.context.close()
        if not asked.view:
            _widgets(browser, asked.output)


def _widgets(browser: Browser, folder: Path) -> None:
    """A PNG of each widget in an output as wide as JupyterLab's, light and dark."""
    plan = ll.plan("all-reduce", "1MiB", fabric=ll.Fabric(gpus=16, reconfiguration_delay="1us"))
    widgets = {"plan": plan.widget(), "training": ll.train("bert-pccl", ranks=16).widget()}
    for (name, widget), (scheme, around) in product(widgets.items(), {"light": LIGHT, "dark": DARK}.items()):
        with TemporaryDirectory() as made:
            opened = with_widget(browser, Path(made), widget, around, viewport={"width": 980, "height": 900})
            if name == "plan":
                time = opened.page.get_by_label("Time in the plan", exact=True)
                time.fill("500")
                time.blur()
            opened.page.wait_for_timeout(400)
            opened.page.locator("#one").screenshot(path=folder / f"widget-{name}-{scheme}.png")
            opened.context.close()


def show_firefox(fox: Firefox, address: str, views: Iterable[str], folder: Path) -> None:
    """The same in Firefox, of the whole page."""
    for viewport in (WIDE, NARROW):
        for scheme in SCHEMES:
            fox.show_as(viewport, scheme)
            for view in views:
                fox.go(address + SHOWN[view])
                (folder / f"{view}-{viewport['width']}-{scheme}-firefox.png").write_bytes(fox.picture())


if __name__ == "__main__":
    main()
