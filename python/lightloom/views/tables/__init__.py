"""What people see on a terminal: one file a table, each a function from results to text."""
