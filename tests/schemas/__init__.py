"""JSON Schemas of what verbs print."""
