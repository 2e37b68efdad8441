"""What people write: the table of options, and what reads their values."""
