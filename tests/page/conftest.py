"""Servers that tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.page.served import Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    """A server with the limits that it has when nothing is said."""
    yield from served()
