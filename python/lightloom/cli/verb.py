"""Construction of a verb, here and in other distributions."""

from lightloom.cli.options import FORMAT_OPTION
from lightloom.cli.progress import progress_bar, with_progress

__all__ = ["FORMAT_OPTION", "progress_bar", "with_progress"]
