"""The command line: one file a verb, `registry` lists them, `entry` runs them."""

from lightloom.cli.entry import main, program

__all__ = ["main", "program"]
