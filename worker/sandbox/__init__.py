"""Runs untrusted scripts in isolation. No Django: what an administrator decides comes as a ``Site``."""

from worker.sandbox.policy import Ended, Job, Limits
from worker.sandbox.site import Site
from worker.sandbox.tiers import TierReport, run, usable_tiers

__all__ = ["Ended", "Job", "Limits", "Site", "TierReport", "run", "usable_tiers"]
