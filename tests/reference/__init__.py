"""Slow and simple programs that the fast ones are held against; they share no code with the core."""
