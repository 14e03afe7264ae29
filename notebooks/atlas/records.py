"""Read and compare what is recorded of the models, in the small files beside their weights."""

import json
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.models.checkpoints import BUNDLED_MODELS_FOLDER
from helpers.stats import Interval, bootstrap, wilson_interval
from notebooks.atlas import recipe
from notebooks.kit.plots.result_tables import wide_interval_table

RECORDED_MEASURES = tomllib.loads(
    Path(__file__).with_name("measures.toml").read_text(encoding="utf-8")
)
FEWEST_OBJECTS = 20  # with fewer objects in a relation, guessing alone finds many
OPEN_RELATIONS = f"relations with {FEWEST_OBJECTS} objects or more"
QUESTION_ALONE, COMMONEST_OBJECT = (
    f"none, {OPEN_RELATIONS}",
    f"commonest object, {OPEN_RELATIONS}",
)
EXPOSURE_AXIS_LABEL = "times the training text states the fact"
CONTEXT_PAIRS = (
    ("none", "unrelated"),
    ("none", "wrong"),
    ("unrelated", "wrong"),
)  # right after both
CONDITION_WHERE_UNSURE = (
    "none, where unsure, kept frames, new facts"  # without the instruction
)
EVALUATION_COLUMNS = ["model", "condition", "exposures", "n", "estimate", "low", "high"]
EXPOSURE_GROUPS = {"0": (0,), "8 to 32": (8, 16, 32), "64": (64,), "256": (256,)}
COLUMN_FORMATS = {
    "parameters": "{:,}",
    "megabytes": "{:.1f}",
    "tokens": "{:.1f}",
    "minutes": "{:.0f}",
    "rate": "{:g}",
}
ConditionByTitle = Mapping[
    str, tuple[str, Collection[int] | None]
]  # title to condition and exposures


def bundled_models(folder: Path = BUNDLED_MODELS_FOLDER) -> list[str]:
    """Return the bundled models of the atlas, the smallest first, a tuned one after its base."""
    names = [path.parent.name for path in folder.glob("atlas-*/training.json")]
    return sorted(names, key=lambda name: (number_of_parameters(name, folder), name))


def checked_model_names(
    names: Sequence[str], folder: Path = BUNDLED_MODELS_FOLDER
) -> list[str]:
    """Return the named models, all of the family if none is named; refuse any other."""
    family = bundled_models(folder)
    strange = [name for name in names if name not in family]
    if strange:
        raise UserError(
            f"'{strange[0]}' is no bundled model of known training: choose from "
            f"{', '.join(family) or 'none'}."
        )
    return list(names) or family


def untuned_models(
    names: Sequence[str], folder: Path = BUNDLED_MODELS_FOLDER
) -> list[str]:
    """Return those of some models that were not tuned to follow an instruction."""
    return [name for name in names if not training_report(name, folder).get("base")]


def model_or_stand_in(
    model: str, names: Sequence[str], folder: Path = BUNDLED_MODELS_FOLDER
) -> str:
    """Return the model that is asked: itself if it is of the family, else the largest untuned."""
    if model in bundled_models(folder):
        return model
    return max(
        untuned_models(names, folder) or names,
        key=lambda name: number_of_parameters(name, folder),
    )


def number_of_parameters(name: str, folder: Path = BUNDLED_MODELS_FOLDER) -> int:
    """Return the parameters of a bundled model, worked out from its `config.json`."""
    shape = json.loads((folder / name / "config.json").read_text(encoding="utf-8"))
    hidden, inner = shape["hidden_size"], shape["intermediate_size"]
    heads = shape["num_attention_heads"] * shape["head_dim"]
    block = 4 * hidden * heads + 3 * hidden * inner + 2 * hidden
    return shape["vocab_size"] * hidden + shape["num_hidden_layers"] * block + hidden


def training_report(name: str, folder: Path = BUNDLED_MODELS_FOLDER) -> dict:
    """Return the training's report of a bundled model."""
    path = folder / name / "training.json"
    if not path.is_file():
        raise UserError(
            f"{name} has no training.json: train it with notebooks.atlas.train."
        )
    return json.loads(path.read_text(encoding="utf-8"))


def table_of_models(
    names: Sequence[str], folder: Path = BUNDLED_MODELS_FOLDER
) -> pd.DataFrame:
    """Tabulate how the models are built and how they were trained."""
    rows = {}
    for name in names:
        told = training_report(name, folder)
        stages, shape = told["stages"], told["shape"]
        rows[name] = {
            "parameters": number_of_parameters(name, folder),
            "blocks": shape["layers"],
            "channels": shape["hidden"],
            "heads": shape["heads"],
            "megabytes": (folder / name / "model.safetensors").stat().st_size / 1e6,
            "tokens": sum(stage["tokens"] for stage in stages) / 1e6,
            "minutes": sum(stage["seconds"] for stage in stages) / 60,
            "rate": told["recipe"]["second"]["rate"],
            "seed": told["recipe"]["seed"],
            "base": told.get("base", ""),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")


def recorded_evaluation(
    names: Sequence[str], folder: Path = BUNDLED_MODELS_FOLDER
) -> pd.DataFrame:
    """Return all that was measured of some models (`evaluation.csv` of each)."""
    found = []
    for name in names:
        path = folder / name / "evaluation.csv"
        if not path.is_file():
            raise UserError(
                f"{name} has not been measured: run python -m notebooks.atlas.model_card "
                f"{path.parent}."
            )
        found.append(
            pd.read_csv(path)
            .assign(model=name)
            .rename(columns={"accuracy": "estimate"})
        )
    return (
        pd.concat(found)[EVALUATION_COLUMNS]
        if found
        else pd.DataFrame(columns=EVALUATION_COLUMNS)
    )


def share_of_right_answers(
    table: pd.DataFrame,
    model: str,
    condition: str | Collection[str],
    exposures: Collection[int] | None = None,
    wordings: int = 1,
) -> Interval:
    """Return one share of right answers, exposures (and conditions, if several) taken together."""
    conditions = [condition] if isinstance(condition, str) else list(condition)
    rows = table[(table["model"] == model) & table["condition"].isin(conditions)]
    rows = rows if exposures is None else rows[rows["exposures"].isin(list(exposures))]
    hits, n = (rows["estimate"] * rows["n"]).round().sum(), int(rows["n"].sum())
    n_facts = n // wordings
    return wilson_interval(hits / n * n_facts if n else 0, n_facts)


def difference_of_shares(first: Interval, second: Interval) -> Interval:
    """Subtract two shares, with Newcombe's hybrid score interval."""
    estimate = first.estimate - second.estimate
    below = (
        (first.estimate - first.low) ** 2 + (second.high - second.estimate) ** 2
    ) ** 0.5
    above = (
        (first.high - first.estimate) ** 2 + (second.estimate - second.low) ** 2
    ) ** 0.5
    return Interval(
        estimate, estimate - below, estimate + above, min(first.n, second.n)
    )


def paired_difference_of_shares(
    table: pd.DataFrame,
    model: str,
    first: str,
    second: str,
    exposures: Collection[int] | None = None,
) -> Interval:
    """Subtract two shares of the same facts, with Newcombe's interval for paired shares (1998)."""
    joined = (f"{first} and {second}", f"{second} and {first}")
    one, two, both = (
        share_of_right_answers(table, model, name, exposures)
        for name in (first, second, joined)
    )
    (p, low, high, n), (q, other_low, other_high, _) = one, two
    spread = (p * (1 - p) * q * (1 - q)) ** 0.5
    # The correlation of the answers; 0 where what is right in both is not recorded
    phi = (both.estimate - p * q) / spread if both.n and spread else 0.0
    sides = ((p - low, other_high - q), (high - p, q - other_low))
    below, above = (max(0.0, a**2 + b**2 - 2 * phi * a * b) ** 0.5 for a, b in sides)
    return Interval(p - q, p - q - below, p - q + above, min(n, two.n))


def conditions_by_title(name: str, *more: str) -> ConditionByTitle:
    """Return tables of `measures.toml`: each title with its condition and exposures."""
    parts = [RECORDED_MEASURES[part] for part in (name, *more)]
    return {
        title: (key, part.get("exposures"))
        for part in parts
        for key, title in part["titles"].items()
    }


def shares_by_model(table: pd.DataFrame, wanted: ConditionByTitle) -> pd.DataFrame:
    """Return `measure` (the title), `model, estimate, low, high, n` of what was measured."""
    rows = [
        (title, model, *share_of_right_answers(table, model, condition, exposures))
        for title, (condition, exposures) in wanted.items()
        for model in table["model"].unique()
    ]
    found = pd.DataFrame(
        rows, columns=["measure", "model", "estimate", "low", "high", "n"]
    )
    return found[found["n"] > 0].reset_index(drop=True)


def effects_by_model(
    table: pd.DataFrame, wanted: Mapping = RECORDED_MEASURES["effects"]
) -> pd.DataFrame:
    """Return the differences of two conditions each, as `shares_by_model` lays them out."""
    rows = []
    for title, (first, second, exposures) in wanted.items():
        for model in table["model"].unique():
            found = paired_difference_of_shares(table, model, first, second, exposures)
            if found.n:
                rows.append((title, model, *found))
    return pd.DataFrame(
        rows, columns=["measure", "model", "estimate", "low", "high", "n"]
    )


def rows_of_conditions(table: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Keep some conditions in the order of their titles, named in `series`."""
    kept = table[table["condition"].isin(list(titles))]
    kept = kept.assign(series=kept["condition"].map(titles))
    order = {title: place for place, title in enumerate(titles.values())}
    return kept.sort_values("series", key=lambda names: names.map(order), kind="stable")


def rows_with_wording_names(rows: pd.DataFrame) -> pd.DataFrame:
    """Name in `wording` the question frame of each row by its share of the training's questions."""
    names = {
        f"frame {n}": f"wording {n + 1}: {100 * weight:.0f} %"
        for n, weight in enumerate(recipe.load_recipe().corpus.frame_weights)
    }
    return rows.assign(wording=rows["condition"].map(names))


def measures_by_model(found: pd.DataFrame, digits: int = 2) -> pd.DataFrame:
    """Lay out shares or differences for reading, one row a measure, one column a model."""
    titles = {title: title for title in found["measure"].unique()}
    laid = wide_interval_table(found, titles, digits=digits, by="model").T
    return laid.fillna("not measured").rename_axis("measure")


def accuracy_and_guessing_by_exposure(table: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return accuracy by exposure where objects are many, and what the commonest object gets."""
    guess = table[(table["condition"] == COMMONEST_OBJECT) & (table["model"] == model)]
    return pd.concat(
        [
            table[table["condition"] == QUESTION_ALONE],
            guess.assign(model="commonest object"),
        ]
    )


def conditions_of_facts_set_apart(table: pd.DataFrame) -> ConditionByTitle:
    """Name each condition of the facts set apart, exposure by exposure."""
    return {
        title.format(level): (condition, (level,))
        for condition, title in RECORDED_MEASURES["apart"]["titles"].items()
        for level in sorted(
            table.loc[table["condition"] == condition, "exposures"].unique()
        )
    }


def exposure_where_half_is_known(
    curve: pd.DataFrame, model: str
) -> tuple[int, Interval]:
    """Return the exposure from which on more than half are surely known, else the best one."""
    rows = curve[curve["model"] == model].sort_values("exposures")
    if rows.empty:
        return 0, wilson_interval(0, 0)
    sure = rows[
        rows["low"][::-1].cummin()[::-1] > 0.5
    ]  # there and at every higher exposure
    row = sure.iloc[0] if len(sure) else rows.loc[rows["estimate"].idxmax()]
    return int(row["exposures"]), Interval(
        row["estimate"], row["low"], row["high"], int(row["n"])
    )


def answers_beside_records(
    live: pd.DataFrame, table: pd.DataFrame, model: str
) -> pd.DataFrame:
    """Put what is recorded of the base question beside the answers of a run, by exposure."""
    once = table[(table["model"] == model) & (table["condition"] == "none")]
    recalled = live["exposures"].map(once.set_index("exposures")["estimate"])
    return live.assign(recorded=recalled).rename(columns={"condition": "measure"})


def comparisons_for_appendix(
    table: pd.DataFrame, model: str, tuned: str, live: pd.DataFrame
) -> Iterator[tuple[str, Interval, float]]:
    """Yield what is compared without a sentence: its label, the statistic, and its null."""
    part = partial(share_of_right_answers, table, model)
    hits, n = (live["estimate"] * live["n"]).round().sum(), live["n"].sum()
    expected = (live["recorded"] * live["n"]).sum(skipna=False) / n
    yield (
        "the answers of this run, and the records",
        wilson_interval(int(hits), int(n)),
        expected,
    )
    for label, (first, second, exposures) in RECORDED_MEASURES["contrasts"].items():
        yield (
            label,
            paired_difference_of_shares(table, model, first, second, exposures),
            0.0,
        )
    for label, (condition, exposures, chance, wordings) in RECORDED_MEASURES[
        "chances"
    ].items():
        yield label, part(condition, exposures, wordings), chance
    given = [
        part(f"false belief, {kind} given", (32,)) for kind in ("truth", "falsehood")
    ]
    right, wrong = (round(each.estimate * each.n) if each.n else 0 for each in given)
    either = wilson_interval(right, right + wrong)
    yield (
        "the truth, of answers that give truth or falsehood, 32 times each",
        either,
        0.5,
    )
    new = "chat, unsure, new frames, new facts"
    never, often = (
        share_of_right_answers(table, tuned, new, (level,), 2) for level in (0, 256)
    )
    label = '"unsure" in new wordings, never read and read 256 times'
    yield label, difference_of_shares(never, often), 0.0


def metrics_to_save(
    answers: pd.DataFrame,
    live: pd.DataFrame,
    toy: pd.DataFrame,
    table: pd.DataFrame,
    **draws: int,
) -> pd.DataFrame:
    """Return what a run saves: its accuracy over all and by exposure, the toy's, the records."""
    whole = bootstrap(answers["right"], strata=answers["relation"], **draws)
    run = {"measure": "accuracy", "relation": "all", **whole._asdict(), "level": "run"}
    found = pd.concat([
        pd.DataFrame([run]),
        live.drop(columns="recorded").assign(level="exposure"),
        toy.assign(level="toy"),
        table.rename(columns={"condition": "measure"}).assign(level="recorded"),
        effects_by_model(table).assign(level="effect"),
    ])  # fmt: skip
    return found.astype({"exposures": "Int64"})  # none in the whole


def tables_of_records(
    names: Sequence[str], folder: Path = BUNDLED_MODELS_FOLDER
) -> dict[str, pd.DataFrame]:
    """Return all that is recorded as tables of texts, by name."""
    recorded = recorded_evaluation(names, folder)
    largest = model_or_stand_in("", names, folder)
    told = training_report(largest, folder)["text"]
    curve = accuracy_and_guessing_by_exposure(recorded, largest)
    titles = {name: name for name in curve["model"].unique()}
    made = table_of_models(names, folder)
    forms = {
        column: made[column].map(form.format) for column, form in COLUMN_FORMATS.items()
    }
    unsure = {
        f"{title}, exposures {level}": (condition, exposures)
        for title, (condition, _) in conditions_by_title("tuned").items()
        for level, exposures in EXPOSURE_GROUPS.items()
    }
    shown = {
        "choices": conditions_by_title("choices", "checks"),
        "reading": conditions_by_title("reading"),
        "changes": conditions_by_title("changes"),
        "apart": conditions_of_facts_set_apart(recorded),
        "chat": unsure,
    }
    return {
        "family": made.assign(**forms),
        "exposures": _row("facts", told["facts_by_exposure"], "exposures"),
        "documents": _row("documents", told["documents"], "kind").T,
        "accuracy": wide_interval_table(
            curve.assign(measure=curve["model"]), titles, digits=2, by="exposures"
        ),
        "effects": measures_by_model(effects_by_model(recorded)),
    } | {
        name: measures_by_model(shares_by_model(recorded, wanted))
        for name, wanted in shown.items()
    }


def _row(name: str, counts: Mapping[str, int], title: str) -> pd.DataFrame:
    """Return counts as a table of one row, whose index is called `title`."""
    table = pd.DataFrame({key: [f"{n:,}"] for key, n in counts.items()}, index=[name])
    return table.rename_axis(title).rename_axis(title, axis=1)
