"""Switches that turn on clocks of their own: timelines of collectives, and how they are made and judged."""
