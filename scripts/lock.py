"""`make lock`: renew requirements/ from pyproject.toml, pinned and hashed for every platform.

Guarantees that no address of a package host gets into the files. Next in the flow: `scripts/setup.py`.
"""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
OPTIONS = ["--universal", "--generate-hashes", "--python-version", "3.12", "--upgrade", "--quiet"]
OPTIONS += ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--no-emit-build-options"]


def main() -> int:
    for name, extra in (("base", []), ("dev", ["--extra", "dev"])):
        target = PROJECT / "requirements" / f"{name}.txt"
        draft = target.with_suffix(".new")
        command = [sys.executable, "-m", "uv", "pip", "compile", *OPTIONS, *extra, "pyproject.toml", "-o", str(draft)]
        try:
            if code := subprocess.run(command, cwd=PROJECT).returncode:
                return code
            text = draft.read_text()
            if "://" in text:
                print(f"{target.name} would hold an address; it was left as it is.", file=sys.stderr)
                return 1
            target.write_text(text)
        finally:
            draft.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
