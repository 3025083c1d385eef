"""Runs untrusted scripts in isolation. No Django: what an administrator decides comes as a ``Site``."""

from .policy import Ended, Job, Limits
from .site import Site
from .tiers import TierReport, run, usable_tiers

__all__ = ["Ended", "Job", "Limits", "Site", "TierReport", "run", "usable_tiers"]
