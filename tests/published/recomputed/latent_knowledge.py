"""Checks of Wu et al. 2025: one grid of models and relations, averaged both ways."""

import re

import pandas as pd

from helpers.published import load as published
from tests.published.recomputed.check import Check, Load, check, nearest

CHANCE = 0.01  # of one choice among 100
FACTS = 400  # of each relation: 20,000 test facts of 50 relations
# What the tables call the same model: Table 1 and 10 by family, Table 7 by its own names.
TABLE_7 = {
    "Llama 7B": "Llama-7B",
    "Llama 65B": "Llama-65B",
    "Llama-2 7B": "Llama2-7B",
    "Llama-2 70B": "Llama2-70B",
    "Gemma 2B": "Gemma-2B",
    "Gemma 7B": "Gemma-7B",
    "OPT 125m": "OPT-125M",
    "OPT 30B": "OPT-30B",
    "Pythia 70m": "Pythia-70M",
    "Pythia 12B": "Pythia-12B",
    "Bloom 560m": "Bloom-560M",
    "Bloom 7.1B": "Bloom-7.1B",
    "Mixtral-7Bx8": "Mixtral-8x7B",
}
# Table 7's names of the tuned models of Table 6; that "-2" means version 1.5 is our reading.
TUNED = {
    "Nous-Hermes-2-Mixtral-8x7B-SFT": "Mixtral-8x7B-SFT",
    "Nous-Hermes-2-Mixtral-8x7B-DPO": "Mixtral-8x7B-DPO",
    "mistral-instruct-7b": "Mistral-instruct-7B",
    "openhermes-2.5-mistral-7b": "Openhermes-2.5",
    "llama2-70b-chat": "Llama2-70B-chat",
    "llama2-13b-chat": "Llama2-13B-chat",
    "vicuna-13b-v1.5": "Vicuna-13B-2",
    "llama2-7b-chat": "Llama2-7B-chat",
    "vicuna-7b-v1.5": "Vicuna-7B-2",
    "gemma-7b-it": "Gemma-7B-instruct",
    "gemma-2b-it": "Gemma-2B-instruct",
    "vicuna-13b-1.3": "Vicuna-13B",
    "vicuna-7b-1.3": "Vicuna-7B",
    "falcon-instruct-7b": "Falcon-instruct-7B",
}
# Tables 1 and 7 differ by up to 0.035 on one model, so differences of two models by up to twice it.
APART = 0.07
_TUNED = re.compile("chat|instruct|Vicuna|SFT|DPO|Openhermes")


def checks(load: Load = published) -> list[Check]:
    """Return the checks of the IC-LKE paper.

    >>> {one.name: len(one.differing) for one in checks() if "mean over" in one.name}
    {'Table 8: mean over all 49 models': 1, 'Table 8: mean over the 35 base models': 0}
    """
    return [*_means(load), *_counts(load), *_models(load), *_tuned(load), *_overlaps(load)]


def is_tuned(model: str) -> bool:
    """Tell whether a model of Table 7 was tuned after its base training.

    >>> is_tuned("Vicuna-7B"), is_tuned("Llama-7B")
    (True, False)
    """
    return bool(_TUNED.search(model))


def _means(load: Load) -> list[Check]:
    relations = pd.Series({"mean of Table 8": load("lke_table8")["accuracy"].mean()})
    models = load("lke_table7")["accuracy"]
    base = models[[not is_tuned(name) for name in models.index]]
    found = []
    for who, chosen, room in (
        ("all 49 models", models, 1e-4),
        # A few models and relations lack some facts, so the two means need not be quite the same.
        ("the 35 base models", base, 2e-4),
    ):
        found.append(
            check(
                f"Table 8: mean over {who}",
                f"the mean over relations is that of Table 7 over {who}",
                ["lke_table8", "lke_table7"],
                relations,
                pd.Series(chosen.mean(), index=relations.index),
                room,
            )
        )
    return found


def _counts(load: Load) -> list[Check]:
    models, relations = load("lke_table7")["accuracy"], load("lke_table8")["accuracy"]
    said = load("lke_text")["value"]
    tuned = sum(map(is_tuned, models.index))
    sizes = {
        "models": len(models),
        "base models": len(models) - tuned,
        "tuned models": tuned,
        "relations": len(relations),
        "test facts": FACTS * len(relations),
    }
    grids = (
        ("Table 7", "lke_table7", models, FACTS * len(relations), 0.5e-5),
        ("Table 8", "lke_table8", relations, FACTS * (len(models) - tuned), 1e-12),
    )
    found = [
        check(
            f"{name}: counts",
            f"each accuracy is a whole number of {n:,} answers, {FACTS} facts a relation"
            + (", by the 35 base models" if name == "Table 8" else ""),
            [table],
            values,
            nearest(values, n, 1.0),
            room,
        )
        for name, table, values, n, room in grids
    ]
    return [
        *found,
        check(
            "Text: sizes",
            "models, relations and facts count up",
            ["lke_text", "lke_table7", "lke_table8"],
            said[list(sizes)],
            pd.Series(sizes),
            0,
        ),
    ]


def _models(load: Load) -> list[Check]:
    accuracy = load("lke_table7")["accuracy"]
    first, tenth = ends(load), load("lke_table10")["base accuracy"]
    bases = [name.rpartition(" ")[0] for name in tenth.index]
    again = accuracy[[TABLE_7.get(name, name) for name in bases]].set_axis(tenth.index)
    both = {"Llama-7B FT-1": "Llama 7B", "Llama2-7B FT-1": "Llama-2 7B"}
    both |= {"Llama2-70B FT-1": "Llama-2 70B", "Gemma-2B FT-1": "Gemma 2B"}
    both |= {"Gemma-7B FT-1": "Gemma 7B"}
    return [
        check(
            "Table 1: repeats Table 7",
            "the same model has the same average accuracy in both tables",
            ["lke_table1", "lke_table7"],
            first,
            accuracy[[TABLE_7[name] for name in first.index]].set_axis(first.index),
            0.0006,
        ),
        check(
            "Table 10: repeats Table 7",
            "the same base model has the same average accuracy in both tables",
            ["lke_table10", "lke_table7"],
            tenth,
            again,
            0.0006,
        ),
        check(
            "Table 10: repeats Table 1",
            "the same base model has the same average accuracy in both tables",
            ["lke_table10", "lke_table1"],
            tenth[list(both)],
            first[list(both.values())].set_axis(list(both)),
            0,
        ),
    ]


def tuned(load: Load = published) -> pd.DataFrame:
    """Return the 14 tuned models of Table 6 with their accuracy and that of their base (Table 7).

    >>> tuned().loc["vicuna-7b-v1.5", ["base", "in Table 10"]].tolist()
    ['Llama2-7B', 'Llama2-7B FT-2']
    """
    names = load("lke_table6")["name in the paper"][list(TUNED)]
    accuracy = load("lke_table7")["accuracy"]
    base = names.str.replace(r"-FT\d$", "", regex=True)
    tenth = names.str.replace("Mixtral-8x7B", "Mixtral-7Bx8").str.replace("-FT", " FT-")
    return pd.DataFrame(
        {
            "base": base,
            "in Table 10": tenth,
            "accuracy": accuracy[list(TUNED.values())].to_numpy(),
            "base accuracy": accuracy[base].to_numpy(),
        }
    ).rename_axis("model")


def twins(load: Load = published) -> pd.DataFrame:
    """Return, for bases with two tuned models, how far FT-1 lies above FT-2 in both tables.

    >>> twins().loc["Llama2-7B"].round(3).tolist()
    [-0.056, 0.048]
    """
    table = tuned(load)
    table = table[table.duplicated("base", keep=False)]
    table["tenth"] = load("lke_table10")["tuned accuracy"][table["in Table 10"]].to_numpy()
    first = table["in Table 10"].str.endswith("FT-1")
    rows = {
        end: part.set_index("base")[["accuracy", "tenth"]] for end, part in table.groupby(first)
    }
    return (rows[True] - rows[False]).set_axis(["Table 7", "Table 10"], axis=1)


def _tuned(load: Load) -> list[Check]:
    table, accuracy, both = tuned(load), load("lke_table7")["accuracy"], twins(load)
    there = table["in Table 10"].isin(load("lke_table10").index).astype(float)
    questions = FACTS * len(load("lke_table8"))
    return [
        check(
            "Table 7: chance",
            "no accuracy lies below that of guessing, by more than three standard errors",
            ["lke_table7", "lke_table8"],
            accuracy,
            accuracy.clip(lower=CHANCE),
            3 * (CHANCE * (1 - CHANCE) / questions) ** 0.5,
        ),
        check(
            "Table 10: tuned models",
            "each tuned model of Table 6 is in Table 10 (1) or is not (0)",
            ["lke_table10", "lke_table6"],
            there,
            there.clip(lower=1),
            0,
        ),
        check(
            "Table 10: FT-1 and FT-2",
            "the first tuned model lies above the second as in Table 7, by Table 6's names",
            ["lke_table10", "lke_table7", "lke_table6"],
            both["Table 10"],
            both["Table 7"],
            APART,
        ),
    ]


def ends(load: Load = published) -> pd.Series:
    """Return Table 1's accuracies by model, such as ``Llama 7B``.

    >>> float(ends()["Bloom 560m"])
    0.41
    """
    table = load("lke_table1")
    return pd.Series(
        {
            f"{family} {row[end]}": row[f"{end} accuracy"]
            for family, row in table.iterrows()
            for end in ("smallest", "largest")
        }
    )


def overlaps(load: Load = published) -> pd.DataFrame:
    """Return the pairs of models of Tables 1 and 10 with what their subsumption rates can be.

    Of two models with accuracies a and b, the share of the first's facts that the second knows
    lies between max(0, a + b - 1) / a and min(1, b / a). If knowing goes together, it is at least
    b; read the other way round (the share of the second's facts that the first knows) at least a.

    Llama 7B knows 0.699, Llama 65B 0.836: at least 0.535 / 0.699 = 0.765 must be shared.

    >>> overlaps().loc[0, ["printed", "low", "high"]].round(3).tolist()
    [0.769, 0.765, 1.0]
    """
    sizes, tuned = load("lke_table1"), load("lke_table10")
    parts = []
    for name, table, pair in (
        ("Table 1", sizes, ["smallest accuracy", "largest accuracy"]),
        ("Table 10", tuned, ["tuned accuracy", "base accuracy"]),
    ):
        part = table[[*pair, "subsumption"]].set_axis(["first", "second", "printed"], axis=1)
        parts.append(part.rename_axis("pair").reset_index().assign(table=name))
    rows = pd.concat(parts, ignore_index=True)
    shared = (rows["first"] + rows["second"] - 1).clip(lower=0)
    for end, by in (("", "first"), ("_turned", "second")):
        rows[f"low{end}"] = shared / rows[by]
        rows[f"high{end}"] = (rows[["first", "second"]].min(axis=1) / rows[by]).clip(upper=1)
    return rows


def _overlaps(load: Load) -> list[Check]:
    rows = overlaps(load).set_index("pair")
    printed, tables = rows["printed"], ["lke_table1", "lke_table10"]
    readings = {
        "the share of the first model's facts that the second knows": ("", "second"),
        "the share of the second model's facts that the first knows": ("_turned", "first"),
    }
    found = []
    for number, (claim, (end, other)) in enumerate(readings.items()):
        kind = "turned" if number else "as defined"
        low, high = rows[f"low{end}"], rows[f"high{end}"]
        found.append(
            check(
                f"Subsumption {kind}: possible",
                f"{claim} lies within what their accuracies allow",
                tables,
                printed,
                printed.clip(low, high),
                0.002,
            )
        )
        found.append(
            check(
                f"Subsumption {kind}: together",
                f"{claim} is no less than the share of all facts that it knows",
                tables,
                printed,
                printed.clip(lower=rows[other]),
                0.002,
            )
        )
    return found
