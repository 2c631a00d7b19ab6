"""The settings of the tests: those of the product, on servers of the test run's own.

Guarantees that no test ever reads what a developer or a machine has set, least of all a DATABASE_URL.
The servers are started by `tests/conftest.py`. Processes that a test starts inherit the environment and so the servers.
"""

import os
import tempfile
from pathlib import Path

PREFIX = "vigente-test-"
OURS = {
    "DATABASE_URL": "",  # empty counts as not set, and beats a `.env` file
    "REDIS_URL": "",
    "SECRET_KEY": "",
    "ALLOWED_HOSTS": "",
    "CSRF_TRUSTED_ORIGINS": "",
    "HTTPS": "",
    "DEBUG": "",
    "TIME_ZONE": "",
    "LOG_LEVEL": "WARNING",
    "VIGENTE_DATABASE_POOL": "0",
    "VIGENTE_EMBEDDED_FAST": "yes",
    "VIGENTE_RESTORE_SECONDS": "1",
    "VIGENTE_SWEEP_SECONDS": "",
    "VIGENTE_WAITING_PER_PERSON": "",
    "VIGENTE_PARTITIONS": "",
    "VIGENTE_CLAIM_SECONDS": "2",
    "VIGENTE_WATCH_SECONDS": "1",
    "VIGENTE_BACKOFF_SECONDS": "0",
    # tests/chatting.py: more turns in a minute than a model is asked for, and all visitors come from one address
    "VIGENTE_LIMITS": "model:says=100000/minute newcomers:address=100000/hour newcomers:channel=100000/hour",
    "VIGENTE_TURN_SECONDS": "",
    "VIGENTE_MODEL_TIMEOUT": "",
    "VIGENTE_RESPONDER": "",
    "VIGENTE_TURN_ROUND_SECONDS": "",
    "VIGENTE_PUBLIC_URL": "",
    "VIGENTE_WHATSAPP_URL": "http://127.0.0.1:9",  # nobody is there: a test that sends starts a server of its own
    "VIGENTE_WHATSAPP_TOKEN": "",
    "VIGENTE_WHATSAPP_APP_SECRET": "",
    "VIGENTE_WHATSAPP_VERIFY_TOKEN": "",
    "VIGENTE_TWILIO_URL": "http://127.0.0.1:9",
    "VIGENTE_TWILIO_ACCOUNT_SID": "",
    "VIGENTE_TWILIO_AUTH_TOKEN": "",
    "VIGENTE_MAIL_HOST": "",
    "VIGENTE_MAIL_PORT": "",
    "VIGENTE_MAIL_USER": "",
    "VIGENTE_MAIL_PASSWORD": "",
    "VIGENTE_MAIL_TLS": "",
    "VIGENTE_MAIL_BACKEND": "",
    "VIGENTE_ANYMAIL": "",
    "VIGENTE_SAMPLE": "",
    "VIGENTE_WORKSPACE": "",
    "VIGENTE_CURRENCY": "",
    "VIGENTE_PHONE_REGION": "",
    "VIGENTE_PORT": "",
    "VIGENTE_WORKERS": "1",
}

if "VIGENTE_TEST_RUN" not in os.environ:  # else: a process that a test has started
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    home.chmod(0o755)  # under root, PostgreSQL's own user has to pass
    os.environ.update(OURS, VIGENTE_HOME=str(home), VIGENTE_TEST_RUN=str(os.getpid()))

from config.settings import *  # noqa: E402, F403
from config.settings import DATABASES  # noqa: E402

# The cluster is ours alone, so the test database has the name of the real one: commands and workers that a test starts
# as processes find the same rows.
DATABASES["default"]["TEST"] = {"NAME": DATABASES["default"]["NAME"]}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # quick to make, and nobody's secret
STATIC_ROOT = None  # files come from where they are written; WhiteNoise warns of a folder that is not there
