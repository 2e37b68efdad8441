"""Task graphs of TopoOpt."""
