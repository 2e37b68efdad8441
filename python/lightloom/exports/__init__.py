"""Plans in the formats of other tools: one file a format; `lightloom.formats` is their registry."""
