"""Circuits on the ports of switches, through meshes of MZIs and over fibres."""
