"""A model that answers when the test says so: while a file of that name is not there, it is still thinking.

For workers that a test starts: `VIGENTE_RESPONDER=tests.fakes.model.Held`, and the directory in `VIGENTE_TEST_PLACE`.
"""

import os
from pathlib import Path

from agents.responders.port import Answer, Prompt
from config.embedded.processes import until

LONGEST = 25.0
"""Seconds; below any lease."""


def place() -> Path:
    return Path(os.environ["VIGENTE_TEST_PLACE"])


class Held:
    name = "held"

    def answer(self, prompt: Prompt) -> Answer:
        (place() / f"asked-{prompt.counter}").touch()
        if not until((place() / f"say-{prompt.counter}").exists, seconds=LONGEST, every=0.05):
            raise TimeoutError("nobody said that the model may speak")
        return Answer(text=f"One answer to {len(prompt.pending)} lines.", calls=1)
