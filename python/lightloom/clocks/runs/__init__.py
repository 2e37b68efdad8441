"""Timelines run on processes of this machine."""
