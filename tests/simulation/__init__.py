"""Simulation through the package and the command line."""
