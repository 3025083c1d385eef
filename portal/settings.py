"""Django's settings. docs/reference/settings.md lists the environment variables that set them."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from portal import env
from portal.sign_in.settings import *  # noqa: F403
from portal.sign_in.settings import caches
from registry.api.reference.enum_names import ENUM_NAMES

BASE_DIR = Path(__file__).resolve().parent.parent

# Site ---------------------------------------------------------------------------------------
SKILLQUAY_VAR = env.writable_folder("SKILLQUAY_VAR", BASE_DIR / "var")
SKILLQUAY_PORT = env.number("SKILLQUAY_PORT", 8000, minimum=1, maximum=65535)
SKILLQUAY_BIND = env.host("SKILLQUAY_BIND", "127.0.0.1")
SKILLQUAY_PUBLIC_URL = env.url(
    "SKILLQUAY_PUBLIC_URL", f"http://127.0.0.1:{SKILLQUAY_PORT}", ("http", "https")
)
SKILLQUAY_TRUSTED_PROXIES = env.networks("SKILLQUAY_TRUSTED_PROXIES")
SKILLQUAY_METRICS_TOKEN = env.text("SKILLQUAY_METRICS_TOKEN")  # "": metrics for this machine only
SKILLQUAY_EXAMPLES = env.flag("SKILLQUAY_EXAMPLES", True)
SKILLQUAY_TEAM_LIMITS = {  # 0: no limit
    "concurrent_runs": env.number("SKILLQUAY_TEAM_CONCURRENT_RUNS", 0),
    "runs_per_day": env.number("SKILLQUAY_TEAM_RUNS_PER_DAY", 0),
    "cpu_seconds_per_day": env.number("SKILLQUAY_TEAM_CPU_SECONDS_PER_DAY", 0),
    "stored_bytes": env.number("SKILLQUAY_TEAM_STORED_BYTES", 0),
}
SKILLQUAY_RATE_LIMITS = {  # requests per minute and caller; 0: no limit
    "sign_in": env.number("SKILLQUAY_SIGN_INS_PER_MINUTE", 30),
    "search": env.number("SKILLQUAY_SEARCHES_PER_MINUTE", 2400),
    "match": env.number("SKILLQUAY_MATCHES_PER_MINUTE", 2400),
    "publish": env.number("SKILLQUAY_PUBLICATIONS_PER_MINUTE", 180),
    "run": env.number("SKILLQUAY_RUNS_PER_MINUTE", 1200),
    "share_link": env.number("SKILLQUAY_WRONG_SHARE_LINKS_PER_MINUTE", 30),
}
SKILLQUAY_WORKERS = env.number("SKILLQUAY_WORKERS", 2, minimum=1, maximum=256)
SKILLQUAY_WEB_PROCESSES = env.number(
    "SKILLQUAY_WEB_PROCESSES", min(64, env.processors()), minimum=1, maximum=64
)
SKILLQUAY_MAX_QUEUE_SECONDS = env.number("SKILLQUAY_MAX_QUEUE_SECONDS", 2, minimum=1, maximum=600)

# Limits of packages in bytes; no known package reaches them --------------------
SKILLQUAY_MAX_ARCHIVE_BYTES = env.number("SKILLQUAY_MAX_ARCHIVE_BYTES", 20 * 2**20, minimum=1024)
SKILLQUAY_MAX_UNPACKED_BYTES = env.number("SKILLQUAY_MAX_UNPACKED_BYTES", 50 * 2**20, minimum=1024)
SKILLQUAY_MAX_FILE_BYTES = env.number("SKILLQUAY_MAX_FILE_BYTES", 10 * 2**20, minimum=1024)
SKILLQUAY_MAX_ARCHIVE_ENTRIES = env.number("SKILLQUAY_MAX_ARCHIVE_ENTRIES", 2000, minimum=1)

# Limits of runs --------------------------------------------------------------------------------------------
SKILLQUAY_MAX_RUN_SECONDS = env.number("SKILLQUAY_MAX_RUN_SECONDS", 900, minimum=1)  # maximum for a run
SKILLQUAY_DEFAULT_RUN_SECONDS = env.number("SKILLQUAY_DEFAULT_RUN_SECONDS", 300, minimum=1)
SKILLQUAY_MAX_RUN_MEMORY_MB = env.number("SKILLQUAY_MAX_RUN_MEMORY_MB", 512, minimum=64)
SKILLQUAY_MAX_RUN_DISK_MB = env.number("SKILLQUAY_MAX_RUN_DISK_MB", 256, minimum=1)
SKILLQUAY_MAX_RUN_PROCESSES = env.number("SKILLQUAY_MAX_RUN_PROCESSES", 64, minimum=8)
SKILLQUAY_MAX_RUN_CPUS = env.number("SKILLQUAY_MAX_RUN_CPUS", 0, maximum=1024)  # processors; 0: no limit
SKILLQUAY_MAX_RUN_CONNECTIONS = env.number("SKILLQUAY_MAX_RUN_CONNECTIONS", 64, minimum=1)
SKILLQUAY_MAX_RUN_NETWORK_BYTES = env.number("SKILLQUAY_MAX_RUN_NETWORK_BYTES", 268_435_456, minimum=0)
SKILLQUAY_MAX_RUN_OUTPUT_BYTES = env.number("SKILLQUAY_MAX_RUN_OUTPUT_BYTES", 10_485_760, minimum=1024)
SKILLQUAY_MAX_BATCH_RUNS = env.number("SKILLQUAY_MAX_BATCH_RUNS", 1000, minimum=1, maximum=10_000)
SKILLQUAY_MAX_RUN_ATTEMPTS = env.number("SKILLQUAY_MAX_RUN_ATTEMPTS", 3, minimum=1, maximum=20)
SKILLQUAY_LEASE_SECONDS = env.number(
    "SKILLQUAY_LEASE_SECONDS", 30, minimum=3, maximum=600
)  # renewed three times within it
SKILLQUAY_MAX_INPUT_BYTES = env.number("SKILLQUAY_MAX_INPUT_BYTES", 50 * 2**20, minimum=1)
SKILLQUAY_INPUT_HOURS = env.number("SKILLQUAY_INPUT_HOURS", 24, minimum=1)
SKILLQUAY_APPROVAL_HOURS = env.number("SKILLQUAY_APPROVAL_HOURS", 72, minimum=1, maximum=8760)
SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES = env.number("SKILLQUAY_MAX_IMPORT_ARCHIVE_BYTES", 50 * 2**20, minimum=1)
SKILLQUAY_MAX_IMPORT_UNPACKED_BYTES = env.number(
    "SKILLQUAY_MAX_IMPORT_UNPACKED_BYTES", 200 * 2**20, minimum=1
)
SKILLQUAY_MAX_IMPORT_ENTRIES = env.number("SKILLQUAY_MAX_IMPORT_ENTRIES", 50_000, minimum=1)
SKILLQUAY_MANAGED_DIR = env.text("SKILLQUAY_MANAGED_DIR")
SKILLQUAY_MAX_REQUEST_BYTES = env.number(
    "SKILLQUAY_MAX_REQUEST_BYTES", 2 * 2**20, minimum=1024
)  # a JSON body
SKILLQUAY_MAX_EVENT_BYTES = env.number("SKILLQUAY_MAX_EVENT_BYTES", 256 * 2**10, minimum=1024)
SKILLQUAY_EVENT_DAYS = env.number("SKILLQUAY_EVENT_DAYS", 30, minimum=1)
SKILLQUAY_MEMORY_REVIEW_DAYS = env.number("SKILLQUAY_MEMORY_REVIEW_DAYS", 30, minimum=1, maximum=3650)
SKILLQUAY_MEMORY_URL = env.url("SKILLQUAY_MEMORY_URL", "", ("http", "https"))
SKILLQUAY_MEMORY_KEY = env.secret("SKILLQUAY_MEMORY_KEY", needed_by="SKILLQUAY_MEMORY_URL")
SKILLQUAY_REPORTS_TO_HIDE = env.number("SKILLQUAY_REPORTS_TO_HIDE", 2, minimum=0)
SKILLQUAY_REPORTS_PER_DAY = env.number("SKILLQUAY_REPORTS_PER_DAY", 20, minimum=1)
SKILLQUAY_EVENTS_PER_MINUTE = env.number("SKILLQUAY_EVENTS_PER_MINUTE", 60, minimum=1)
SKILLQUAY_SANDBOX = env.choice("SKILLQUAY_SANDBOX", "auto", ("auto", "bwrap", "nsrun", "landlock", "unsafe"))
SKILLQUAY_SANDBOX_MINIMUM = env.choice("SKILLQUAY_SANDBOX_MINIMUM", "nsrun", ("bwrap", "nsrun", "landlock"))
SKILLQUAY_SANDBOX_BACKEND = env.text("SKILLQUAY_SANDBOX_BACKEND")
SKILLQUAY_SANDBOX_KERNEL_LIMITS = env.flag("SKILLQUAY_SANDBOX_KERNEL_LIMITS", False)
SKILLQUAY_JOBS = env.text("SKILLQUAY_JOBS")
SKILLQUAY_MIN_FREE_MB = env.number("SKILLQUAY_MIN_FREE_MB", 0)
# Dependencies of scripts: worker.dependencies
SKILLQUAY_PYTHON_INDEX = env.url("SKILLQUAY_PYTHON_INDEX", "", ("http", "https"))
SKILLQUAY_NPM_REGISTRY = env.url("SKILLQUAY_NPM_REGISTRY", "", ("http", "https"))
SKILLQUAY_JSR_URL = env.url("SKILLQUAY_JSR_URL", "", ("http", "https"))
SKILLQUAY_DENO_HOSTS = env.names("SKILLQUAY_DENO_HOSTS")
SKILLQUAY_DEPENDENCIES_MB = env.number("SKILLQUAY_DEPENDENCIES_MB", 512, minimum=1)
SKILLQUAY_DEPENDENCIES_FILES = env.number("SKILLQUAY_DEPENDENCIES_FILES", 50_000, minimum=10)
SKILLQUAY_DEPENDENCIES_SECONDS = env.number("SKILLQUAY_DEPENDENCIES_SECONDS", 600, minimum=5, maximum=3500)
SKILLQUAY_DEPENDENCIES_DAYS = env.number("SKILLQUAY_DEPENDENCIES_DAYS", 30, minimum=1)
SKILLQUAY_RUNTIMES = env.pairs("SKILLQUAY_RUNTIMES")
SKILLQUAY_SKILL_SCANNER = env.file("SKILLQUAY_SKILL_SCANNER")
SKILLQUAY_YARA_RULES = env.text("SKILLQUAY_YARA_RULES")

# Outbound requests: registry.http_client.fetch ------------------------------------------------------------
SKILLQUAY_OUTBOUND_ALLOW = env.hosts("SKILLQUAY_OUTBOUND_ALLOW")
SKILLQUAY_OUTBOUND_CA = env.file("SKILLQUAY_OUTBOUND_CA")
# Languages of trigger phrases, and the model that proposes phrases; both off unless set
SKILLQUAY_LANGUAGES = env.names("SKILLQUAY_LANGUAGES")
SKILLQUAY_MODEL_URL = env.url("SKILLQUAY_MODEL_URL", "", ("http", "https"))
env.require_package("pydantic_ai", "models", needed_by="SKILLQUAY_MODEL_URL")
SKILLQUAY_MODEL_KEY = env.text("SKILLQUAY_MODEL_KEY")
SKILLQUAY_MODEL_NAME = env.text("SKILLQUAY_MODEL_NAME")
# The model also runs the agent loops of skills with context: fork (worker.executors.agent_loop)
SKILLQUAY_MODELS = env.pairs("SKILLQUAY_MODELS")
SKILLQUAY_MODEL_PROTOCOL = env.choice("SKILLQUAY_MODEL_PROTOCOL", "openai", ("openai", "anthropic"))
SKILLQUAY_MODEL_SECONDS = env.number("SKILLQUAY_MODEL_SECONDS", 120, minimum=1, maximum=3600)
SKILLQUAY_FORK_TOKENS = env.number("SKILLQUAY_FORK_TOKENS", 200_000, minimum=1000)
SKILLQUAY_FORK_TURNS = env.number("SKILLQUAY_FORK_TURNS", 25, minimum=1, maximum=1000)
SKILLQUAY_OUTBOUND_SECONDS = env.number("SKILLQUAY_OUTBOUND_SECONDS", 120, minimum=1, maximum=3600)
SKILLQUAY_SOURCES = env.sources()
# Sign-up and mail: registry.accounts
globals().update(env.mail_server("SKILLQUAY_EMAIL_URL"))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.text("SKILLQUAY_EMAIL_FROM", "skillquay@localhost")
SKILLQUAY_SIGN_UP_DOMAINS = [domain.lower() for domain in env.names("SKILLQUAY_SIGN_UP_DOMAINS")]
SKILLQUAY_SIGN_UP = env.sign_up(
    "SKILLQUAY_SIGN_UP", domains="SKILLQUAY_SIGN_UP_DOMAINS", mail="SKILLQUAY_EMAIL_URL"
)
SKILLQUAY_OIDC = env.issuers()  # registry.single_sign_on


# Django ----------------------------------------------------------------------------------------------------
SECRET_KEY = env.text("SKILLQUAY_SECRET_KEY") or env.stored_key(SKILLQUAY_VAR / "secret-key")
SECRET_KEY_FALLBACKS = env.names("SKILLQUAY_SECRET_KEY_FALLBACKS")
SKILLQUAY_SECRETS_KEYS = env.names("SKILLQUAY_SECRETS_KEYS") or [
    env.stored_key(SKILLQUAY_VAR / "secrets-key")
]
DEBUG = False
ALLOWED_HOSTS = ["*"]  # no URL is built from Host: see registry.core.addresses
INTERNAL_IPS: list[str] = []
ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
AUTH_USER_MODEL = "registry.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "registry",
    "worker",
    "portal",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
]
MIDDLEWARE = [
    "registry.api.middleware.RequestIdMiddleware",
    "portal.health.http_metrics.HttpMetricsMiddleware",
    "portal.delivery.compression.CompressionMiddleware",
    "portal.streaming.kept.answers.KeptAnswerMiddleware",
    "registry.api.middleware.ApiMiddleware",
    "registry.rates.middleware.RateLimitMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "portal.delivery.static_files.StaticFilesMiddleware",
    "portal.middleware.PrivateMiddleware",
    "portal.middleware.UploadMiddleware",
    "portal.streaming.kept.own_changes.OwnChangeMiddleware",
    "portal.middleware.ContentPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "registry.identity.middleware.SessionUserMiddleware",
    "registry.identity.middleware.ActorMiddleware",
    "registry.accounts.middleware.SessionClientMiddleware",
    "portal.middleware.FirstStepMiddleware",
    "portal.middleware.RefusalMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "portal.context.site",
            ]
        },
    }
]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "portal" / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

_HTTPS = SKILLQUAY_PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_ENGINE = "registry.models.session"
SESSION_COOKIE_AGE = 14 * 24 * 3600
CSRF_TRUSTED_ORIGINS = ["{0.scheme}://{0.netloc}".format(urlsplit(SKILLQUAY_PUBLIC_URL))]
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if _HTTPS else 0
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "object-src": [NONE],
    }
}
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
PASSWORD_RESET_TIMEOUT = 24 * 3600
CSRF_FAILURE_VIEW = "portal.pages.errors.views.csrf_failure"

STATIC_URL = "/static/"
STATIC_ROOT = SKILLQUAY_VAR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "portal.delivery.static_files.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

DATA_UPLOAD_MAX_MEMORY_SIZE = SKILLQUAY_MAX_REQUEST_BYTES
DATA_UPLOAD_MAX_NUMBER_FILES = SKILLQUAY_MAX_ARCHIVE_ENTRIES
FILE_UPLOAD_PERMISSIONS = 0o600


# Databases, broker, storage ---------------------------------------------------------------------------------
def database_settings(address: str) -> dict[str, Any]:
    parts = urlsplit(address)
    if parts.scheme == "sqlite" or not address:
        return {
            "ENGINE": "registry.core.sqlite",
            "NAME": parts.path if address else SKILLQUAY_VAR / "skillquay.sqlite3",
            "CONN_MAX_AGE": None,  # opening the file and reading its schema takes a third of a short request
            "OPTIONS": {
                "timeout": 20,
                "transaction_mode": "IMMEDIATE",
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; "
                "PRAGMA cache_size=-16000; PRAGMA mmap_size=1073741824",  # 16 MB; 1 GiB of addresses
            },
        }
    return {
        "ENGINE": "registry.core.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": parts.port or "",
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


DATABASE_URL = env.url("DATABASE_URL", "", ("postgres", "postgresql", "sqlite"))
DATABASES = {"default": database_settings(DATABASE_URL)}
REDIS_URL = env.url("REDIS_URL", "", ("redis", "rediss"))
CACHES = caches(REDIS_URL)
STORAGE_URL = env.url("STORAGE_URL", "", ("s3",))
env.require_package("boto3", "s3", needed_by="STORAGE_URL")
SKILLQUAY_S3_ENDPOINT = env.url("SKILLQUAY_S3_ENDPOINT", "", ("http", "https"))
SKILLQUAY_S3_REGION = env.text("SKILLQUAY_S3_REGION", "us-east-1")
SKILLQUAY_S3_ACCESS_KEY = env.text("SKILLQUAY_S3_ACCESS_KEY")
SKILLQUAY_S3_SECRET_KEY = env.text("SKILLQUAY_S3_SECRET_KEY")
SKILLQUAY_S3_REDIRECTS = env.flag("SKILLQUAY_S3_REDIRECTS", False)
SKILLQUAY_KEEP_ANSWERS = env.flag("SKILLQUAY_KEEP_ANSWERS", True)
SKILLQUAY_ACCEL_PREFIX = env.url_path("SKILLQUAY_ACCEL_PREFIX")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "registry.api.authentication.TokenAuthentication",
        "registry.api.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_SCHEMA_CLASS": "registry.api.reference.openapi.ApiSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "EXCEPTION_HANDLER": "registry.api.error_response.handle_exception",
    "DATETIME_FORMAT": "%Y-%m-%dT%H:%M:%S.%fZ",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Skillquay",
    "DESCRIPTION": "Publish, find and run agent skills.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVERS": [{"url": SKILLQUAY_PUBLIC_URL}],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_SUFFIX": "",
    "COMPONENT_SPLIT_PATCH": False,  # the body of a PATCH is validated like any other
    "POSTPROCESSING_HOOKS": [
        "registry.api.reference.openapi.hash_enums_by_value",
        "drf_spectacular.hooks.postprocess_schema_enums",
    ],
    "ENUM_NAME_OVERRIDES": ENUM_NAMES,
    "SWAGGER_UI_SETTINGS": {
        "deepLinking": False,
        "validatorUrl": None,
        "docExpansion": "none",
        "filter": True,
    },
}

SKILLQUAY_LOG_FORMAT = env.choice("SKILLQUAY_LOG_FORMAT", "line", ("line", "json"))
SKILLQUAY_ACCESS_LOG = env.flag("SKILLQUAY_ACCESS_LOG", False)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"context": {"()": "registry.log_context.ContextFilter"}},
    "formatters": {
        "line": {
            "()": "registry.log_context.LineFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s %(context)s %(message)s",
        },
        "json": {"()": "registry.log_context.JsonLineFormatter"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": SKILLQUAY_LOG_FORMAT,
            "filters": ["context"],
        }
    },
    "root": {
        "handlers": ["stderr"],
        "level": env.choice("SKILLQUAY_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
    },
    "loggers": {"dulwich": {"level": "WARNING"}},  # it logs each fetch twice
}

env.require_known_names()
