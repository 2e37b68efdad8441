"""Plans executed on real processes and data: what every rank sends, the data, and who carries it."""
