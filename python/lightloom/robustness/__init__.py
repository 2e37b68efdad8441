"""Plans of an unequal All-to-All that are made once for many iterations."""
