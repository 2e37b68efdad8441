"""Single faults of a fabric: the time that each of them costs, and plans for all of them."""
