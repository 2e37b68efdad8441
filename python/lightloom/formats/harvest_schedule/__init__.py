"""HARVEST: only schedule.json."""
