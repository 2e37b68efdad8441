"""JSON Schemas of the documents that verbs print."""
