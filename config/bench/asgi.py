"""The web application on the bench's scratch database, as `config/bench/loaded.py` starts it."""

import os

from django.db import connections

from config import asgi

connections.databases["default"]["NAME"] = os.environ["VIGENTE_BENCH_DATABASE"]
application = asgi.application
