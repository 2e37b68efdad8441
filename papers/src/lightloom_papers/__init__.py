"""The figures and tables of the five papers, made again, with each of their claims judged."""
