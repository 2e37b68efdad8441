"""Slow and simple programs that the fast ones are held against; written from the papers, sharing no code with the core."""
