"""The page in a real browser: views and user actions."""
