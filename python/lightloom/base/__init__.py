"""What everything stands on: errors, files, rows as DataFrames, extras, plugins, threads."""
