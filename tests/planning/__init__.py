"""Plans, bounds and their judges."""
