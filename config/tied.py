"""Start a program that ends when its supervisor does, even if the supervisor was killed with -9.

`python -m config.tied PARENT PROGRAM ARGUMENT...` asks the kernel for a SIGTERM at the parent's death and becomes the
program. Only Linux has such a wish; elsewhere the next start finds what was left (`config/supervisor.py`).
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before we could ask
        sys.exit(0)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
