"""The page: a server whose work is done by processes beside it, and what runs in the browser (`static/`)."""
