"""What scripts report as memory writes, and how it is read."""

import pytest

from worker.protocols.formats.traces import MAX_MEMORY_WRITES, MAX_METADATA_LENGTH, parse_memory_writes

pytestmark = pytest.mark.row("C10")
WRITE = {"ownerType": "user", "ownerId": "u1", "type": "fact", "importance": 3, "content": "c"}


def read(*writes, abp=False):
    return parse_memory_writes({"memoryWrites": list(writes)}, abp=abp)


def test_the_importance_of_abp_tools_is_spread_over_one_to_five_and_the_original_kept():
    mapped = {0: 1, 0.1: 1, 0.2: 2, 0.5: 3, 0.8: 4, 0.9: 5, 1: 5, 3: 3, 5: 5}
    writes, warnings = read(*({**WRITE, "importance": given} for given in mapped), abp=True)
    assert [write["importance"] for write in writes] == list(mapped.values())
    originals = [write.get("originalImportance", write["importance"]) for write in writes]
    assert (originals, warnings) == (list(mapped), ())


@pytest.mark.row("C9")
def test_the_example_of_an_abp_tool_is_read_whole():
    (write,), warnings = read(
        {
            "type": "preference", "content": "用户喜欢喝拿铁", "importance": 0.8,
            "metadata": {"source": "skill", "skillName": "PreferenceRecorder", "category": "drink"},
        },
        abp=True,
    )  # fmt: skip
    assert warnings == ()
    assert (write["ownerType"], write["ownerId"], write["type"]) == ("user", "", "preference")
    assert (write["importance"], write["originalImportance"]) == (4, 0.8)
    assert write["metadata"]["category"] == "drink"


def test_an_abp_tool_may_leave_out_the_importance():
    (write,), _ = read({"type": "fact", "content": "c"}, abp=True)
    assert write["importance"] == 3


@pytest.mark.parametrize(("given", "kept"), [(2.5, 3), (4.4, 4), (1.0, 1), (5, 5)])
def test_a_fraction_becomes_the_nearest_whole_importance(given, kept):
    (write,), _ = read({**WRITE, "importance": given})
    assert write["importance"] == kept
    assert write.get("originalImportance", kept) == given


def test_a_fraction_of_one_is_no_importance_outside_abp():
    assert read({**WRITE, "importance": 0.8})[0] == ()


def test_omitted_owner_is_the_caller():
    (write,), warnings = read({**WRITE, "ownerId": None})
    assert (write["ownerId"], warnings) == ("", ())


@pytest.mark.row("C10")
@pytest.mark.parametrize("owner", ["", "  "])
def test_empty_owner_is_dropped_with_a_warning_except_for_abp(owner):
    assert read({**WRITE, "ownerId": owner}) == ((), ("memoryWrites/0 was dropped: ownerId is empty",))
    (write,), warnings = read({**WRITE, "ownerId": owner}, abp=True)
    assert (write["ownerId"], warnings) == ("", ())


@pytest.mark.parametrize("metadata", [7, [1], {"a": "x" * MAX_METADATA_LENGTH}])
def test_metadata_that_cannot_be_kept_is_left_out_with_a_warning(metadata):
    (write,), (warning,) = read({**WRITE, "metadata": metadata})
    assert write["metadata"] == {}
    assert warning.startswith("memoryWrites/0 lost its metadata")


def test_of_ten_thousand_writes_the_first_are_kept_and_the_warning_says_how_many():
    writes, warnings = read(*[WRITE] * 10_000)
    assert len(writes) == MAX_MEMORY_WRITES
    assert warnings == (f"memoryWrites: only the first {MAX_MEMORY_WRITES} were kept",)


def test_names_in_snake_case_are_taken_too():
    written = {"owner_type": "task", "owner_id": "t", "type": "event", "importance": 1, "content": "c"}
    (write,), _ = parse_memory_writes({"memory_writes": [written]})
    assert (write["ownerType"], write["ownerId"]) == ("task", "t")
