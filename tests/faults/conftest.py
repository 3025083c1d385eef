"""A site under ``manage.py up`` for the tests of a module; its leases are longer than the longest lock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.site import Site, free_port

TIMES = int(os.environ.get("FAULT_TIMES", "1"))  # how many times the runs and kills of the short form

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
    """``make_site(settings…)``: set up with teams ``ops`` and ``dev``, not started; ended with the module."""
    made: list[Site] = []

    def make(folder=None, **settings):
        folder = folder or tmp_path_factory.mktemp("faults")
        told = {"SKILLQUAY_EXAMPLES": "0", "SKILLQUAY_LEASE_SECONDS": "10", **settings}
        site = Site(folder, **told)
        made.append(site)
        site.set_up("ops", "dev")
        return site

    yield make
    for site in made:
        site.stop()


@pytest.fixture
def redis(tmp_path):
    """``redis()``: starts a server of the test's own; it is killed by what is returned."""
    program = shutil.which("redis-server")
    if not program:
        pytest.skip("redis-server is not installed")
    port, started = free_port(), []

    def start():
        argv = [program, "--port", str(port), "--save", "", "--dir", str(tmp_path), "--bind", "127.0.0.1"]
        started.append(subprocess.Popen(argv, stdout=subprocess.DEVNULL))
        return started[-1]

    start.url = f"redis://127.0.0.1:{port}/0"
    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def disk(tmp_path):
    """``disk(megabytes)``: a folder whose ``var`` is a small disk of its own."""
    mounted = []

    def make(size):
        if os.geteuid() != 0 or not sys.platform.startswith("linux"):
            pytest.skip("only root may mount a small disk")
        folder = tmp_path / "site"
        (folder / "var").mkdir(parents=True)
        argv = ["mount", "-t", "tmpfs", "-o", f"size={size}m,mode=0700", "tmpfs", str(folder / "var")]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no small disk can be mounted: {done.stderr.strip()}")
        mounted.append(folder / "var")
        return folder

    yield make
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
