#!/usr/bin/env python
"""Skillquay's command line: ``python manage.py help`` lists what it can do."""

import os
import sys

OURS = ("bench", "portal", "registry", "tests", "worker")
BROKEN = (
    "The packages of Skillquay are missing or broken ({}). Run `make -B .venv/runtime`, then start again."
)

try:
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    from registry.packages.problems import Refusal
    from worker.health.release import version
except ImportError as error:
    sys.exit(BROKEN.format(error))

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    try:
        if sys.argv[1:] == ["--version"]:
            # Needs no settings, which a wrong environment refuses.
            sys.stdout.write(f"Skillquay {version()}\n")
        else:
            execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except ModuleNotFoundError as error:
        if not error.name or error.name.split(".")[0] in OURS:
            raise
        sys.exit(BROKEN.format(error))
    except ImproperlyConfigured as wrong:
        sys.exit(f"{wrong}")
    except OperationalError as away:
        sys.exit(f"The database does not answer: {away}")
    except BrokenPipeError:  # who reads has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Refusal as refused:
        sys.exit(f"{refused.code}: {refused} {refused.problems[0].remedy()}")
