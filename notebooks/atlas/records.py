"""Read and compare what is recorded of the models, in files beside their weights."""

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
QUESTION_ALONE = f"none, {OPEN_RELATIONS}"
COMMONEST_OBJECT = f"commonest object, {OPEN_RELATIONS}"
EXPOSURE_AXIS_LABEL = "times the training text states the fact"
# Right after both
CONTEXT_PAIRS = (("none", "unrelated"), ("none", "wrong"), ("unrelated", "wrong"))
# Without the instruction
CONDITION_WHERE_UNSURE = "none, where unsure, kept frames, new facts"
EVALUATION_COLUMNS = ["model", "condition", "exposures", "n", "estimate", "low", "high"]
EXPOSURE_GROUPS = {"0": (0,), "8 to 32": (8, 16, 32), "64": (64,), "256": (256,)}
COLUMN_FORMATS = {
    "parameters": "{:,}",
    "megabytes": "{:.1f}",
    "tokens": "{:.1f}",
    "minutes": "{:.0f}",
    "rate": "{:g}",
}
COMPARISON_COLUMNS = ["measure", "model", "estimate", "low", "high", "n"]
# Title to condition and exposures
ConditionByTitle = Mapping[str, tuple[str, Collection[int] | None]]


def bundled_models(folder: Path = BUNDLED_MODELS_FOLDER) -> list[str]:
    """Return the bundled models, the smallest first, a tuned one after its base."""
    names = [path.parent.name for path in folder.glob("atlas-*/training.json")]
    names.sort()
    return sorted(names, key=partial(number_of_parameters, folder=folder))


def checked_model_names(
    names: Sequence[str], folder: Path = BUNDLED_MODELS_FOLDER
) -> list[str]:
    """Return the named models, all of the family if none is named; refuse any other."""
    family = bundled_models(folder)
    strange = [name for name in names if name not in family]
    if strange:
        choices = ", ".join(family) or "none"
        raise UserError(
            f"'{strange[0]}' is no bundled model of known training: "
            f"choose from {choices}."
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
    """Return the model if it is of the family, else the largest untuned one."""
    if model in bundled_models(folder):
        return model
    candidates = untuned_models(names, folder) or names
    return max(candidates, key=partial(number_of_parameters, folder=folder))


def number_of_parameters(name: str, folder: Path = BUNDLED_MODELS_FOLDER) -> int:
    """Return the parameters of a bundled model, worked out from its `config.json`."""
    shape = json.loads((folder / name / "config.json").read_text(encoding="utf-8"))
    hidden = shape["hidden_size"]
    inner = shape["intermediate_size"]
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
        report = training_report(name, folder)
        stages = report["stages"]
        shape = report["shape"]
        rows[name] = {
            "parameters": number_of_parameters(name, folder),
            "blocks": shape["layers"],
            "channels": shape["hidden"],
            "heads": shape["heads"],
            "megabytes": (folder / name / "model.safetensors").stat().st_size / 1e6,
            "tokens": sum(stage["tokens"] for stage in stages) / 1e6,
            "minutes": sum(stage["seconds"] for stage in stages) / 60,
            "rate": report["recipe"]["second"]["rate"],
            "seed": report["recipe"]["seed"],
            "base": report.get("base", ""),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("model")


def recorded_evaluation(
    names: Sequence[str], folder: Path = BUNDLED_MODELS_FOLDER
) -> pd.DataFrame:
    """Return all that was measured of some models (`evaluation.csv` of each)."""
    tables = []
    for name in names:
        path = folder / name / "evaluation.csv"
        if not path.is_file():
            raise UserError(
                f"{name} has not been measured: "
                f"run python -m notebooks.atlas.model_card {path.parent}."
            )
        table = pd.read_csv(path).rename(columns={"accuracy": "estimate"})
        tables.append(table.assign(model=name))
    if not tables:
        return pd.DataFrame(columns=EVALUATION_COLUMNS)
    return pd.concat(tables)[EVALUATION_COLUMNS]


def share_of_right_answers(
    table: pd.DataFrame,
    model: str,
    condition: str | Collection[str],
    exposures: Collection[int] | None = None,
    wordings: int = 1,
) -> Interval:
    """Return one share of right answers, of conditions and exposures together."""
    conditions = [condition] if isinstance(condition, str) else list(condition)
    rows = table[(table["model"] == model) & table["condition"].isin(conditions)]
    if exposures is not None:
        rows = rows[rows["exposures"].isin(list(exposures))]
    n = int(rows["n"].sum())
    n_facts = n // wordings
    if n == 0:
        return wilson_interval(0, n_facts)
    hits = (rows["estimate"] * rows["n"]).round().sum()
    return wilson_interval(hits / n * n_facts, n_facts)


def difference_of_shares(first: Interval, second: Interval) -> Interval:
    """Subtract two shares, with Newcombe's hybrid score interval."""
    estimate = first.estimate - second.estimate
    first_below = first.estimate - first.low
    first_above = first.high - first.estimate
    second_below = second.estimate - second.low
    second_above = second.high - second.estimate
    below = (first_below**2 + second_above**2) ** 0.5
    above = (first_above**2 + second_below**2) ** 0.5
    n = min(first.n, second.n)
    return Interval(estimate, estimate - below, estimate + above, n)


def paired_difference_of_shares(
    table: pd.DataFrame,
    model: str,
    first: str,
    second: str,
    exposures: Collection[int] | None = None,
) -> Interval:
    """Subtract shares of the same facts, with Newcombe's paired interval (1998)."""
    one = share_of_right_answers(table, model, first, exposures)
    two = share_of_right_answers(table, model, second, exposures)
    joined = (f"{first} and {second}", f"{second} and {first}")
    both = share_of_right_answers(table, model, joined, exposures)
    p = one.estimate
    q = two.estimate
    spread = (p * (1 - p) * q * (1 - q)) ** 0.5
    # The correlation of the answers; 0 where what is right in both is not recorded
    phi = (both.estimate - p * q) / spread if both.n and spread else 0.0
    below = _paired_half_width(p - one.low, two.high - q, phi)
    above = _paired_half_width(one.high - p, q - two.low, phi)
    return Interval(p - q, p - q - below, p - q + above, min(one.n, two.n))


def _paired_half_width(a: float, b: float, phi: float) -> float:
    """Return a side of the interval from those of the two shares."""
    return max(0.0, a**2 + b**2 - 2 * phi * a * b) ** 0.5


def conditions_by_title(name: str, *more: str) -> ConditionByTitle:
    """Return tables of `measures.toml`: each title with its condition and exposures."""
    conditions = {}
    for part_name in (name, *more):
        part = RECORDED_MEASURES[part_name]
        for condition, title in part["titles"].items():
            conditions[title] = (condition, part.get("exposures"))
    return conditions


def shares_by_model(table: pd.DataFrame, wanted: ConditionByTitle) -> pd.DataFrame:
    """Return `measure` (the title), `model, estimate, low, high, n`, where measured."""
    rows = []
    for title, (condition, exposures) in wanted.items():
        for model in table["model"].unique():
            share = share_of_right_answers(table, model, condition, exposures)
            rows.append((title, model, *share))
    shares = pd.DataFrame(rows, columns=COMPARISON_COLUMNS)
    return shares[shares["n"] > 0].reset_index(drop=True)


def effects_by_model(
    table: pd.DataFrame, wanted: Mapping = RECORDED_MEASURES["effects"]
) -> pd.DataFrame:
    """Return the differences of two conditions each, laid out as `shares_by_model`."""
    rows = []
    for title, (first, second, exposures) in wanted.items():
        for model in table["model"].unique():
            effect = paired_difference_of_shares(table, model, first, second, exposures)
            if effect.n:
                rows.append((title, model, *effect))
    return pd.DataFrame(rows, columns=COMPARISON_COLUMNS)


def rows_of_conditions(table: pd.DataFrame, titles: Mapping[str, str]) -> pd.DataFrame:
    """Keep some conditions in the order of their titles, named in `series`."""
    rows = table[table["condition"].isin(list(titles))]
    rows = rows.assign(series=rows["condition"].map(titles))
    rank_by_title = {title: rank for rank, title in enumerate(titles.values())}

    def ranks(series: pd.Series) -> pd.Series:
        return series.map(rank_by_title)

    return rows.sort_values("series", key=ranks, kind="stable")


def rows_with_wording_names(rows: pd.DataFrame) -> pd.DataFrame:
    """Name in `wording` each row's question frame by its share of the training's."""
    names = {}
    weights = recipe.load_recipe().corpus.frame_weights
    for number, weight in enumerate(weights):
        names[f"frame {number}"] = f"wording {number + 1}: {100 * weight:.0f} %"
    return rows.assign(wording=rows["condition"].map(names))


def measures_by_model(found: pd.DataFrame, digits: int = 2) -> pd.DataFrame:
    """Lay out shares or differences, one row a measure, one column a model."""
    titles = {title: title for title in found["measure"].unique()}
    table = wide_interval_table(found, titles, digits=digits, by="model").T
    return table.fillna("not measured").rename_axis("measure")


def accuracy_and_guessing_by_exposure(table: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return accuracy where objects are many, and what the commonest object gets."""
    of_model = table["model"] == model
    guessed = table[(table["condition"] == COMMONEST_OBJECT) & of_model]
    asked = table[table["condition"] == QUESTION_ALONE]
    return pd.concat([asked, guessed.assign(model="commonest object")])


def conditions_of_facts_set_apart(table: pd.DataFrame) -> ConditionByTitle:
    """Name each condition of the facts set apart, exposure by exposure."""
    conditions = {}
    for condition, title in RECORDED_MEASURES["apart"]["titles"].items():
        exposures = table.loc[table["condition"] == condition, "exposures"]
        for level in sorted(exposures.unique()):
            conditions[title.format(level)] = (condition, (level,))
    return conditions


def exposure_where_half_is_known(
    curve: pd.DataFrame, model: str
) -> tuple[int, Interval]:
    """Return the exposure from which more than half are surely known, else the best."""
    rows = curve[curve["model"] == model].sort_values("exposures")
    if rows.empty:
        return 0, wilson_interval(0, 0)
    # The lowest bound there and at every higher exposure
    lowest_from_here = rows["low"][::-1].cummin()[::-1]
    sure = rows[lowest_from_here > 0.5]
    row = rows.loc[rows["estimate"].idxmax()] if sure.empty else sure.iloc[0]
    share = Interval(row["estimate"], row["low"], row["high"], int(row["n"]))
    return int(row["exposures"]), share


def answers_beside_records(
    live: pd.DataFrame, table: pd.DataFrame, model: str
) -> pd.DataFrame:
    """Put what is recorded of the base question beside a run's answers, by exposure."""
    once = table[(table["model"] == model) & (table["condition"] == "none")]
    recorded = live["exposures"].map(once.set_index("exposures")["estimate"])
    return live.assign(recorded=recorded).rename(columns={"condition": "measure"})


def comparisons_for_appendix(
    table: pd.DataFrame, model: str, tuned: str, live: pd.DataFrame
) -> Iterator[tuple[str, Interval, float]]:
    """Yield what is compared without a sentence: label, statistic, and null."""
    n = live["n"].sum()
    hits = (live["estimate"] * live["n"]).round().sum()
    expected = (live["recorded"] * live["n"]).sum(skipna=False) / n
    in_run = wilson_interval(int(hits), int(n))
    yield "the answers of this run, and the records", in_run, expected

    for label, contrast in RECORDED_MEASURES["contrasts"].items():
        first, second, exposures = contrast
        effect = paired_difference_of_shares(table, model, first, second, exposures)
        yield label, effect, 0.0

    for label, comparison in RECORDED_MEASURES["chances"].items():
        condition, exposures, chance, wordings = comparison
        share = share_of_right_answers(table, model, condition, exposures, wordings)
        yield label, share, chance

    n_true = _hits(table, model, "false belief, truth given", 32)
    n_false = _hits(table, model, "false belief, falsehood given", 32)
    label = "the truth, of answers that give truth or falsehood, 32 times each"
    yield label, wilson_interval(n_true, n_true + n_false), 0.5

    condition = "chat, unsure, new frames, new facts"
    never = share_of_right_answers(table, tuned, condition, (0,), 2)
    often = share_of_right_answers(table, tuned, condition, (256,), 2)
    label = '"unsure" in new wordings, never read and read 256 times'
    yield label, difference_of_shares(never, often), 0.0


def _hits(table: pd.DataFrame, model: str, condition: str, exposure: int) -> int:
    """Return how many answers were right under a condition, 0 if none is recorded."""
    share = share_of_right_answers(table, model, condition, (exposure,))
    return round(share.estimate * share.n) if share.n else 0


def metrics_to_save(
    answers: pd.DataFrame,
    live: pd.DataFrame,
    toy: pd.DataFrame,
    table: pd.DataFrame,
    **draws: int,
) -> pd.DataFrame:
    """Return what a run saves: its accuracy, the toy's, and the records."""
    whole = bootstrap(answers["right"], strata=answers["relation"], **draws)
    run = {"measure": "accuracy", "relation": "all", **whole._asdict(), "level": "run"}
    records = table.rename(columns={"condition": "measure"})
    metrics = pd.concat(
        [
            pd.DataFrame([run]),
            live.drop(columns="recorded").assign(level="exposure"),
            toy.assign(level="toy"),
            records.assign(level="recorded"),
            effects_by_model(table).assign(level="effect"),
        ]
    )
    return metrics.astype({"exposures": "Int64"})  # none in the whole


def tables_of_records(
    names: Sequence[str], folder: Path = BUNDLED_MODELS_FOLDER
) -> dict[str, pd.DataFrame]:
    """Return all that is recorded as tables of texts, by name."""
    recorded = recorded_evaluation(names, folder)
    largest = model_or_stand_in("", names, folder)
    text = training_report(largest, folder)["text"]
    curve = accuracy_and_guessing_by_exposure(recorded, largest)
    titles = {name: name for name in curve["model"].unique()}
    accuracy = wide_interval_table(
        curve.assign(measure=curve["model"]), titles, digits=2, by="exposures"
    )
    tables = {
        "family": _formatted(table_of_models(names, folder)),
        "exposures": _row("facts", text["facts_by_exposure"], "exposures"),
        "documents": _row("documents", text["documents"], "kind").T,
        "accuracy": accuracy,
        "effects": measures_by_model(effects_by_model(recorded)),
    }
    conditions_by_table = {
        "choices": conditions_by_title("choices", "checks"),
        "reading": conditions_by_title("reading"),
        "changes": conditions_by_title("changes"),
        "apart": conditions_of_facts_set_apart(recorded),
        "chat": _tuned_conditions_by_exposure(),
    }
    for name, conditions in conditions_by_table.items():
        tables[name] = measures_by_model(shares_by_model(recorded, conditions))
    return tables


def _formatted(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table of models with its numbers as texts."""
    table = table.copy()
    for column, form in COLUMN_FORMATS.items():
        table[column] = table[column].map(form.format)
    return table


def _tuned_conditions_by_exposure() -> ConditionByTitle:
    """Return the conditions of tuned models, for each group of exposures."""
    conditions = {}
    for title, (condition, _) in conditions_by_title("tuned").items():
        for level, exposures in EXPOSURE_GROUPS.items():
            conditions[f"{title}, exposures {level}"] = (condition, exposures)
    return conditions


def _row(name: str, counts: Mapping[str, int], title: str) -> pd.DataFrame:
    """Return counts as a table of one row, whose index is called `title`."""
    table = pd.DataFrame({key: [f"{n:,}"] for key, n in counts.items()}, index=[name])
    return table.rename_axis(title).rename_axis(title, axis=1)
