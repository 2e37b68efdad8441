"""Generators of pages of the documentation: from registries, tables, schemas and the commands in them."""
