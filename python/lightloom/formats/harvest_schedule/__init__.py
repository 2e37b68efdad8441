"""HARVEST: schedule.json alone."""
