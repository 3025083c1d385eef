"""A malicious package stays held, whatever its author writes about it."""

from __future__ import annotations

import pytest

from registry.packages.read_package import read_files
from registry.packages.scan.scan import RULES, scan
from tests.attacks.malicious_packages import CHINESE, ENGLISH, SAMPLES, described

pytestmark = pytest.mark.row("P3", "P9")


def certain_rules(files):
    return {one.rule for one in scan(read_files(list(files.items()))) if one.certain}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_malicious_package_is_held_with_each_self_description(sample):
    assert sample.rule in certain_rules(described(sample, ""))
    released = [one for one in ENGLISH + CHINESE if sample.rule not in certain_rules(described(sample, one))]
    assert released == []


def test_there_is_a_sample_of_each_rule_that_holds_a_version_and_twenty_sentences():
    informing = {"forget-rules", "literal-key", "compiled-code", "unscanned", "tools-beyond"}
    assert {sample.rule for sample in SAMPLES} == set(RULES) - informing
    assert len({sample.name for sample in SAMPLES}) == len(SAMPLES) >= 26
    assert len(set(ENGLISH + CHINESE)) == 20
