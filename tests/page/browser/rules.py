"""Rules that every view is held to: the rules of WCAG 2.2 A and AA by axe-core, and the width of the screen."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.page.browser.chromium import Opened

# A function of the page that has axe-core.
JUDGE = "(rules) => axe.run({runOnly: rules})"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
IS_WIDER = "document.documentElement.scrollWidth > innerWidth"


def axe_script() -> str:
    """axe-core, which judges a page from within."""
    (script,) = [path for path in files("axe_playwright_python").iterdir() if path.name == "axe.min.js"]
    return script.read_text("utf-8")


def violations(opened: Opened, axe: str) -> list[str]:
    """Violations: the rule's name and the element."""
    opened.page.evaluate(axe)
    return broken(opened.page.evaluate(JUDGE, RULES))


def broken(found: dict[str, Any]) -> list[str]:
    """The violations of what axe-core has found."""
    assert len(found["passes"]) > 20
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found["violations"] for node in rule["nodes"]]


def is_wider_than_the_screen(opened: Opened) -> bool:
    """Whether the page scrolls sideways."""
    return bool(opened.page.evaluate(IS_WIDER))
