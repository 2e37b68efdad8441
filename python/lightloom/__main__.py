"""`python -m lightloom` is the command line."""

from lightloom.cli import program

if __name__ == "__main__":
    program()
