"""Training iterations run on processes of this machine."""
