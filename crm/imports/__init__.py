"""Imports: a CSV file of somebody else's system, row by row through the gate.

Guarantees that one bad row never stops the file and is named with its line, its column and the reason; that nothing is
half written (a row is one commit); that the same file a second time changes nothing; and that what a person has changed
since the last import is never overwritten by a file that says nothing new (`crm/imports/changes.py`).

    command -> table.py (lines, cells) -> columns.py (which column means what) -> cells.py (text to values)
            -> running.py (batches) -> kind.py and the five kinds -> conflicts/gate.py -> report.py
    a clash is left to a person:  origin.py -> crm/views/imports.py (what waits) -> crm/views/settle.py (the choice)
"""

from crm.imports.origin import Origin, origin_of, waiting_for

__all__ = ["Origin", "origin_of", "waiting_for"]
