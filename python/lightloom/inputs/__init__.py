"""User inputs: the table of options, and the readers of their values."""
