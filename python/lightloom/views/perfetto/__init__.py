"""Traces that Perfetto and Chrome show: a file for each thing that has a course in time, over `events.py`."""
