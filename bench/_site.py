"""Measures the queue with one broker, in a process with its own site."""

# ruff: noqa: E402 - Django is set up before what needs it is imported
from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import django

django.setup()

from django.conf import settings
from django.core.management import call_command

from bench import _bare
from bench._peers import Peers
from registry.identity.actors import Actor
from registry.models import Team, User
from registry.packages.read_package import read_files
from registry.versions.publishing.publish import publish
from worker.attempts.unpacking import open_package
from worker.models import Run
from worker.protocols.call import Request
from worker.queue import states
from worker.queue.dispatch import wake
from worker.runs import request as runs
from worker.runs.limits import limits_of
from worker.sandbox import layout, runtimes
from worker.sandbox.limits.limits import Limits
from worker.sandbox.policy import Job
from worker.sandbox.tiers import bwrap
from worker.service import inline

SKILL = b"---\nname: bench\ndescription: Prints one JSON line.\nversion: 1.0.0\n---\n# Bench\n"
SCRIPT = b'import json, sys\nprint(json.dumps({"arguments": sys.argv[1:]}))\n'
TIMEOUT_S = 120


def main():
    options = json.loads(sys.argv[1])
    call_command("migrate", verbosity=0)
    actor, version = _publish()
    job = _job_of_run(actor, version)
    loops = _Loops(options["processes"], job)
    like = {"file": job["file"], "processes": options["processes"], "bwrap": job["tier"] == "bwrap"}
    peers = Peers(options["peers"], {**like, "redis": settings.REDIS_URL})
    worker = _start_worker(options["processes"])
    try:
        _burst(actor, version, options["burst"], wakes=options["processes"])  # warm-up
        loops.time("bare_sandboxed", options["processes"])
        until = time.monotonic() + options["seconds"]
        rounds = _rounds(actor, version, loops, peers, options, until)
        idle = _pairs(actor, version, loops, options, until + options["seconds"] / 2)
    finally:
        worker.terminate()
        worker.wait()
        loops.close()
        peers.close()
    found = {"rounds": rounds, "idle": idle, "tier": job["tier"], "processes": options["processes"]}
    print(json.dumps({**found, "peers": peers.versions}))


def _publish():
    user = User.objects.create_superuser("bench", password=None)
    team = Team.objects.create(slug="bench", name="Bench")
    actor = Actor(user=user)
    package = read_files([("SKILL.md", SKILL), ("scripts/bench.py", SCRIPT)])
    return actor, publish(package, team=team, actor=actor).version


def _request(number=0):
    return Request(inputs={"number": number})


def _job_of_run(actor, version):
    """The command, package and limits of a real run, for the bare loops. Also writes the file
    ``start.json``.
    """
    run = runs.request_run(actor=actor, version=version, request=_request())
    inline.execute_here(run)
    run.refresh_from_db()
    if run.status != "succeeded":
        raise SystemExit(f"the measured skill does not run: {run.failure_code} {run.message}")
    package = open_package(version.digest)
    from worker.protocols import prepare as protocols_prepare

    call = protocols_prepare.prepare(
        package.paths, package.manifest, package.profile, Request(**run.request), read=package.read
    )
    limits = asdict(limits_of(package.manifest))
    job = {
        "argv": list(call.argv),
        "package": str(package.folder),
        "limits": limits,
        "environment": dict(call.environment),
        "tier": run.sandbox["tier"],
        "file": str(settings.SKILLQUAY_VAR / "start.json"),
    }
    Path(job["file"]).write_text(json.dumps({"plain": _plain(job), "bwrap": _bwrap(job)}))
    return job


def _plain(job):
    """The command and the working folder to start the script without a sandbox."""
    program, *rest = (part.replace("/skill/", f"{job['package']}/") for part in job["argv"])
    return [str(runtimes.installed()[program].program), *rest], str(settings.SKILLQUAY_VAR)


def _bwrap(job):
    """The sandbox's options for bubblewrap, in which the path ``template`` stands for the job folder."""
    template = settings.SKILLQUAY_VAR / "jobs" / "template"
    (template / "input").mkdir(parents=True)
    like = Job(
        argv=tuple(job["argv"]),
        package_dir=Path(job["package"]),
        job_dir=template,
        environment=job["environment"],
        limits=Limits(**job["limits"]),
    )
    plan = bwrap.plan(like, layout.layout_steps(like, os.path.realpath))
    return {**plan, "program": str(plan["program"]), "template": str(template), "jobs": str(template.parent)}


class _Loops:
    """Warm processes that run the bare loops, as many as the worker has."""

    def __init__(self, processes, job):
        context = get_context("spawn")
        self.pipes, self.processes = [], []
        for _ in range(processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=_bare.serve, args=(theirs, job, str(settings.SKILLQUAY_VAR)))
            process.start()
            self.pipes.append(ours)
            self.processes.append(process)

    def time(self, kind, number):
        """Seconds for ``number`` runs, spread over the processes."""
        share, rest = divmod(number, len(self.pipes))
        begun = time.perf_counter()
        busy = [(pipe, share + (i < rest)) for i, pipe in enumerate(self.pipes) if share + (i < rest)]
        for pipe, part in busy:
            pipe.send((kind, part))
        for pipe, _ in busy:
            pipe.recv()
        return time.perf_counter() - begun

    def close(self):
        for pipe in self.pipes:
            pipe.send(None)
        for process in self.processes:
            process.join()


def _start_worker(processes):
    command = [sys.executable, "-W", "ignore:You're running", "-m", "celery", "--quiet"]
    command += ["-A", "worker", "worker", "--pool", "prefork"]
    command += ["--loglevel", "WARNING", "--concurrency", str(processes)]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    return subprocess.Popen(command, stdout=sys.stderr)


def _rounds(actor, version, loops, peers, options, until):
    """The figures of the requested rounds. On a slow machine, stops at ``until``, but after three rounds."""
    rounds = []
    while len(rounds) < options["rounds"] and (len(rounds) < 3 or time.monotonic() < until):
        rounds.append(_round(len(rounds), actor, version, loops, peers, options))
        ratio = rounds[-1]["burst"] / rounds[-1]["bare_sandboxed"]
        _log(f"round {len(rounds)} of {options['rounds']}: burst {ratio:.2f} of the bare sandboxed loop")
    return rounds


def _pairs(actor, version, loops, options, until):
    pairs = []
    while len(pairs) < options["idle"] and (len(pairs) < 10 or time.monotonic() < until):
        pairs.append(_pair(len(pairs), actor, version, loops))
    _log(f"{len(pairs)} of {options['idle']} pairs")
    return pairs


def _log(line):
    print(f"  {line}", file=sys.stderr, flush=True)


def _round(number, actor, version, loops, peers, options):
    """Runs per second of each kind. Each round starts with another kind, so that load affects all alike."""
    count = options["burst"]
    kinds = {
        "bare_subprocess": lambda: count / loops.time("bare_subprocess", count),
        "bare_sandboxed": lambda: count / loops.time("bare_sandboxed", count),
        "burst": lambda: count / _burst(actor, version, count, wakes=options["processes"]),
        "burst_with_requests": lambda: count / _burst(actor, version, count, wakes=None),
    }
    if "rq_bwrapped" in peers.kinds:
        kinds["bare_bwrapped"] = lambda: count / loops.time("bare_bwrapped", count)
    for kind in peers.kinds:
        kinds[kind] = partial(peers.rate, kind, peers.count(kind, count, options["processes"]))
    names = list(kinds)
    turn = number % len(names)
    rates = {name: kinds[name]() for name in names[turn:] + names[:turn]}
    return {name: rates[name] for name in names}


def _burst(actor, version, count, *, wakes):
    """Seconds until ``count`` runs have ended.

    If ``wakes`` is None, includes the time to request the runs. Otherwise the time starts after all requests,
    when ``wakes`` messages wake the worker.
    """
    begun = time.perf_counter()
    if wakes is not None:
        runs.wake = lambda: False
    last = [runs.request_run(actor=actor, version=version, request=_request(i)).pk for i in range(count)][-1]
    if wakes is not None:
        runs.wake = wake
        begun = time.perf_counter()
        for _ in range(wakes):
            wake()
    _until(lambda: not Run.objects.filter(pk__lte=last).exclude(status__in=states.ENDED).exists())
    return time.perf_counter() - begun


def _pair(number, actor, version, loops):
    """The milliseconds of one bare run and one queued run. Every other pair starts with the queued run."""
    kinds = [("bare", lambda: loops.time("bare_sandboxed", 1)), ("queue", lambda: _single(actor, version))]
    times = {}
    for name, measure in kinds[:: 1 if number % 2 else -1]:
        time.sleep(0.03)
        times[name] = measure() * 1000
    return times


def _single(actor, version):
    begun = time.perf_counter()
    run = runs.request_run(actor=actor, version=version, request=_request())
    _until(lambda: Run.objects.filter(pk=run.pk, status__in=states.ENDED).exists(), every_s=0.002)
    return time.perf_counter() - begun


def _until(done, *, every_s=0.02):
    until = time.monotonic() + TIMEOUT_S
    while not done():
        if time.monotonic() > until:
            raise SystemExit("the worker does not finish its runs")
        time.sleep(every_s)


if __name__ == "__main__":
    main()
