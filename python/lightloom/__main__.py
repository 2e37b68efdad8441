"""`python -m lightloom` is the command line."""

import sys

from lightloom.cli import main

if __name__ == "__main__":
    sys.exit(main())
