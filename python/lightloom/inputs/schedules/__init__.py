"""Schedules that other tools wrote: one file a format; `lightloom.formats` is their registry."""
