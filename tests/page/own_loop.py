"""Coroutines in addition to a browser: its library keeps an event loop running in the thread of the tests."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

__all__ = ["run_in_own_loop"]

Value = TypeVar("Value")


def run_in_own_loop(work: Coroutine[Any, Any, Value]) -> Value:
    """Return the coroutine's result, computed in a thread and a loop of its own."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, work).result()
