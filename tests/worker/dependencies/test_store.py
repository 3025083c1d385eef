"""The archive of a build is stored only if it is within the site's limits."""

from __future__ import annotations

import pytest

from registry.packages.problems import Refusal
from registry.storage import blobs
from worker.dependencies.store import store_tree

pytestmark = [pytest.mark.row("C6"), pytest.mark.django_db]


@pytest.fixture
def stored(monkeypatch):
    """The blobs that were stored."""
    done, store_stream = [], blobs.store_stream

    def store(pieces, **options):
        done.append(store_stream(pieces, **options))
        return done[-1]

    monkeypatch.setattr(blobs, "store_stream", store)
    return done


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "deps").mkdir()
    for name in ("a.py", "b.py"):
        (tmp_path / "deps" / name).write_text("X = 1\n")
    return tmp_path


def test_tree_with_too_many_files_is_not_stored(tree, stored, settings):
    settings.SKILLQUAY_DEPENDENCIES_FILES = 1
    with pytest.raises(Refusal) as refused:
        store_tree(tree, "deps", check_stop=lambda: None)
    assert refused.value.code == "DEPENDENCIES_TOO_LARGE"
    assert stored == []


def test_tree_within_the_limits_is_stored(tree, stored, settings):
    settings.SKILLQUAY_DEPENDENCIES_FILES = 2
    assert store_tree(tree, "deps", check_stop=lambda: None) == stored[0]
