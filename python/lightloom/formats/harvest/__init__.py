"""HARVEST: collective.json and schedule.json."""
