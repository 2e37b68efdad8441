"""Plans, comparisons, sweeps and simulations as pictures."""
