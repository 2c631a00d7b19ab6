#!/usr/bin/env python
"""The command line. A command that needs the database finds the embedded servers of a running `make run`, or has them
started for its own time. Next in the flow: `config/embedded/`, then the command itself."""

import os
import sys

WITHOUT_SERVERS = {"", "help", "version", "--help", "-h", "--version", "check", "compilemessages", "makemessages"}
WITHOUT_SERVERS |= {"collectstatic", "findstatic", "startapp", "run", "diffsettings"}  # `run` holds them itself


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db import OperationalError, ProgrammingError

        from config import embedded
    except ImportError as error:
        if error.name and error.name.partition(".")[0] in {"django", "psycopg", "psutil"}:
            return complain("Vigente's packages are not here. Run `make setup`, then use .venv/bin/python manage.py.")
        raise
    command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    try:
        if command in WITHOUT_SERVERS or {"-h", "--help"} & set(sys.argv):
            execute_from_command_line(sys.argv)
        else:
            with embedded.servers(say=lambda line: print(line, file=sys.stderr)):
                execute_from_command_line(sys.argv)
    except (embedded.Problem, ImproperlyConfigured) as problem:
        return complain(str(problem))
    except (OperationalError, ProgrammingError) as error:
        state = getattr(error.__cause__, "sqlstate", "")
        if "--traceback" in sys.argv or state not in {None, "42P01"}:
            raise
        line = next(iter(str(error).strip().splitlines()), "")
        if state is None:  # it was never reached
            return complain(f"The database does not answer: {line}")
        return complain(f"The database is not prepared ({line}). Run manage.py migrate; `make run` does it by itself.")
    except KeyboardInterrupt:
        return 130
    return 0


def complain(line: str) -> int:
    print(line, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
