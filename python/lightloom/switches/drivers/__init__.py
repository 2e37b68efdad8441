"""The drivers, a file each; `lightloom.switches.registry` lists them."""
