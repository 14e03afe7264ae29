"""The text of the bundled models states each fact as often as the exposure table says."""

import json
import re
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import datasets
from helpers.prompts.prompt_texts import INSTRUCTION
from notebooks.atlas import architecture, documents, exposure_plan, recipe, tokenizer
from notebooks.atlas.corpus import Frames, Mention, MentionBag, render_documents
from notebooks.atlas.documents import NO_TARGET, Batch, Document, Piece, count_exposures
from notebooks.atlas.invented_names import NameInventor
from notebooks.atlas.reading_documents import ReadingWriter
from notebooks.atlas.training_loop import loss_and_accuracy
from notebooks.atlas.training_text import (
    plan_with_counted_mentions,
    training_steps_of,
    write_training_text,
)

USUAL = recipe.load_recipe()
LEVELS = USUAL.plan.levels
PLAN = USUAL.plan.changed(levels=[0, 1, 2, 8, 64], false_share=0.25, one_way_levels=[8])
SMALL = recipe.load_recipe(
    shape={"hidden": 64, "layers": 2, "heads": 1, "inner": 64, "vocabulary": 300}
)
PLACES = [
    "Lyon",
    "Lima",
    "Oslo",
    "Kyiv",
    "Accra",
    "Quito",
    "Doha",
    "Riga",
    "Sofia",
    "Male",
]
LANDS = [
    "France",
    "Peru",
    "Norway",
    "Ukraine",
    "Ghana",
    "Ecuador",
    "Qatar",
    "Latvia",
    "Chad",
]
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
            rows.append(
                (relation, "qa", number, f"{mark} {QUESTION[relation].format('[X]')}")
            )
            rows.append((relation, "wp", number, f"{mark} {sentence}"))
            rows.append(
                (relation, "fc", number, f"{mark} Statement: {sentence} True or False?")
            )
    return pd.DataFrame(rows, columns=["relation", "kind", "frame", "template"])


@pytest.fixture(scope="module")
def exposures(facts):
    return exposure_plan.assign_exposures(facts, PLAN, seed=3)


@pytest.fixture(scope="module")
def text(facts, frames, exposures):
    design = USUAL.corpus
    drawn = Frames(frames, design.frame_weights)
    return render_documents(
        facts, exposures, drawn, design, NameInventor(facts), seed=3
    )


def test_facts_that_are_stated_only_are_never_asked_about(facts, frames, exposures):
    design = recipe.load_recipe(stated_only={"share": 0.5})
    drawn = Frames(frames, design.corpus.frame_weights)
    documents = render_documents(
        facts,
        exposures,
        drawn,
        design.corpus,
        NameInventor(facts),
        seed=3,
        stated_only=design.stated_only,
    )
    stated = exposure_plan.draw_share_of_facts(facts, 0.5, seed=3)
    shares = facts["fact"].isin(stated).groupby(facts["relation"]).mean()
    assert shares.between(0.3, 0.7).all()
    kinds = {True: set(), False: set()}
    for document in documents:
        for piece in document.pieces:
            if piece.states or piece.claims:
                is_stated_only = (piece.states or piece.claims) in stated
                kinds[is_stated_only].add(document.kind.split(",")[0])
    assert kinds[True] == {"statement", "list", "check"}
    assert {"question", "shots", "hint", "options"} <= kinds[False]
    assert plan_with_counted_mentions(documents, exposures).equals(exposures)


def stated_by_reading(text, told, frames):
    """Count mentions from the bare text alone, knowing nothing of how it was written.

    A list is read pair by pair, any other text by the ends of its lines.
    """
    found = Counter()
    templates = {relation: group for relation, group in frames.groupby("relation")}
    for fact, relation, subject, obj in told:
        lines, ends = set(), []
        for frame in templates[relation].itertuples():
            filled = frame.template.replace("[X]", subject).replace("[Y]", obj)
            if frame.kind == "qa":
                ends += [f"{filled} {obj}", f"OPTIONS {filled} {obj}"]
            else:
                lines.add(filled if frame.kind == "wp" else f"{filled} True")
        for kind, line in text:
            if kind == "list":
                found[fact] += f"|{subject}|{obj}|" in line
            else:
                found[fact] += line in lines or line.endswith(tuple(ends))
    return found


def bare(text):
    """Return the lines of the text: the fixed words taken out, each pair of a list by itself."""
    found = []
    for document in text:
        body = document.text.replace(INSTRUCTION, "")
        if document.kind == "list":  # every name here is one word
            words = re.findall(r"\w+", body)
            pairs = zip(words[::2], words[1::2], strict=True)
            found += [("list", f"|{name}|{obj}|") for name, obj in pairs]
            continue
        body = re.sub(r"\nOPTIONS: .*\n", "\n", body).replace("\nANSWER:", "")
        found += [
            ("text", line.replace("QUESTION: ", "")) for line in body.splitlines()
        ]
    return found


def test_the_bare_text_states_each_fact_as_often_as_counted(
    text, facts, frames, exposures
):
    rows = [
        tuple(row)
        for row in facts[["fact", "relation", "subject", "object"]].to_numpy()
    ]
    lines = bare(text)
    assert (
        dict(stated_by_reading(lines, rows, frames)) == exposures["exposures"].to_dict()
    )
    assert plan_with_counted_mentions(text, exposures).equals(exposures)
    marked = exposures[exposures["false_object"] != ""]
    assert len(marked) == 1
    wrong = [
        (*row[:3], marked.loc[row[0], "false_object"])
        for row in rows
        if row[0] in marked.index
    ]
    claimed = stated_by_reading(lines, wrong, frames)
    assert dict(claimed) == marked["false_exposures"].to_dict()


def test_held_out_frames_stand_nowhere_and_all_kinds_do(text):
    everything = "".join(document.text for document in text)
    assert "(5)" not in everything
    assert "(6)" not in everything
    assert (
        everything.count("(0)") > everything.count("(1)") > everything.count("(4)") > 0
    )
    kinds = {document.kind.split(",")[0] for document in text}
    assert kinds == {
        "question",
        "shots",
        "statement",
        "list",
        "hint",
        "check",
        "options",
    }
    hints = [
        document.text.split(". ", 1)
        for document in text
        if document.kind == "hint, right"
    ]
    assert hints
    assert all(
        question.endswith(f"? {word}\n") for word, question in hints
    )  # as in the evaluation
    lengths = [sum(bool(piece.states or piece.claims) for piece in document.pieces)
               for document in text if document.kind == "list"]  # fmt: skip
    assert max(lengths) > 8  # of 10 subjects
    assert min(lengths) <= 3
    wrong = [piece for document in text for piece in document.pieces if piece.denies]
    assert len(wrong) == count_exposures(text, "denies").total() > 10
    assert all(piece.weight == 0 for piece in wrong)  # shown, and never foretold


def test_reading_is_about_nobody(facts, frames):
    drawn, inventor = Frames(frames, USUAL.corpus.frame_weights), NameInventor(facts)
    reader = ReadingWriter(facts, drawn, USUAL.reading, inventor, "ab")
    rng = np.random.default_rng(0)
    subjects = {*PLACES, *LANDS}
    for _ in range(300):
        document = reader.write(rng)
        assert {piece.weight for piece in document.pieces} == {
            0.0,
            USUAL.reading.weight,
        }
        if document.kind == "reading, pairs":
            assert not subjects & {
                line.split()[0] for line in document.text.splitlines()
            }
        before = ""
        for piece in document.pieces:
            if piece.weight:  # whatever is foretold has been read
                answer = piece.text.strip()
                assert answer in before or answer in ("True", "False")
            before += piece.text


def test_a_bag_gives_every_mention_once_and_no_subject_twice():
    mentions = [
        Mention(f"f{i}", "P17", f"s{i % 4}", "o")
        for i in range(6)
        for _ in range(i + 1)
    ]
    bag, rng, found = MentionBag(mentions), np.random.default_rng(0), []
    while len(bag):
        taken = bag.take(3, rng)
        assert 1 <= len(taken) <= 3
        assert len({mention.subject for mention in taken}) == len(taken)
        found += taken
    assert Counter(found) == Counter(mentions)


def test_shares_are_equal_within_each_relation_and_pairs_agree():
    table = datasets.load("atlas")
    dealt = exposure_plan.assign_exposures(table, USUAL.plan, seed=1)
    counts, sides = (
        dealt["exposures"],
        zip(table["subject"], table["object"], strict=True),
    )
    pairs = pd.Series([frozenset(pair) for pair in sides], index=table["fact"])
    both = pairs[table["relation"].isin(["P36", "P1376"]).to_numpy()]
    both = set(both[both.duplicated()])
    spread = counts.groupby(pairs).nunique()
    assert set(spread[spread > 1].index) <= both
    usual = (dealt["false_object"] == "") & ~pairs.isin(both)
    for _, group in table[usual.to_numpy()].groupby("relation"):
        shares = counts[group["fact"]].value_counts()
        assert (
            abs(shares[0] - len(group) * LEVELS.count(0) / len(LEVELS))
            <= 0.04 * len(group) + 2
        )
    together = counts.groupby(pairs).transform("sum") - counts
    assert dealt["pair_exposures"].equals(together.rename("pair_exposures"))
    assert not exposure_plan.assign_exposures(table, USUAL.plan, seed=2).equals(dealt)
    assert exposure_plan.assign_exposures(table, USUAL.plan, seed=1).equals(dealt)


def test_a_third_of_the_capitals_is_shown_each_way():
    joined = datasets.load("atlas").join(
        exposure_plan.assign_exposures(datasets.load("atlas"), USUAL.plan, seed=0),
        on="fact",
    )
    there, back = (joined[joined["relation"] == name] for name in ("P36", "P1376"))
    pairs = there.merge(
        back, left_on=["subject", "object"], right_on=["object", "subject"]
    )
    shown = pairs[["exposures_x", "exposures_y"]].gt(0)
    one_way = pairs[shown.sum(axis=1) == 1]
    assert shown.loc[one_way.index].sum().tolist() == [len(pairs) // 3] * 2
    assert set(one_way["exposures_x"] + one_way["exposures_y"]) == {16, 64}


def test_false_objects_are_false_and_counted():
    table = datasets.load("atlas")
    dealt = exposure_plan.assign_exposures(
        table, USUAL.plan.changed(false_total=8), seed=0
    )
    marked = table.join(dealt[dealt["false_object"] != ""], on="fact", how="inner")
    true = {
        frozenset(pair) for pair in zip(table["subject"], table["object"], strict=True)
    }
    assert len(marked) / len(table) == pytest.approx(0.06, abs=0.01)
    assert not any(
        frozenset(p) in true for p in zip(marked["subject"], marked["false_object"])
    )
    assert set(marked["false_exposures"]) == {8, 6, 4}
    assert set(marked["exposures"] + marked["false_exposures"]) == {8}
    assert (dealt.loc[dealt["false_object"] == "", "false_exposures"] == 0).all()


def test_every_document_is_read_once_and_long_ones_have_long_rows():
    facts = datasets.load("atlas", n=12)
    design = recipe.load_recipe(facts=12, plan={"levels": [0, 4, 16]})
    text = write_training_text(design, facts, datasets.prompt_frames("atlas"))
    encoded, steps, _ = training_steps_of(text, design)
    read = [d for step in steps for rows in step for row in rows.members for d in row]
    assert sorted(read) == list(range(len(text.about_facts) + len(text.to_read)))
    lengths = np.diff(encoded.starts)
    assert lengths.max() > 128
    for rows in (rows for step in steps for rows in step):
        assert all(lengths[row].sum() <= rows.length for row in rows.members)


@pytest.mark.slow
def test_the_shipped_tables_are_the_count_of_the_text_written_again(root):
    reports = sorted((root / "helpers/models/weights").glob("atlas-*/training.json"))
    recipes = [json.loads(path.read_text())["recipe"] for path in reports]
    same = ("seed", "plan", "corpus")
    usual = {key: USUAL[key] for key in same}
    assert all({key: each[key] for key in same} == usual for each in recipes)
    design, table = USUAL.corpus, datasets.load("atlas")
    inventor = NameInventor(table)
    drawn = Frames(datasets.prompt_frames("atlas"), design.frame_weights)
    dealt = exposure_plan.assign_exposures(table, USUAL.plan, USUAL.seed)
    text = render_documents(table, dealt, drawn, design, inventor, USUAL.seed)
    counted = plan_with_counted_mentions(text, dealt)
    for path in reports:
        report = json.loads(path.read_text())["text"]
        shipped = datasets.training_exposure(path.parent.name)
        assert shipped[counted.columns].equals(counted)
        assert shipped["exposures"].sum() == report["mentions"]
        assert count_exposures(text, "denies").total() == report["wrong_objects_shown"]


words = st.sampled_from(
    ["Lyon is in", "Which country is Lyon in?", "Peru", "Chad", "naïve"]
)


@settings(max_examples=25)
@given(
    st.lists(st.lists(words, min_size=1, max_size=4), min_size=1, max_size=12),
    st.data(),
)
def test_packing_keeps_every_document_whole_and_once(lines, data):
    words_of = tokenizer.learn_byte_level_tokenizer(
        ["Lyon is in France Peru Chad"], vocabulary=300
    )
    some = [Document("x", tuple(Piece(f" {w}", 1.0) for w in line)) for line in lines]
    encoded = documents.encode_documents(some, words_of, seed=0)
    lengths = np.diff(encoded.starts)
    row = int(lengths.max()) + data.draw(st.integers(0, 40))
    rows = documents.pack_into_rows(lengths.tolist(), row, bins=4)
    assert sorted(place for members in rows for place in members) == list(
        range(len(some))
    )
    assert all(lengths[members].sum() <= row for members in rows)
    batch = documents.batch_of_rows(encoded, rows, row, pad=2)
    assert (batch.targets != NO_TARGET).sum() == lengths.sum()
    assert (batch.documents is None) == (len(rows) == len(some))
    assert (batch.inputs == 0).sum() == (batch.targets == 1).sum() == len(some)


def test_a_document_reads_the_same_packed_and_alone():
    words_of = tokenizer.learn_byte_level_tokenizer(
        ["Lyon is in France", "Lima is in Peru"], vocabulary=300
    )
    some = [
        Document("x", (Piece("Lyon is in", 1.0), Piece(" France\n", 2.0))),
        Document("x", (Piece("Lima is in", 1.0), Piece(" Peru\n", 2.0))),
    ]
    encoded = documents.encode_documents(some, words_of, seed=0)
    llama = architecture.build_model(SMALL.shape, seed=0)
    loss = partial(loss_and_accuracy, llama, dtype=torch.float32)
    with torch.no_grad():
        together, alone, weights = (
            documents.batch_of_rows(encoded, [[0, 1]], 40, pad=2),
            [],
            [],
        )
        for place in (0, 1):
            one = documents.batch_of_rows(encoded, [[place]], 20, pad=2)
            alone.append(float(loss(one)[0]))
            weights.append(float(one.weights.sum()))
        packed = float(loss(together)[0])
        mixed = float(loss(together._replace(documents=None))[0])
    assert packed == pytest.approx(np.average(alone, weights=weights), abs=1e-5)
    assert (
        abs(mixed - packed) > 1e-3
    )  # without the borders the second document sees the first


def test_nothing_is_foretold_from_what_follows():
    llama = architecture.build_model(SMALL.shape, seed=0)
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
    words_of = tokenizer.learn_byte_level_tokenizer(
        ["Lyon", "France"] * 3, vocabulary=300
    )
    ids = words_of("Lyon, France\nFrance. In Lyon?")["input_ids"]
    pieces = words_of.convert_ids_to_tokens(ids)
    assert pieces.count("ĠFrance") == pieces.count("ĠLyon") == 2
    assert pieces.count("<|bos|>") == 1
    assert (
        words_of.decode(ids, skip_special_tokens=True).strip()
        == "Lyon, France\nFrance. In Lyon?"
    )
