"""Completion times where a fabric's times are uncertain: of one plan, and of the plans that a problem may have."""
