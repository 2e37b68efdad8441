"""Sweeps: descriptions, folders, results, pictures, clusters."""
