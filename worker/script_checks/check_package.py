"""Runs the checks of a package that need interpreters or the site's limits."""

from registry.packages.package import Package
from registry.packages.problems import Problem
from worker.script_checks.check_scripts import check_scripts
from worker.script_checks.cut_limits import find_cut_limits
from worker.script_checks.prompts import check_prompt


def check_package(package: Package) -> tuple[Problem, ...]:
    """Warnings and notices about scripts and the prompt, and about values above a limit of the site."""
    return (*check_scripts(package), *find_cut_limits(package), *check_prompt(package))
