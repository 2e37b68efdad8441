"""What people see: tables. They import the API, never the reverse."""
