"""What people see: tables, pictures, traces. They import the API, never the reverse."""
