"""The work of processes for a request: a file for each task of `lightloom.page.tasks`, each with a function `work`.

It takes what was asked, the limits, and a function that is told rows and progress; it returns an `Outcome`.
"""
