"""A language model as far as the replay needs one: it takes its time, and says which lines it has seen."""

import random
import re
import time

from agents.responders.port import Answer, Prompt
from config.lab.chat.pace import Pace

_LINE = re.compile(r"\w+/(\d+)")


def lines_in(text: str) -> list[int]:
    """The numbers of the lines that a text of the replay names."""
    return [int(number) for number in _LINE.findall(text)]


class Slow:
    name = "lab"

    def answer(self, prompt: Prompt) -> Answer:
        pace = Pace.at_hand()
        about = [line.text for line in prompt.pending]
        # By what it was asked, so that the same question takes the same time whoever asks it when.
        seconds = random.Random(f"{pace.seed}:{' '.join(about)}").uniform(pace.fastest, pace.slowest)
        time.sleep(pace.real(seconds))
        return Answer(text=f"About {', '.join(about)}.", facts={"seconds": str(seconds)}, calls=1)
