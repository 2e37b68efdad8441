"""The command line of all tests, as `tests/conftest.py` runs it."""

from tests.conftest import cli, in_tmp

__all__ = ["cli", "in_tmp"]
