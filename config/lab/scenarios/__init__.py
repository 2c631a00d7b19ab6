"""The races, a file per kind of meeting; each registers itself. What they share is in `parts.py`."""

# ruff: noqa: F401

import config.lab.scenarios.agents_meet
import config.lab.scenarios.approvals
import config.lab.scenarios.arrivals
import config.lab.scenarios.askers
import config.lab.scenarios.change_under_an_agent
import config.lab.scenarios.conversation_processes
import config.lab.scenarios.destination
import config.lab.scenarios.doors
import config.lab.scenarios.lease_holders
import config.lab.scenarios.messages
import config.lab.scenarios.papers
import config.lab.scenarios.people_meet
import config.lab.scenarios.processes
import config.lab.scenarios.queue
import config.lab.scenarios.review
import config.lab.scenarios.servers_restart
import config.lab.scenarios.suggestions
import config.lab.scenarios.takeovers
import config.lab.scenarios.tickets_stock_access
import config.lab.scenarios.turns
import config.lab.scenarios.workers_die
