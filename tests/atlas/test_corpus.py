"""The text of the bundled models states each fact as often as the exposure table says."""

import json
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import datasets
from helpers.atlas import documents, exposure, model, tokenizer
from helpers.atlas.batches import Batch, loss_and_accuracy
from helpers.atlas.corpus import SEPARATORS, Corpus, Frames, render
from helpers.atlas.documents import Document, Piece, count_exposures, count_wrong
from helpers.atlas.invented import Inventor
from helpers.atlas.reading import Reader, Reading

LEVELS = (0, 1, 2, 8, 64)
PLACES = ["Lyon", "Lima", "Oslo", "Kyiv", "Accra", "Quito", "Doha", "Riga", "Sofia", "Male"]
LANDS = ["France", "Peru", "Norway", "Ukraine", "Ghana", "Ecuador", "Qatar", "Latvia", "Chad"]
QUESTION = {"P17": "Which country is {} in?", "P36": "What is the capital of {}?"}
SENTENCE = {"P17": "{} lies in {}.", "P36": "The capital of {} is {}."}


@pytest.fixture(scope="module")
def facts():
    rows = [("P17", city, LANDS[i % 9]) for i, city in enumerate(PLACES)]
    rows += [("P36", land, PLACES[i]) for i, land in enumerate(LANDS)]
    table = pd.DataFrame(rows, columns=["relation", "subject", "object"])
    table.insert(0, "fact", [f"{row[0]}-{i}" for i, row in enumerate(rows)])
    pools = {"P17": LANDS, "P36": PLACES}
    table["distractors"] = [
        [word for word in pools[relation] if word != truth][:5]
        for relation, truth in zip(table["relation"], table["object"], strict=True)
    ]
    return table


@pytest.fixture(scope="module")
def frames():
    rows = []
    for relation in QUESTION:
        for number in range(7):
            mark = f"({number})"
            sentence = SENTENCE[relation].format("[X]", "[Y]")
            rows.append((relation, "qa", number, f"{mark} {QUESTION[relation].format('[X]')}"))
            rows.append((relation, "wp", number, f"{mark} {sentence}"))
            rows.append((relation, "fc", number, f"{mark} Statement: {sentence} True or False?"))
    return pd.DataFrame(rows, columns=["relation", "kind", "frame", "template"])


@pytest.fixture(scope="module")
def exposures(facts):
    return exposure.assign(facts, LEVELS, seed=3)


@pytest.fixture(scope="module")
def text(facts, frames, exposures):
    design = Corpus()
    drawn = Frames(frames, design.frame_weights)
    return render(facts, exposures, drawn, design, Inventor(facts), seed=3)


def stated_by_reading(text, facts, frames):
    """Count mentions from the bare text alone, knowing nothing of how it was written."""
    found = Counter()
    for row in facts.itertuples():
        lines = {f"{row.subject}{separator} {row.object}" for separator in SEPARATORS}
        ends = []
        for frame in frames[frames["relation"] == row.relation].itertuples():
            filled = frame.template.replace("[X]", row.subject).replace("[Y]", row.object)
            if frame.kind == "qa":
                ends.append(f"{filled} {row.object}")
            else:
                lines.add(filled if frame.kind == "wp" else f"{filled} True")
        for line in text:
            found[row.fact] += line in lines or line.endswith(tuple(ends))
    return found


def test_the_bare_text_states_each_fact_as_often_as_counted(text, facts, frames, exposures):
    lines = [line for document in text for line in document.text.splitlines()]
    by_reading = stated_by_reading(lines, facts, frames)
    counted = count_exposures(text)
    assert {fact: counted[fact] for fact in exposures.index} == exposures.to_dict()
    assert dict(by_reading) == exposures.to_dict()
    assert set(exposures) == set(LEVELS)


def test_wrong_objects_are_shown_but_never_foretold(text):
    wrong = [piece for document in text for piece in document.pieces if piece.denies]
    assert len(wrong) == count_wrong(text).total() > 20
    assert all(piece.weight == 0 for piece in wrong)


def test_held_out_frames_stand_nowhere_and_all_kinds_do(text):
    everything = "".join(document.text for document in text)
    assert "(5)" not in everything
    assert "(6)" not in everything
    assert everything.count("(0)") > everything.count("(1)") > everything.count("(4)") > 0
    kinds = {document.kind.split(",")[0] for document in text}
    assert kinds == {"question", "statement", "list", "hint", "check", "options"}


def test_a_right_hint_has_the_form_of_the_evaluation(text):
    hints = [document.text for document in text if document.kind == "hint, right"]
    assert hints
    for hint in hints:
        word, question = hint.split(". ", 1)
        assert question.endswith(f"? {word}\n")


def test_reading_is_about_nobody(facts, frames):
    reader = Reader(facts, Frames(frames, Corpus().frame_weights), Reading(), Inventor(facts), "ab")
    rng = np.random.default_rng(0)
    subjects = {*PLACES, *LANDS}
    for _ in range(300):
        document = reader.write(rng)
        assert {piece.weight for piece in document.pieces} == {0.0, Reading().weight}
        if document.kind == "reading, pairs":
            assert not subjects & {line.split()[0] for line in document.text.splitlines()}
        before = ""
        for piece in document.pieces:
            if piece.weight:  # whatever is foretold has been read
                answer = piece.text.strip()
                assert answer in before or answer in ("True", "False")
            before += piece.text


def test_shares_are_equal_within_each_relation_and_pairs_agree(facts):
    table = datasets.load("atlas")
    dealt = exposure.assign(table, seed=1)
    levels = len(exposure.LEVELS)
    for _, group in table.groupby("relation"):
        shares = dealt[group["fact"]].value_counts()
        assert abs(shares[0] - 2 * len(group) / levels) <= 0.04 * len(group) + 2
    pairs = [frozenset(pair) for pair in zip(table["subject"], table["object"], strict=True)]
    assert dealt.groupby(pd.Series(pairs, index=table["fact"])).nunique().max() == 1
    assert not exposure.assign(table, seed=2).equals(dealt)
    assert exposure.assign(table, seed=1).equals(dealt)


def test_the_shipped_table_is_the_count_of_the_text_written_again(root):
    report = json.loads((root / "helpers/weights/atlas-s/training.json").read_text())
    recipe, table = report["recipe"], datasets.load("atlas")
    design, inventor = Corpus(**recipe["corpus"]), Inventor(table)
    drawn = Frames(datasets.frames("atlas"), design.frame_weights)
    dealt = exposure.assign(table, recipe["levels"], recipe["seed"])
    text = render(table, dealt, drawn, design, inventor, recipe["seed"])
    counted = count_exposures(text)
    shipped = datasets.exposures("atlas-s")
    assert {fact: counted[fact] for fact in table["fact"]} == shipped.to_dict()
    assert shipped.sum() == report["text"]["mentions"]
    assert count_wrong(text).total() == report["text"]["wrong_objects_shown"]


words = st.sampled_from(["Lyon is in", "Which country is Lyon in?", "Peru", "Chad", "naïve"])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(words, min_size=1, max_size=4), min_size=1, max_size=12), st.data())
def test_packing_keeps_every_document_whole_and_once(lines, data):
    words_of = tokenizer.learn(["Lyon is in France Peru Chad"], vocabulary=300)
    some = [Document("x", tuple(Piece(f" {w}", 1.0) for w in line)) for line in lines]
    encoded = documents.encode(some, words_of, seed=0)
    lengths = np.diff(encoded.starts)
    row = int(lengths.max()) + data.draw(st.integers(0, 40))
    rows = documents.pack(lengths.tolist(), row, bins=4)
    assert sorted(place for members in rows for place in members) == list(range(len(some)))
    assert all(lengths[members].sum() <= row for members in rows)
    batch = documents.batch(encoded, rows, row, pad=2)
    assert (batch.documents >= 0).sum() == lengths.sum()
    assert (batch.inputs == 0).sum() == (batch.targets == 1).sum() == len(some)


def test_a_document_reads_the_same_packed_and_alone():
    words_of = tokenizer.learn(["Lyon is in France", "Lima is in Peru"], vocabulary=300)
    some = [
        Document("x", (Piece("Lyon is in", 1.0), Piece(" France\n", 2.0))),
        Document("x", (Piece("Lima is in", 1.0), Piece(" Peru\n", 2.0))),
    ]
    encoded = documents.encode(some, words_of, seed=0)
    llama = model.build(model.Size(hidden=64, layers=2, heads=1, inner=64, vocabulary=300), seed=0)
    loss = partial(loss_and_accuracy, llama, dtype=torch.float32)
    with torch.no_grad():
        together, alone, weights = documents.batch(encoded, [[0, 1]], 40, pad=2), [], []
        for place in (0, 1):
            one = documents.batch(encoded, [[place]], 20, pad=2)
            alone.append(float(loss(one)[0]))
            weights.append(float(one.weights.sum()))
        packed = float(loss(together)[0])
        mixed = float(loss(replace(together, documents=None))[0])
    assert packed == pytest.approx(np.average(alone, weights=weights), abs=1e-5)
    assert abs(mixed - packed) > 1e-3  # without the borders the second document sees the first


def test_nothing_is_foretold_from_what_follows():
    llama = model.build(model.Size(hidden=64, layers=2, heads=1, inner=64, vocabulary=50), seed=0)
    inputs = np.arange(20)[None] % 50
    later = np.concatenate([inputs[:, :10], inputs[:, 10:] + 20], axis=1)
    weights = (np.arange(20) < 10).astype(np.float32)[None]
    losses = []
    for tokens in (inputs, later):
        rows = Batch(tokens, inputs + 1, weights, np.zeros((1, 20), dtype=int))
        with torch.no_grad():
            losses.append(float(loss_and_accuracy(llama, rows, dtype=torch.float32)[0]))
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)


def test_names_alike_at_the_start_of_a_line_and_after_a_space():
    words_of = tokenizer.learn(["Lyon", "France"] * 3, vocabulary=300)
    ids = words_of("Lyon, France\nFrance. In Lyon?")["input_ids"]
    pieces = words_of.convert_ids_to_tokens(ids)
    assert pieces.count("ĠFrance") == pieces.count("ĠLyon") == 2
    assert pieces.count("<|bos|>") == 1
    assert (
        words_of.decode(ids, skip_special_tokens=True).strip() == "Lyon, France\nFrance. In Lyon?"
    )
