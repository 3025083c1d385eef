"""A site under ``manage.py up`` for the tests of a module; its leases are longer than the longest lock."""

from __future__ import annotations

import pytest

from tests.site import Site

BUSY = """
import argparse, json, os, time
parser = argparse.ArgumentParser()
parser.add_argument("--number", type=int, default=0)
parser.add_argument("--seconds", type=float, default=0.1)
parser.add_argument("--told", default="")
asked = parser.parse_args()
def tell(what):
    if asked.told:
        with open(asked.told, "a") as file:
            file.write(f"{what} {asked.number}\\n")
tell("begun")
print("begun", flush=True)
time.sleep(asked.seconds)
tell("done")
print(json.dumps({"number": asked.number}))
"""


@pytest.fixture(scope="module")
def make_site(tmp_path_factory):
    """``make_site(settings…)``: set up with a team ``ops`` and not started yet; ended with the module."""
    made: list[Site] = []

    def make(folder=None, **settings):
        folder = folder or tmp_path_factory.mktemp("faults")
        site = Site(folder, SKILLQUAY_EXAMPLES="0", SKILLQUAY_LEASE_SECONDS="10", **settings)
        made.append(site)
        site.set_up("ops")
        return site

    yield make
    for site in made:
        site.stop()
