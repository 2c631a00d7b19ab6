"""The sample workspace: Geada Sensors, who sell temperature sensors for cold rooms, in the middle of a week.

Guarantees that it is loaded whole or not at all, only into an empty database, and that every deal, contact and company
in it came through the gate, signed by the person who did it. `LOGINS` is what `manage.py run` prints.
Next in the flow: `crm/sample/people.py`, `records.py`, `deals.py` (what there is), `loading.py` (how it gets in).
"""

from crm.sample.people import LOGINS

__all__ = ["LOGINS"]
