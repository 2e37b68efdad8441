"""Drivers of optical switches, against simulated ones that share no code with them."""
