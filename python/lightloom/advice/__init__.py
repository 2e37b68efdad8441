"""Advice on switches: which one a mix of collectives, models and traces needs, by the times that plans have."""
