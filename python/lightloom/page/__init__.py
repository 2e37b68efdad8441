"""The page: a server whose work is done by processes of its own, and the scripts of the browser (`static/`)."""
