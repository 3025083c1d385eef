"""Reads ``tests/triggers.yaml``: utterances that must or must not match the skill."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.packages.checks.errors import TRIGGER_TESTS_INVALID
from registry.packages.limits import Limits
from registry.packages.manifest.yaml_reader import YamlReader
from registry.packages.package import PackageFile
from registry.packages.problems import LazyMessage, Problem, Refusal, gettext_noop

TRIGGERS_YAML = "tests/triggers.yaml"
MAX_TESTS = 50
MAX_UTTERANCE_LENGTH = 500
_MAX_BYTES = 64 * 1024
_LISTS = {"match": True, "not_match": False}


@dataclass(frozen=True)
class PackagedTriggerTest:
    utterance: str
    must_match: bool
    line: int | None


@dataclass(frozen=True)
class PackagedTriggerTests:
    """The valid trigger tests of a package, and the problems of invalid ones."""

    tests: tuple[PackagedTriggerTest, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_trigger_tests(files: Sequence[PackageFile]) -> PackagedTriggerTests:
    file = next((each for each in files if each.path == TRIGGERS_YAML), None)
    if file is None:
        return PackagedTriggerTests()
    reader = YamlReader(Limits(), TRIGGERS_YAML)
    try:
        values = reader.read(_text(file.data))
    except UnicodeDecodeError:
        return PackagedTriggerTests(problems=(_invalid(1, gettext_noop("the file is not UTF-8 text")),))
    except Refusal as refused:
        return PackagedTriggerTests(
            problems=tuple(replace(each, severity="warning") for each in refused.problems)
        )
    return _read(values, reader)


def _text(data: bytes) -> str:
    if len(data) > _MAX_BYTES:
        reason = LazyMessage(gettext_noop("the file has more than %(limit)s bytes"), limit=_MAX_BYTES)
        raise Refusal(_invalid(1, reason))
    return data.decode("utf-8-sig")


def _read(values: object, reader: YamlReader) -> PackagedTriggerTests:
    if not isinstance(values, Mapping):
        reason = gettext_noop("the file must contain the lists `match` and `not_match`")
        return PackagedTriggerTests(problems=(_invalid(1, reason),))
    tests: dict[str, PackagedTriggerTest] = {}
    problems = []
    for test in _entries(values, reader):
        if isinstance(test, Problem):
            problems.append(test)
        elif test.utterance in tests:
            problems.append(_invalid(test.line, gettext_noop("the utterance is duplicated")))
        elif len(tests) == MAX_TESTS:
            reason = LazyMessage(
                gettext_noop("only the first %(limit)s utterances are read"), limit=MAX_TESTS
            )
            problems.append(_invalid(test.line, reason))
            break
        else:
            tests[test.utterance] = test
    return PackagedTriggerTests(tuple(tests.values()), tuple(problems))


def _entries(values: Mapping[str, object], reader: YamlReader) -> Iterator[PackagedTriggerTest | Problem]:
    for name, utterances in values.items():
        line = reader.lines.get((name,))
        if name not in _LISTS:
            yield _invalid(line, gettext_noop("the only known lists are `match` and `not_match`"))
        elif not isinstance(utterances, list):
            reason = LazyMessage(gettext_noop("`%(field)s` must be a list of utterances"), field=name)
            yield _invalid(line, reason)
        else:
            for index, utterance in enumerate(utterances):
                yield _entry(utterance, _LISTS[name], reader.lines.get((name, str(index)), line))


def _entry(utterance: object, must_match: bool, line: int | None) -> PackagedTriggerTest | Problem:
    if not isinstance(utterance, str) or not utterance.strip():
        return _invalid(line, gettext_noop("an utterance must be text; put it in quotation marks"))
    if len(utterance) > MAX_UTTERANCE_LENGTH:
        text = gettext_noop("an utterance can have at most %(limit)s characters")
        return _invalid(line, LazyMessage(text, limit=MAX_UTTERANCE_LENGTH))
    return PackagedTriggerTest(utterance.strip(), must_match, line)


def _invalid(line: int | None, reason: str) -> Problem:
    return TRIGGER_TESTS_INVALID.problem(reason=reason).at(TRIGGERS_YAML, line)
