"""Real message times replayed through the whole pipeline: accepting, timers, turns, delivery, with real workers.

`manage.py replay_chat` is the door. `log.py` reads the times, `plan.py` lays them out, `customers.py` (a process) says
the lines, `guarded.py` and `naive.py` are the two ways to take them, `hall.py` holds broker and workers and kills them,
`tally.py` judges what the database holds afterwards. `pace.py` makes time go faster, `model.py` answers slowly.
"""
