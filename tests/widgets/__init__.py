"""Widgets of results in notebooks."""
