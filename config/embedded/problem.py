"""The one way in which starting can fail: a line that a person can act on.

`manage.py` prints it and exits with 1; nobody who starts a program for the first time should read a traceback.
"""


class Problem(Exception):
    """Something about this machine or its settings keeps the servers from running."""
