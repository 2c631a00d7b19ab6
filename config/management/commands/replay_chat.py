"""`manage.py replay_chat FILE`: real message times through the whole pipeline, with database and workers of its own.

Ends with 1 if, guarded, anything was answered twice, too late, over a person or not at all, or somebody waited longer
than the cap and three generations. What each figure counts: `config/lab/chat/tally.py`; what is said when and who gives
a conversation back: `config/lab/chat/plan.py`; what becomes of the spans of time: `config/lab/chat/pace.py`.
"""

import json
import random
import sys
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from config.lab import scratch
from config.lab.chat import log, replaying
from config.lab.chat.pace import Pace
from config.lab.chat.tally import Tally
from config.lab.running import Mode

MODES = {"naive": [Mode.NAIVE], "guarded": [Mode.GUARDED], "both": [Mode.NAIVE, Mode.GUARDED]}
SHOWN = 5


def span(text: str) -> tuple[float, float]:
    """`2:8`: at least and at most so many seconds."""
    try:
        least, most = (float(part) for part in text.split(":"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not two numbers of seconds like 2:8.") from None
    if not 0 <= least <= most <= 120:
        raise ArgumentTypeError("A model takes 0 to 120 seconds, the smaller number first.")
    return least, most


class Command(BaseCommand):
    requires_system_checks: tuple[str, ...] = ()
    help = "Replay real message times through accepting, timers, turns and delivery, with real workers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--window", type=float, default=4.0, metavar="S", help="quiet window; default 4")
        parser.add_argument("--cap", type=float, default=20.0, metavar="S", help="longest wait for it; default 20")
        parser.add_argument("--model-seconds", type=span, default=(2.0, 8.0), metavar="A:B", help="default 2:8")
        parser.add_argument("--speed", type=float, default=15.0, metavar="X", help="times as fast as life; default 15")
        parser.add_argument(
            "--machine",
            type=float,
            default=Pace.machine,
            metavar="S",
            help="real seconds that it may take for a turn beside the model; more where it is busy; default 0.7",
        )
        parser.add_argument("--mode", choices=sorted(MODES), default="both")
        parser.add_argument("--seed", type=int, help="decides starts, persons, the model's pace and who is killed")
        parser.add_argument("--conversations", type=int, metavar="N", help="so many, by the seed's choice; default all")
        parser.add_argument("--kill", type=int, default=0, metavar="N", help="workers killed (-9) during the replay")
        parser.add_argument("--stop", type=int, default=0, metavar="N", help="workers stopped longer than their lease")
        parser.add_argument("--json", action="store_true", help="a list of objects, one per mode, and no progress bar")

    def handle(self, *args: Any, **options: Any) -> None:
        seed = random.SystemRandom().randrange(1, 10**6) if options["seed"] is None else options["seed"]
        pace = _pace(options, seed)
        if min(options["kill"], options["stop"]) < 0 or (options["conversations"] or 1) < 1:
            raise CommandError("--kill and --stop are whole numbers, --conversations is above zero.")
        try:
            chats = log.pick(log.read(options["file"]), options["conversations"], seed=seed)
        except log.UnreadableChat as error:
            raise CommandError(str(error)) from None
        modes = MODES[options["mode"]]
        total = sum(len(chat.lines) for chat in chats) * len(modes)
        quiet = options["json"] or not sys.stderr.isatty()
        trouble = {"kills": options["kill"], "stops": options["stop"]}
        with scratch.database(), tqdm(total=total, unit="line", disable=quiet, file=sys.stderr) as bar:
            tallies = [replaying.replay(chats, mode, pace, **trouble, tick=bar.update) for mode in modes]
        self._show(tallies, as_json=options["json"])
        bad = [tally for tally in tallies if tally.mode == Mode.GUARDED and not tally.good]
        for tally in bad:
            self.stderr.write(f"Seed {seed} shows it again:")
            for reason in tally.reasons[:SHOWN]:
                self.stderr.write(f"  {reason}")
        if bad:
            raise SystemExit(1)

    def _show(self, tallies: list[Tally], *, as_json: bool) -> None:
        found = [{name: value for name, value in vars(tally).items() if name != "reasons"} for tally in tallies]
        if as_json:
            self.stdout.write(json.dumps(found, indent=1))
            return
        for name in found[0]:
            self.stdout.write(f"{name.replace('_', ' '):<16}" + "".join(f"{tally[name]!s:>12}" for tally in found))


def _pace(options: dict[str, Any], seed: int) -> Pace:
    for name, least, most in (("window", 0, 600), ("cap", 0, 600), ("speed", 0.1, 200), ("machine", 0.1, 20)):
        if not least <= options[name] <= most:
            raise CommandError(f"--{name} lies between {least} and {most}.")
    fastest, slowest = options["model_seconds"]
    return Pace(
        window=options["window"],
        cap=options["cap"],
        fastest=fastest,
        slowest=slowest,
        speed=options["speed"],
        seed=seed,
        machine=options["machine"],
    )
