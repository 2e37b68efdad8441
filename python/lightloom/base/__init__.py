"""The base that every other package uses: errors, files, rows as DataFrames, extras, plugins, threads."""
