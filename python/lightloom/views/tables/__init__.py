"""Everything that is printed for people."""

from lightloom.views.tables.page import render, table
from lightloom.views.tables.registry import registry_table

__all__ = ["registry_table", "render", "table"]
