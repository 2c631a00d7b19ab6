"""Settings: one file, everything that differs between places comes from the environment.

Guarantees that the process refuses to start in production (DEBUG off) without a secret of its own.
`.env.example` explains each variable. Next in the flow: `config/urls.py` for HTTP, `config/celery.py` for workers.
"""

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.utils.csp import CSP
from django.utils.translation import gettext_lazy as _
from moneyed import CURRENCIES
from phonenumbers import SUPPORTED_REGIONS

from config import embedded, environment
from config.unfold import UNFOLD  # noqa: F401 - how the admin looks

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
BASE_DIR = Path(__file__).resolve().parent.parent
env = environment.load(BASE_DIR / ".env")

DEBUG = env.boolean("DEBUG", default=False)
SECRET_KEY = env.text("SECRET_KEY", default="")
if not SECRET_KEY:
    if not embedded.wanted(env):
        raise ImproperlyConfigured("SECRET_KEY is not set. Give this installation a long random value of its own.")
    SECRET_KEY = embedded.secret_key(env)

ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", default="localhost 127.0.0.1 [::1] testserver")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS", default="")

INSTALLED_APPS = [
    "config",
    "agents",
    "crm",
    "conflicts",
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django_htmx",
    "anymail",
    "concurrency",
    "pgtrigger",
    "pghistory",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "config.csp.admin_policy",
    "django.middleware.gzip.GZipMiddleware",  # above WhiteNoise: it compresses style and scripts too
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "crm.middleware.viewer",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "crm.middleware.errors",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
AUTH_USER_MODEL = "crm.User"
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "my_day"
LOGOUT_REDIRECT_URL = "sign_in"
CSRF_FAILURE_VIEW = "crm.views.errors.no_csrf"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.csp",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "crm.context.shell",
            ],
            "builtins": ["crm.templatetags.vigente", "django.templatetags.i18n", "django.templatetags.static"],
        },
    },
]

# Real servers when DATABASE_URL / REDIS_URL name them, else the embedded ones (config/embedded/).
DATABASES = {"default": embedded.database_settings(env)}
REDIS_URL = embedded.redis_url(env)

PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("pt-br", _("Portuguese (Brazil)"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
FORMAT_MODULE_PATH = ["config.formats"]
USE_TZ = True
TIME_ZONE = env.zone("TIME_ZONE", default="America/Sao_Paulo")

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True

# The pages hold under this policy; the admin has a wider one of its own (config/csp.py says why).
SECURE_CSP = {
    "default-src": [CSP.SELF],
    "object-src": [CSP.NONE],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
    "form-action": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
}
HTTPS = env.boolean("HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
if HTTPS:  # only a proxy of ours may say so
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"

# A stale save must raise, never be swallowed with a message (concurrency's other policy loses the edit).
CONCURRENCY_POLICY = 2
CONCURRENCY_IGNORE_DEFAULT = False

# Vigente's own
# Its logins are in the source, for everybody to read: a real database gets it only when asked for.
VIGENTE_SAMPLE = env.boolean("VIGENTE_SAMPLE", default=embedded.wanted(env))
VIGENTE_WORKSPACE = env.text("VIGENTE_WORKSPACE", default="Geada Sensors")
VIGENTE_CURRENCY = env.choice("VIGENTE_CURRENCY", default="BRL", among=CURRENCIES, example="USD")
VIGENTE_PHONE_REGION = env.choice("VIGENTE_PHONE_REGION", default="BR", among=SUPPORTED_REGIONS, example="US")
VIGENTE_SWEEP_SECONDS = env.integer("VIGENTE_SWEEP_SECONDS", default=60, least=1, most=86_400)
# Back-pressure: agents/backpressure.py.
VIGENTE_WAITING_PER_PERSON = env.integer("VIGENTE_WAITING_PER_PERSON", default=50, least=0, most=10_000)
# Work that waits: conflicts/partitions.py, running.py, watching.py.
VIGENTE_PARTITIONS = env.integer("VIGENTE_PARTITIONS", default=4, least=1, most=256)
VIGENTE_CLAIM_SECONDS = env.integer("VIGENTE_CLAIM_SECONDS", default=15, least=1, most=20)
VIGENTE_WATCH_SECONDS = env.integer("VIGENTE_WATCH_SECONDS", default=5, least=1, most=15)
VIGENTE_BACKOFF_SECONDS = env.integer("VIGENTE_BACKOFF_SECONDS", default=5, least=0, most=60)
VIGENTE_RESTORE_SECONDS = env.integer("VIGENTE_RESTORE_SECONDS", default=10, least=1, most=3_600)

# A turn of a conversation holds its lease while the model answers: conflicts/checks.py says how long that must be.
VIGENTE_TURN_SECONDS = env.integer("VIGENTE_TURN_SECONDS", default=90, least=1, most=600)
VIGENTE_MODEL_TIMEOUT = env.integer("VIGENTE_MODEL_TIMEOUT", default=30, least=1, most=240)
# Who writes the agent's answers (agents/responders/port.py), and how often workers look for due ones.
VIGENTE_RESPONDER = env.text("VIGENTE_RESPONDER", default="agents.responders.embedded.Embedded")
VIGENTE_TURN_ROUND_SECONDS = env.integer("VIGENTE_TURN_ROUND_SECONDS", default=1, least=1, most=30)

# How often, per name (conflicts/limits.py): a language model, an outside service, a channel and contact; what one
# visitor of a chat writes, and how many visitors begin one.
VIGENTE_LIMITS = {
    "model": "60/minute",
    "api": "600/minute",
    "channel": "30/hour",
    "inbound": "60/minute",
    "newcomers:address": "30/hour",
    "newcomers:channel": "600/hour",
    **env.pairs("VIGENTE_LIMITS"),
}

# Channels (crm/channels/): under which address the providers reach us, and what each of them needs. A secret that stays
# empty means that nothing from there is believed; a token, that nothing can be sent. Of a secret there may be two
# while one replaces the other.
VIGENTE_PUBLIC_URL = env.address("VIGENTE_PUBLIC_URL")
VIGENTE_WHATSAPP_URL = env.address("VIGENTE_WHATSAPP_URL", default="https://graph.facebook.com/v25.0")
VIGENTE_WHATSAPP_TOKEN = env.text("VIGENTE_WHATSAPP_TOKEN")
VIGENTE_WHATSAPP_APP_SECRET = env.words("VIGENTE_WHATSAPP_APP_SECRET", default="")
VIGENTE_WHATSAPP_VERIFY_TOKEN = env.text("VIGENTE_WHATSAPP_VERIFY_TOKEN")
VIGENTE_TWILIO_URL = env.address("VIGENTE_TWILIO_URL", default="https://api.twilio.com")
VIGENTE_TWILIO_ACCOUNT_SID = env.text("VIGENTE_TWILIO_ACCOUNT_SID")
VIGENTE_TWILIO_AUTH_TOKEN = env.words("VIGENTE_TWILIO_AUTH_TOKEN", default="")
# Mail goes out over a mail server, or over a service that django-anymail knows; its webhooks come in under /anymail/.
MAILERS = env.mailers()
SILENCED_SYSTEM_CHECKS = ["mail.W001"]  # no mail server is in order: the channel says so itself (crm/channels/mail.py)
ANYMAIL = env.pairs("VIGENTE_ANYMAIL")

LOG_LEVEL = env.choice("LOG_LEVEL", default="INFO", among=LOG_LEVELS, example="WARNING")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
}
