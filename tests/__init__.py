"""Tests of the package, through its public API and command line."""
