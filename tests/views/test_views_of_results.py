"""Results ask for their views by names, which the views have."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import lightloom as ll
from lightloom.base.views import html, picture, pictures, widget, write_trace
from lightloom.views import VIEWS
from lightloom.widgets import WIDGETS, view

PACKAGE = Path(ll.__file__).parent
ASKING = {function.__name__ for function in (html, picture, pictures, widget, write_trace)}


def _asked() -> Iterator[tuple[str, ast.expr]]:
    """The methods that ask for a view, and by which name."""
    for file in sorted(PACKAGE.rglob("*.py")):
        classes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ClassDef)]
        for one in classes:
            for method in one.body:
                for node in ast.walk(method):
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKING:
                        assert isinstance(method, ast.FunctionDef)
                        yield f"{one.name}.{method.name}", node.args[0]


@pytest.mark.large
def test_every_view_is_asked_for_by_its_method_and_by_no_other() -> None:
    asked = list(_asked())
    assert [method for method, name in asked if ast.literal_eval(name) != method] == []
    assert sorted(method for method, _ in asked) == sorted([*VIEWS, *WIDGETS])


@pytest.mark.parametrize("name", [*VIEWS, *WIDGETS])
def test_every_view_is_there(name: str) -> None:
    assert callable(view(name))
