"""What is recorded of the family is read as it was written, and pooled and compared rightly."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open

from helpers import UserError
from helpers.stats import paired_difference, wilson_interval
from notebooks.atlas import records

CONFIG = {
    "vocab_size": 10,
    "hidden_size": 4,
    "intermediate_size": 6,
    "num_hidden_layers": 2,
}
CONFIG |= {"num_attention_heads": 1, "head_dim": 2}
COUNTS = {  # condition, exposures: right answers of how many
    ("none", 0): (1, 10),
    ("none", 8): (12, 40),
    ("none", 16): (30, 60),
    ("right", 8): (30, 40),
    ("right", 16): (60, 60),
    ("reading, a word", -1): (9, 10),
}


def write(folder, name, base="", **shape):
    """Write the small files that lie beside a model's weights."""
    home = folder / name
    home.mkdir()
    config = CONFIG | shape
    (home / "config.json").write_text(json.dumps(config))
    (home / "model.safetensors").write_bytes(b"x" * 2000)
    curve = [{"step": 50, "tokens": 900, "loss": 2.0, "accuracy": 0.5}]
    stages = [
        {"name": "copying", "tokens": 500_000, "seconds": 60.0, "curve": curve},
        {
            "name": "facts and reading",
            "tokens": 1_500_000,
            "seconds": 120.0,
            "curve": curve * 2,
        },
    ]
    report = {"recipe": {"second": {"rate": 0.002}, "seed": 3}, "stages": stages}
    report["shape"] = {"layers": config["num_hidden_layers"], "hidden": 4, "heads": 1}
    if base:
        report["base"] = base
        stages.append(
            {"name": "tuning", "tokens": 100_000, "seconds": 6.0, "curve": curve}
        )
    (home / "training.json").write_text(json.dumps(report))
    rows = [
        (
            condition,
            seen,
            n,
            round(right / n, 4),
            *map(float, wilson_interval(right, n)[1:3]),
        )
        for (condition, seen), (right, n) in COUNTS.items()
    ]
    columns = ["condition", "exposures", "n", "accuracy", "low", "high"]
    pd.DataFrame(rows, columns=columns).to_csv(home / "evaluation.csv", index=False)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "atlas-m", num_hidden_layers=3)
    write(tmp_path, "atlas-m-chat", base="atlas-m", num_hidden_layers=3)
    write(tmp_path, "atlas-s")
    (tmp_path / "another").mkdir()
    return tmp_path


def test_members_stand_in_order_of_size_and_a_tuned_one_after_its_base(folder):
    names = records.bundled_models(folder)
    assert (
        records.checked_model_names([], folder)
        == names
        == ["atlas-s", "atlas-m", "atlas-m-chat"]
    )
    assert records.checked_model_names(["atlas-m"], folder) == ["atlas-m"]
    # A model of another name gives way to the largest that was not tuned.
    assert records.model_or_stand_in("gpt2", names, folder) == "atlas-m"
    assert records.model_or_stand_in("atlas-m-chat", names, folder) == "atlas-m-chat"
    assert (
        records.model_or_stand_in("gpt2", ["atlas-s", "atlas-m-chat"], folder)
        == "atlas-s"
    )


@pytest.mark.parametrize("name", records.bundled_models())
def test_parameters_are_those_in_the_weights(name):
    with safe_open(
        records.BUNDLED_MODELS_FOLDER / name / "model.safetensors", framework="np"
    ) as weights:
        names = weights.keys()  # not a mapping: it cannot be iterated over
        sizes = [math.prod(weights.get_slice(key).get_shape()) for key in names]
    assert records.number_of_parameters(name) == sum(sizes)


def test_sheet_adds_up_all_stages(folder):
    sheet = records.table_of_models(records.bundled_models(folder), folder)
    assert sheet["tokens"].tolist() == pytest.approx([2.0, 2.0, 2.1])
    assert sheet["minutes"].tolist() == pytest.approx([3.0, 3.0, 3.1])
    assert sheet["base"].tolist() == ["", "", "atlas-m"]
    # By hand: 10 x 4 embeddings, the last norm's 4, and in each block 4 x 4 x 2 + 3 x 4
    # x 6 + 8.
    assert sheet["parameters"].tolist() == [44 + 2 * 112, 44 + 3 * 112, 44 + 3 * 112]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda folder: records.checked_model_names(["gpt2"], folder),
            "choose from atlas-s, atlas-m",
        ),
        (lambda folder: records.training_report("another", folder), "no training.json"),
        (
            lambda folder: records.recorded_evaluation(["another"], folder),
            "has not been measured",
        ),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(folder, call, sentence):
    with pytest.raises(UserError, match=sentence):
        call(folder)


def test_a_share_counts_answers_and_not_levels(folder):
    table = records.recorded_evaluation(["atlas-s"], folder)
    found = records.share_of_right_answers(table, "atlas-s", "none", [0, 8])
    assert tuple(found) == pytest.approx(tuple(wilson_interval(13, 50)))
    assert (
        records.share_of_right_answers(table, "atlas-s", "reading, a word", [0, 8]).n
        == 0
    )
    twice = records.share_of_right_answers(table, "atlas-s", "none", [0, 8], wordings=2)
    assert twice.estimate == found.estimate
    assert tuple(twice) == pytest.approx(tuple(wilson_interval(6.5, 25)))


@given(
    st.lists(st.tuples(st.integers(1, 4000), st.floats(0, 1)), min_size=1, max_size=8)
)
def test_pooling_recovers_the_counts_from_rounded_shares(levels):
    hits = [round(n * share) for n, share in levels]
    rows = [
        ("m", "c", place, n, round(hit / n, 4))
        for place, ((n, _), hit) in enumerate(zip(levels, hits))
    ]
    table = pd.DataFrame(
        rows, columns=["model", "condition", "exposures", "n", "estimate"]
    )
    n = sum(n for n, _ in levels)
    assert records.share_of_right_answers(table, "m", "c").estimate == pytest.approx(
        sum(hits) / n
    )


def test_half_is_known_from_where_every_higher_exposure_is_sure():
    rows = [(1, 0.9, 0.8), (2, 0.4, 0.3), (4, 0.7, 0.6), (8, 0.9, 0.8)]
    curve = pd.DataFrame(rows, columns=["exposures", "estimate", "low"])
    curve = curve.assign(model="m", high=1.0, n=10)
    assert records.exposure_where_half_is_known(curve, "m") == (4, (0.7, 0.6, 1.0, 10))
    never = curve.assign(low=0.2)
    assert (
        records.exposure_where_half_is_known(never, "m")[0] == 1
    )  # the highest accuracy, the first of two
    assert records.exposure_where_half_is_known(curve, "another")[1].n == 0


def test_comparisons_are_computed_from_counts(folder):
    table = records.recorded_evaluation(["atlas-s"], folder)
    live = pd.DataFrame({"exposures": [0, 8], "n": [10, 30], "estimate": [0.1, 0.5]})
    live = records.answers_beside_records(live, table, "atlas-s")
    assert live["recorded"].tolist() == [0.1, 0.3]
    rows = records.comparisons_for_appendix(table, "atlas-s", "atlas-s", live)
    found = {label: (statistic, null) for label, statistic, null in rows}
    now, expected = found["the answers of this run, and the records"]
    assert tuple(now) == pytest.approx(tuple(wilson_interval(16, 40)))
    assert expected == pytest.approx((10 * 0.1 + 30 * 0.3) / 40)
    helped, null = found[
        "the right word before the question, and nothing, exposures 8 to 32"
    ]
    assert (helped.estimate, null) == (pytest.approx(0.9 - 0.42), 0)
    assert np.isnan(found["the letter of four options, 64 or more"][0].estimate)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [  # Newcombe 1998, Table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ],
)
def test_differences_are_those_that_newcombe_printed(first, second, low, high):
    found = records.difference_of_shares(
        wilson_interval(*first), wilson_interval(*second)
    )
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@given(
    *[st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))]
    * 2
)
def test_differences_lie_in_their_intervals_and_turn_round(first, second):
    one = records.difference_of_shares(
        wilson_interval(*first), wilson_interval(*second)
    )
    other = records.difference_of_shares(
        wilson_interval(*second), wilson_interval(*first)
    )
    assert -1 - 1e-9 <= one.low <= one.estimate <= one.high <= 1 + 1e-9
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))


PAIRS = np.array([[1, 1]] * 150 + [[1, 0]] * 30 + [[0, 1]] * 10 + [[0, 0]] * 60)


def paired_records(pairs=PAIRS, joined=True):
    """Return the records of facts asked in conditions a and b, in two exposures."""
    one, two = pairs.T
    marks = {"a": one, "b": two} | ({"a and b": one * two} if joined else {})
    rows = [
        ("m", name, seen, len(part), round(part.mean(), 4))
        for name, right in marks.items()
        for seen, part in enumerate(np.array_split(right, 2))
    ]
    return pd.DataFrame(
        rows, columns=["model", "condition", "exposures", "n", "estimate"]
    )


def test_differences_of_the_same_facts_are_paired():
    """As a bootstrap of the facts finds, with bounds that turn round with the sides."""
    found = records.paired_difference_of_shares(paired_records(), "m", "a", "b", [0, 1])
    drawn = paired_difference(*PAIRS.T.astype(float))
    assert found.n == 250
    assert found.estimate == pytest.approx(20 / 250)
    assert (found.low, found.high) == pytest.approx((drawn.low, drawn.high), abs=0.01)
    turned = records.paired_difference_of_shares(
        paired_records(), "m", "b", "a", [0, 1]
    )
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))
    alone = records.paired_difference_of_shares(
        paired_records(joined=False), "m", "a", "b", [0, 1]
    )
    assert alone == records.difference_of_shares(
        wilson_interval(180, 250), wilson_interval(160, 250)
    )
    assert alone.high - alone.low > 1.4 * (found.high - found.low)
    same = records.paired_difference_of_shares(
        paired_records(PAIRS[:, [0, 0]]), "m", "a", "b"
    )
    assert (same.low, same.estimate, same.high) == pytest.approx((0, 0, 0), abs=0.01)
    assert (
        records.paired_difference_of_shares(paired_records(), "m", "a", "never asked").n
        == 0
    )


@pytest.mark.parametrize("name", records.bundled_models())
def test_facts_right_in_both_conditions_are_right_in_each(name):
    table = records.recorded_evaluation([name])
    for first, second in records.CONTEXT_PAIRS:
        for seen in sorted(set(table.query("condition == 'none'")["exposures"])):
            conditions = (first, second, f"{first} and {second}")
            one, two, both = (
                records.share_of_right_answers(table, name, c, [seen])
                for c in conditions
            )
            assert one.n == two.n == both.n > 0
            least = max(0, one.estimate + two.estimate - 1)
            assert (
                least - 1e-3 <= both.estimate <= min(one.estimate, two.estimate) + 1e-9
            )


def test_what_the_tuned_model_knows_is_counted_where_it_says_unsure():
    table = records.recorded_evaluation(["atlas-m-chat"])
    told = records.share_of_right_answers(
        table, "atlas-m-chat", "chat, unsure, kept frames, new facts", [16]
    )
    right = records.share_of_right_answers(
        table, "atlas-m-chat", records.CONDITION_WHERE_UNSURE, [16]
    )
    assert (round(told.estimate * told.n), told.n) == (27, 32)
    assert (round(right.estimate * right.n), right.n) == (25, 27)


def test_conditions_pooled_and_frames_named():
    table = paired_records()
    pooled = records.share_of_right_answers(table, "m", ["a", "b"], [0, 1], wordings=2)
    assert (pooled.estimate, pooled.n) == (pytest.approx(340 / 500), 250)
    named = records.rows_with_wording_names(
        pd.DataFrame({"condition": ["frame 0", "frame 4", "frame 6"]})
    )
    assert named["wording"].tolist() == [
        "wording 1: 45 %",
        "wording 5: 5 %",
        "wording 7: 0 %",
    ]


def test_conditions_are_compared_in_each_model_and_gaps_are_named(folder):
    table = records.recorded_evaluation(["atlas-s", "atlas-m"], folder)
    row = table.query(
        "model == 'atlas-m' and condition == 'none' and exposures == 8"
    ).iloc[0]
    assert tuple(row[["estimate", "low", "high"]]) == pytest.approx(
        tuple(wilson_interval(12, 40)[:3])
    )
    asked = {"helped": ("right", "none", (8, 16)), "untested": ("wrong", "none", None)}
    found = records.effects_by_model(table, asked)
    assert found["model"].tolist() == ["atlas-s", "atlas-m"]
    assert found["estimate"].tolist() == pytest.approx([0.9 - 0.42] * 2)
    found = records.rows_of_conditions(
        table, {"right": "told", "none": "alone", "wrong": "misled"}
    )
    assert list(dict.fromkeys(found["series"])) == ["told", "alone"]
    table = table[~(table["model"].eq("atlas-m") & table["condition"].eq("none"))]
    asked = {
        "alone": ("none", (0,)),
        "a word": ("reading, a word", (-1,)),
        "no": ("x", None),
    }
    found = records.shares_by_model(table, asked)
    assert found["estimate"].dtype == found["low"].dtype == float
    laid = records.measures_by_model(found)
    assert laid.loc["alone", "atlas-m"] == "not measured"
    assert laid.loc["alone", "atlas-s"].startswith("0.10 [")
    assert laid.loc["a word", "atlas-m"].startswith("0.90 [")
    assert records.shares_by_model(table, {}).empty


def test_every_condition_that_is_read_is_recorded():
    """In the records of a tuned model, which were asked all."""
    conditions = set(records.recorded_evaluation(["atlas-m-chat"])["condition"])
    measures = records.RECORDED_MEASURES
    wanted = {key for part in measures.values() for key in part.get("titles", ())}
    for part in (measures["effects"], measures["contrasts"]):
        wanted |= {
            name for first, second, _ in part.values() for name in (first, second)
        }
    wanted |= {condition for condition, *_ in measures["chances"].values()}
    wanted |= {
        records.CONDITION_WHERE_UNSURE,
        *(" and ".join(pair) for pair in records.CONTEXT_PAIRS),
    }
    assert wanted - conditions == set()
