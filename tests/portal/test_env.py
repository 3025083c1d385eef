"""Settings are read once, and a wrong one ends the start with its name and what was expected."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from portal import env

pytestmark = pytest.mark.row("P9")

NAME = "SKILLQUAY_TRIED"
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("value", ["nonsense!", "a b", "-x", "http://x"])
def test_an_address_to_bind_to_is_checked(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match=f"{NAME}=.*host name"):
        env.host(NAME, "127.0.0.1")


@pytest.mark.parametrize("value", ["::1", "0.0.0.0", "localhost", "skills.example"])
def test_addresses_and_names_can_be_bound_to(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    assert env.host(NAME, "127.0.0.1") == value


def test_trusted_proxies_are_addresses_or_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "10.0.0.1, 10.1.0.0/16")
    assert env.networks(NAME) == ["10.0.0.1", "10.1.0.0/16"]
    monkeypatch.setenv(NAME, "10.0.0.1,proxy")
    with pytest.raises(ImproperlyConfigured, match=f"{NAME}='proxy'"):
        env.networks(NAME)


@pytest.mark.parametrize("value", ["x", "ftp://x", "https:///path", "http://"])
def test_a_web_address_needs_a_scheme_and_a_host(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match=f"{NAME}=.*https://"):
        env.url(NAME, "", ("http", "https"))


def test_of_many_who_make_a_key_at_once_all_have_the_same(tmp_path: Path) -> None:
    path, gate = tmp_path / "key", threading.Barrier(8)

    def ask(_: int) -> str:
        gate.wait(10)
        return env.stored_key(path)

    with ThreadPoolExecutor(8) as people:
        keys = set(people.map(ask, range(8)))
    assert keys == {path.read_text()}
    assert len(path.read_text()) == 64
    assert [(each.name, each.stat().st_mode & 0o777) for each in tmp_path.iterdir()] == [("key", 0o600)]


@pytest.mark.parametrize("left", [b"", b"\0" * 64])
def test_a_key_that_went_with_the_power_is_said_and_no_other_taken(tmp_path: Path, left: bytes) -> None:
    (tmp_path / "key").write_bytes(left)
    with pytest.raises(ImproperlyConfigured, match="key is empty"):
        env.stored_key(tmp_path / "key")
    assert (tmp_path / "key").read_bytes() == left


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_variable_is_one_that_is_not_set(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    assert env.text(NAME, "x") == "x"
    assert env.flag(NAME, True) is True
    assert env.number(NAME, 7) == 7
    assert env.choice(NAME, "a", ("a", "b")) == "a"
    assert env.url(NAME, "http://x", ("http",)) == "http://x"
    assert env.folder(NAME, Path("/tmp")) == Path("/tmp")


@pytest.mark.parametrize("value", ["abc", "0", "70000", "1.5", "-1", "\u0663"])
def test_a_number_is_whole_and_within_its_bounds(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ImproperlyConfigured, match=f"{NAME}=.*whole number from 1 to 65535"):
        env.number(NAME, 8000, minimum=1, maximum=65535)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SKILLQUAY_BIND", "127.0.0.1:8000", "SKILLQUAY_BIND='127.0.0.1:8000': expected an IP address"),
        ("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none", "The database does not answer"),
    ],
)
def test_a_command_ends_with_a_line_and_no_traceback(
    tmp_path: Path, name: str, value: str, said: str
) -> None:
    asked = [sys.executable, "manage.py", "set_up"]
    environment = {**os.environ, "SKILLQUAY_VAR": str(tmp_path), name: value}
    done = subprocess.run(asked, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_whose_reader_has_enough_says_nothing_more(tmp_path: Path) -> None:
    asked = [sys.executable, "manage.py", "help"]
    environment = {**os.environ, "SKILLQUAY_VAR": str(tmp_path)}
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as nobody:
        done = subprocess.run(
            asked, env=environment, cwd=ROOT, stdout=nobody, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (1, b"")


def test_name_that_resembles_a_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SKILLQUAY_TOKEN", "SKILLQUAY_OF_ANOTHER_PROGRAM", NAME):
        monkeypatch.setenv(name, "1")
    env.require_known_names()
    monkeypatch.setenv("SKILLQUAY_PROT", "8080")
    with pytest.raises(ImproperlyConfigured, match=r"SKILLQUAY_PROT.*SKILLQUAY_PORT"):
        env.require_known_names()


def test_setting_that_needs_an_absent_set_of_packages_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    env.require_package("absent_module", "s3", needed_by=NAME)
    monkeypatch.setenv(NAME, "s3://bucket")
    env.require_package("json", "s3", needed_by=NAME)
    with pytest.raises(ImproperlyConfigured, match=f"{NAME}.*requirements/s3.txt"):
        env.require_package("absent_module", "s3", needed_by=NAME)
