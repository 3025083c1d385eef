"""``tests/triggers.yaml``: utterances that must, and must not, lead to the skill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.packages.limits import Limits
from registry.packages.package import PackageFile
from registry.packages.problems import Problem, Refused, problem
from registry.packages.yaml_reading import YamlReader

TRIGGERS_YAML = "tests/triggers.yaml"
MOST_TESTS = 50
LONGEST_UTTERANCE = 500
_MOST_BYTES = 64 * 1024
_LISTS = {"match": True, "not_match": False}


@dataclass(frozen=True)
class TriggerTest:
    utterance: str
    must_match: bool
    line: int | None


@dataclass(frozen=True)
class TriggerTests:
    """What a package's file asks for, and what is wrong with it: of a flawed entry nothing is asked."""

    tests: tuple[TriggerTest, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_trigger_tests(files: Sequence[PackageFile]) -> TriggerTests:
    file = next((each for each in files if each.path == TRIGGERS_YAML), None)
    if file is None:
        return TriggerTests()
    reader = YamlReader(Limits(), TRIGGERS_YAML)
    try:
        values = reader.read(_text(file.data))
    except UnicodeDecodeError:
        return TriggerTests(problems=(_flaw(1, "it is not UTF-8 text"),))
    except Refused as refused:
        return TriggerTests(problems=tuple(replace(each, severity="warning") for each in refused.problems))
    return _read(values, reader)


def _text(data: bytes) -> str:
    if len(data) > _MOST_BYTES:
        raise Refused(_flaw(1, f"it has more than {_MOST_BYTES} bytes"))
    return data.decode("utf-8-sig")


def _read(values: object, reader: YamlReader) -> TriggerTests:
    if not isinstance(values, Mapping):
        return TriggerTests(problems=(_flaw(1, f"it must hold the lists {' and '.join(_LISTS)}"),))
    tests: dict[str, TriggerTest] = {}
    problems = []
    for test in _entries(values, reader):
        if isinstance(test, Problem):
            problems.append(test)
        elif test.utterance in tests:
            problems.append(_flaw(test.line, "the utterance stands there twice"))
        elif len(tests) == MOST_TESTS:
            problems.append(_flaw(test.line, f"what comes after {MOST_TESTS} utterances is not read"))
            break
        else:
            tests[test.utterance] = test
    return TriggerTests(tuple(tests.values()), tuple(problems))


def _entries(values: Mapping[str, object], reader: YamlReader) -> Iterator[TriggerTest | Problem]:
    for name, given in values.items():
        line = reader.lines.get((name,))
        if name not in _LISTS:
            yield _flaw(line, f"only {' and '.join(_LISTS)} are known here")
        elif not isinstance(given, list):
            yield _flaw(line, f"{name} must be a list of utterances")
        else:
            for place, said in enumerate(given):
                yield _entry(said, _LISTS[name], reader.lines.get((name, str(place)), line))


def _entry(said: object, must_match: bool, line: int | None) -> TriggerTest | Problem:
    if not isinstance(said, str) or not said.strip():
        return _flaw(line, "an utterance is a text; put it in quotation marks")
    if len(said) > LONGEST_UTTERANCE:
        return _flaw(line, f"an utterance has at most {LONGEST_UTTERANCE} characters")
    return TriggerTest(said.strip(), must_match, line)


def _flaw(line: int | None, reason: str) -> Problem:
    return problem("TRIGGER_TESTS_INVALID", path=TRIGGERS_YAML, line=line, reason=reason)
