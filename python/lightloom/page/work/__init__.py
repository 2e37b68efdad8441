"""The work of processes for a request: a file for each task of `lightloom.page.tasks`, each with a function `work`.

It takes the request, the limits, and a function for rows and progress; it returns an `Outcome`.
"""
