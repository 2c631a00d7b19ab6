"""The web server's door. Granian calls `application`; next in the flow: `config/urls.py`.

Guarantees that it does not open where a guarantee of the kernel is not in place (conflicts/checks.py), whoever starts
it.
"""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Only the web server pools: it answers on many threads. A worker's child has one, and a pool does not survive a fork.
os.environ.setdefault("VIGENTE_DATABASE_POOL", "16")
django = get_asgi_application()

from config.bodies import limited  # noqa: E402 - they need the apps
from conflicts.checks import refuse_to_start  # noqa: E402

refuse_to_start()
application = limited(django)
