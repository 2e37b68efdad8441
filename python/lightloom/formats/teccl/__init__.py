"""TE-CCL schedules, flows by epoch."""
