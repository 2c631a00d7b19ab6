"""The race lab: every race that production will create, run twice, on real PostgreSQL, with real threads and processes.

*Naive* is the way it is usually written (read, think, write); *guarded* goes through the gate. Both run under the same
seed, so they meet in the same order, and the same judge looks at what the database holds afterwards. A race that the
naive way does not lose is not being run, and says so.

A scenario is a file's worth of story in `config/lab/scenarios/`; `config/lab/running.py` runs it; `manage.py race` is
the door. Next in the flow: `config/lab/scenario.py`.
"""
