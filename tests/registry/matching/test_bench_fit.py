from __future__ import annotations

import json
from math import exp
from random import Random

import pytest

from bench import _chat, _wording, fit
from bench._regression import fit_logistic
from registry.matching.ranking import Evidence

pytestmark = pytest.mark.row("C4")


def test_regression_finds_the_weights_of_simulated_answers():
    random = Random(1)
    rows = [[random.random() * 4, float(random.random() < 0.5)] for _ in range(4000)]
    labels = [random.random() < 1 / (1 + exp(2 - 1.5 * strength + flag)) for strength, flag in rows]
    base, strength, flag = fit_logistic(rows, labels, [1.0] * len(rows))
    assert (base, strength, flag) == pytest.approx((-2, 1.5, -1), abs=0.25)


def test_regression_counts_an_answer_as_often_as_its_weight_says():
    rows, labels = [[0.0], [1.0], [1.0], [0.0]], [False, True, False, True]
    twice = fit_logistic([*rows, rows[1]], [*labels, labels[1]], [1.0] * 5)
    assert fit_logistic(rows, labels, [1.0, 2.0, 1.0, 1.0]) == pytest.approx(twice)


def test_fit_separates_requests_from_idle_sentences_and_reports_the_shares(monkeypatch):
    def row(kind, place, strength):
        return {"kind": kind, "place": place, "evidence": [strength, *[0.0] * (len(Evidence._fields) - 1)]}

    random = Random(2)
    full = [row("real", random.choice([1, 1, 2]), 1.5 + random.random()) for _ in range(40)]
    full += [row("idle", None, random.random()) for _ in range(40)]
    full += [{"kind": "real", "place": 1, "evidence": None}, {"kind": "idle", "place": None, "evidence": []}]
    small = [row("real", 1, 1.0), row("absent", None, 0.1)]
    monkeypatch.setattr(fit, "_measured", lambda options, skills, seed, log: small if skills else full)
    document = fit.measure({})
    assert set(document["weights"]) == set(Evidence._fields)
    assert document["weights"]["strength"] > 1
    assert document["full"]["idle"] >= 0.9
    assert document["full"]["lost"] == 0
    assert document["small"]["absent"] == 1
    assert json.dumps(document)
    assert any(line.startswith("MIN_CONFIDENCE") for line in fit.lines(document))


def test_scores_for_the_limit_come_from_weights_fitted_without_the_request(monkeypatch):
    evidence = [1.0]
    rows = [fit.Answer("real", 1, evidence, number, is_small=False) for number in range(20)]
    trained = []

    def record(answers):
        trained.append({each.number for each in answers})
        return 0.0, [float(len(trained))]

    monkeypatch.setattr(fit, "_fit", record)
    scores = fit._held_out_scores(rows)
    assert len(trained) == len(set(scores)) == 10
    for number, score in enumerate(scores):
        (fold,) = {place for place, each in enumerate(trained) if number not in each}
        assert score == pytest.approx(1 / (1 + exp(-fold - 1)))


def test_wording_gives_words_the_sign_of_the_texts_that_they_are_in():
    texts = [["sort", "file"], ["sort", "mail"], ["sort", "it"], ["cat", "it"], ["cat", "sleep"], ["cat"]]
    fitted = _wording.fit_wording(texts, [True] * 3 + [False] * 3, [1.0] * 6)
    assert fitted["sort"] > 0 > fitted["cat"]
    assert set(fitted) == {"sort", "cat"}  # the other words are in fewer than three texts
    assert list(_wording.lines(fitted))[1:] == [f"{term} {weight}" for term, weight in fitted.items()]


def test_fit_measures_and_writes_the_wording(monkeypatch, tmp_path):
    fields = len(Evidence._fields)
    full = [
        {"kind": kind, "place": place, "evidence": [1.0] * fields, "terms": [word]}
        for kind, place, word in [("real", 1, "sort"), ("idle", None, "cat")] * 20
    ]
    monkeypatch.setattr(fit, "_measured", lambda options, skills, seed, log: full[:2] if skills else full)
    texts = tmp_path / "texts.jsonl"
    texts.write_text("\n".join([json.dumps({"text": "tidy this", "is_request": True})] * 5))
    written = tmp_path / "wording.txt"
    document = fit.measure({"texts": str(texts), "wording": str(written)})
    assert document["weights"]["wording"] > 0
    assert {line.split(" ")[0] for line in written.read_text().splitlines()[1:]} >= {"sort", "cat", "tidy"}


def test_wording_of_a_request_is_measured_by_words_fitted_without_it(monkeypatch):
    answers = [
        fit.Answer("real", 1, [0.0] * len(Evidence._fields), number, is_small=number >= 20, terms=("sort",))
        for number in range(25)
    ]
    answers = [fit.Answer(**{**vars(each), "number": each.number % 20}) for each in answers]
    trained = []

    def record(used, texts):
        trained.append({each.number for each in used})
        return {"sort": len(trained)}

    monkeypatch.setattr(fit, "_fit_wording", record)
    for each in fit._with_held_out_wording(answers, []):
        assert each.number not in trained[int(each.evidence[-1]) - 1]


def test_chat_sentences_are_sampled_by_language_and_length(tmp_path, monkeypatch):
    for name, lines in {
        "english": ["- - See you at the lake", "  - Yes"],
        "chinese": ["- - 湖边见到你了"],
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "talk.yml").write_text("categories:\n- talk\n" + "\n".join(lines))
        (tmp_path / name / "money.yml").write_text("- - What does a bank do today\n- - 银行今天做什么呢")
    monkeypatch.setattr(_chat, "_SAMPLES", {"english": ("en", 1), "chinese": ("zh", 1)})
    assert [(row["lang"], row["query"]) for row in _chat.sample(tmp_path)] == [
        ("en", "See you at the lake"),
        ("zh", "湖边见到你了"),
    ]
