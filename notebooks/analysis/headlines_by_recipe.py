"""What a headline becomes where a model was trained otherwise, run by run."""

from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.datasets import testbed
from helpers.exchange import grading
from helpers.metrics.roc_curve import area_of_run
from helpers.stats.over_runs import EstimateOfRun, mean_of_run, mean_over_runs
from notebooks.kit.plots import result_tables

PREDICTIONS_FILE = Path(__file__).parents[1] / "claims" / "testbed_predictions.csv"
# What a change of the recipe takes away, as a reader would say it.
RECIPES = {
    "": "as bundled",
    "no_hints": "no word before a question",
    "no_heads": "no head set by hand",
    "no_questions": "no question about a real fact",
    "statements_only": "statements alone",
    "one_wording": "one wording",
    "another_wording": "another wording alone",
    "first_frames_held_out": "other wordings held out",
    "half_stated": "half of the facts never asked about",
    "half_stated_by_id": "half of the facts, by their ids, never asked about",
    "hidden_64": "64 units wide",
    "hidden_32": "32 units wide",
}
# Questions that the text does not have; by default the last two.
UNREAD_FRAMES = {
    "one_wording": (1, 2, 3, 4, 5, 6),
    "another_wording": (0, 2, 3, 4, 5, 6),
    "first_frames_held_out": (0, 1),
}
FRAMES_HELD_OUT = (5, 6)
# Scores of one plain question in two forms, and of the four measures.
AREAS = {
    "plain question": "qa0 right",
    "sentence to be completed": "wp0 right",
    "MONITOR": "monitor score",
    "IC-LKE": "latent_knowledge score",
    "knowledge base": "knowledge_base score",
    "multiplicity": "multiplicity score",
}
RIVAL = "multiplicity"  # of asking once, named in advance
# Columns of the table of all measures: size and change.
RECIPES_OF_MEASURES = (
    *(("xs", ""), ("s", ""), ("m", "")),
    *(("xs", "no_questions"), ("xs", "one_wording")),
    *(("xs", "no_hints"), ("m", "no_hints")),
)
WIDTH_OF_INTERVALS = "95 % intervals: plus or minus"  # the widest of the column
LEVEL_OF_POINTS = 100
Headline = Callable[[pd.DataFrame], EstimateOfRun]


def area_of_column(column: str, rows: pd.DataFrame) -> EstimateOfRun:
    """Return the area of a score within relations, of facts read against never read."""
    rows = rows.dropna(subset=column)
    return area_of_run(rows[column], rows["exposures"] > 0, rows["relation"])


def area_of_unread_questions(rows: pd.DataFrame) -> EstimateOfRun:
    """Return the mean area over the questions that the run's text does not have."""
    frames = UNREAD_FRAMES.get(rows["change"].iloc[0], FRAMES_HELD_OUT)
    areas = [area_of_column(f"qa{frame} right", rows) for frame in frames]
    influences = pd.concat([area.influence for area in areas], axis=1)
    influence = influences.fillna(0.0).mean(axis=1)
    return EstimateOfRun(float(np.mean([a.estimate for a in areas])), influence)


def unread_less_plain_question(rows: pd.DataFrame) -> EstimateOfRun:
    """Return the mean area of unread questions less that of the plain one."""
    unread = area_of_unread_questions(rows)
    plain = area_of_column(AREAS["plain question"], rows)
    gap = unread.influence.sub(plain.influence, fill_value=0.0)
    return EstimateOfRun(unread.estimate - plain.estimate, gap)


def lead_of_plain_question(rival: str, rows: pd.DataFrame) -> EstimateOfRun:
    """Return the area of the plain question less that of another score."""
    own = area_of_column(AREAS["plain question"], rows)
    other = area_of_column(rival, rows)
    gap = own.influence.sub(other.influence, fill_value=0.0)
    return EstimateOfRun(own.estimate - other.estimate, gap)


def cost_of_word(before: str, after: str, rows: pd.DataFrame) -> EstimateOfRun:
    """Return how many points fewer are right after one word than after another."""
    cost = rows[f"right after {before}"] - rows[f"right after {after}"]
    both = rows.assign(cost=LEVEL_OF_POINTS * cost).dropna(subset="cost")
    return mean_of_run(both["cost"], both["relation"])


def copied_answers(rows: pd.DataFrame) -> EstimateOfRun:
    """Return the share of facts never read that are right after the right word."""
    never = rows[rows["exposures"] == 0]
    return mean_of_run(never["right after right"], never["relation"])


# The halves of facts that are asked about and never asked about are alike in it.
OF_FACTS_NEVER_READ = "right after the right word, never read"
HEADLINES: dict[str, Headline] = {
    "an unrelated word costs (points)": partial(cost_of_word, "none", "unrelated"),
    "a wrong answer costs beyond it (points)": partial(
        cost_of_word, "unrelated", "wrong"
    ),
    OF_FACTS_NEVER_READ: copied_answers,
    **{f"AUC: {name}": partial(area_of_column, c) for name, c in AREAS.items()},
    "AUC: unread questions": area_of_unread_questions,
    "plain question less multiplicity": partial(lead_of_plain_question, AREAS[RIVAL]),
    "plain question less MONITOR": partial(lead_of_plain_question, AREAS["MONITOR"]),
    "plain question less sentence": partial(
        lead_of_plain_question, AREAS["sentence to be completed"]
    ),
}
HEADLINES["unread questions less the plain one"] = unread_less_plain_question
# Of each predicted statistic: the headline, and whether it is that of the recipe's own
# runs or how far they differ from bundled runs with the same start.
# Runs whose figures had been looked at when the predictions were written.
SEEN_RUNS = (
    *("xs-0", "xs-3", "xs-no-hints-0", "xs-no-heads-0", "xs-one-wording-0"),
    *("xs-no-questions-0", "xs-half-stated-by-id-0", "s-0", "m-0"),
    *("m-no-hints-0", "m-half-stated-by-id-0"),
)
CHANGE_BOUNDS = ("change_low", "change_high")
OWN, DIFFERENCE = "estimate", "change_by"
PREDICTED_STATISTICS = {
    "AUC of the plain question within relations": ("AUC: plain question", OWN),
    "plain question less the best of the four measures named in advance"
    " (multiplicity)": ("plain question less multiplicity", OWN),
    "plain question less multiplicity": ("plain question less multiplicity", OWN),
    "plain question less MONITOR": ("plain question less MONITOR", OWN),
    "right answers that an unrelated word costs": (
        "an unrelated word costs (points)",
        OWN,
    ),
    "right answers that a wrong answer costs beyond an unrelated word": (
        "a wrong answer costs beyond it (points)",
        OWN,
    ),
    "right after the right word among facts never read": (
        "right after the right word, never read",
        OWN,
    ),
    "mean of the unread wordings less the trained one": (
        "unread questions less the plain one",
        OWN,
    ),
    "plain question less that of the bundled recipe (same start)": (
        "AUC: plain question",
        DIFFERENCE,
    ),
    "plain question in the trained wording less that of the bundled recipe": (
        "AUC: plain question",
        DIFFERENCE,
    ),
    "sentence to be completed less that of the bundled recipe (same start)": (
        "AUC: sentence to be completed",
        DIFFERENCE,
    ),
}
RUN_KEYS = ["size", "change", "seed", "start"]


def headlines_of_runs(runs: pd.DataFrame) -> dict[str, dict[Hashable, EstimateOfRun]]:
    """Return each headline of each run; runs are named by `RUN_KEYS`."""
    by_headline: dict[str, dict[Hashable, EstimateOfRun]] = {}
    clear = runs[testbed.is_exposure_clear(runs)]
    for key, rows in clear.groupby(RUN_KEYS):
        of_run = rows.set_index("item")
        for name, headline in HEADLINES.items():
            by_headline.setdefault(name, {})[key] = headline(of_run)
    return by_headline


def headlines_by_recipe(
    runs: pd.DataFrame, usual_runs: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return each headline by recipe and size, beside the bundled recipe's runs.

    These are among `usual_runs`, by default among `runs`.

    ``estimate, low, high`` are over the recipe's runs; ``change_by`` and its bounds are
    of the difference from the runs of the bundled recipe with the same seed and start.
    """
    usual_by_headline = headlines_of_runs(runs if usual_runs is None else usual_runs)
    rows = []
    for headline, by_run in headlines_of_runs(runs).items():
        recipes = dict.fromkeys((size, change) for size, change, *_ in by_run)
        for size, change in recipes:
            own = _runs_of_recipe(by_run, size, change)
            usual = _runs_of_recipe(usual_by_headline[headline], size, "")
            mean = mean_over_runs(own)
            row = {
                "size": size,
                "recipe": RECIPES.get(change, change),
                "headline": headline,
                "estimate": mean.estimate,
                "low": mean.low,
                "high": mean.high,
                "runs": mean.n_runs,
                "n": mean.n,
            }
            if change:
                gap = mean_over_runs(own, usual)
                row |= {
                    "change_by": gap.estimate,
                    "change_low": gap.low,
                    "change_high": gap.high,
                }
            rows.append(row)
    return pd.DataFrame(rows)


def _runs_of_recipe(
    by_run: dict[Hashable, EstimateOfRun], size: str, change: str
) -> dict[Hashable, EstimateOfRun]:
    """Return the runs of a recipe by their seed and start."""
    chosen: dict[Hashable, EstimateOfRun] = {}
    for key, estimate in by_run.items():
        own_size, own_change, *seed_and_start = tuple(key)  # type: ignore[arg-type]
        if (own_size, own_change) == (size, change):
            chosen[tuple(seed_and_start)] = estimate
    return chosen


def facts_asked_and_never_asked(runs: pd.DataFrame) -> pd.DataFrame:
    """Return areas in runs that never ask about half of the facts, by half."""
    rows = []
    of_half = runs[runs["change"].str.startswith("half_stated")]
    for stated_only, half in of_half.groupby("stated_only"):
        table = headlines_by_recipe(half)
        table = table[table["headline"] != OF_FACTS_NEVER_READ]
        label = "never asked about" if stated_only else "asked about"
        rows.append(table.assign(facts=label))
    if not rows:
        return pd.DataFrame()
    return pd.concat(rows, ignore_index=True)


def outcomes_of_predictions(runs: pd.DataFrame) -> pd.DataFrame:
    """Return what was predicted of runs beside what came, as far as they were made.

    ``seen`` is what runs gave that had been looked at before, ``came`` what others do,
    and ``inside`` whether this is between the numbers that were predicted.
    """
    is_seen = runs["run"].isin(SEEN_RUNS)
    seen = headlines_by_recipe(runs[is_seen])
    came = headlines_by_recipe(runs[~is_seen], usual_runs=runs)
    rows = []
    predictions = pd.read_csv(PREDICTIONS_FILE, keep_default_na=False)
    for prediction in predictions.itertuples():
        recipe = RECIPES.get(prediction.recipe, prediction.recipe)
        headline, column = PREDICTED_STATISTICS.get(prediction.statistic, ("", OWN))
        predicted = ""
        if prediction.low:
            predicted = f"{prediction.low} to {prediction.high}"
        row = {
            "recipe": recipe,
            "size": prediction.size,
            "what": prediction.statistic,
            "predicted": predicted,
        }
        key = (recipe, prediction.size, headline)
        row["seen"], _ = _estimate_in_words(seen, key, column)
        row["came"], estimate = _estimate_in_words(came, key, column)
        row["inside"] = ""
        if row["came"]:
            is_inside = float(prediction.low) <= estimate <= float(prediction.high)
            row["inside"] = "yes" if is_inside else "no"
        rows.append(row)
    return pd.DataFrame(rows)


def _estimate_in_words(
    table: pd.DataFrame, key: tuple[str, str, str], column: str
) -> tuple[str, float]:
    """Return a headline of a recipe and size with its interval, and as a number."""
    if table.empty:
        return "", float("nan")
    by_recipe = table.set_index(["recipe", "size", "headline"])
    if key not in by_recipe.index or np.isnan(by_recipe.loc[key, column]):
        return "", float("nan")
    row = by_recipe.loc[key]
    low, high = ("low", "high") if column == OWN else CHANGE_BOUNDS
    digits = 1 if "points" in key[2] else 2
    text = result_tables.interval(row[column], row[low], row[high], digits, 1)
    return text, float(row[column])


def areas_of_all_measures(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the AUC of every measure, by size and recipe: a row a measure.

    The highest mean over the models as bundled stands first; the last row is half the
    width of the widest interval of a column. Intervals are over facts and runs.
    """
    clear = grading.with_derived_measures(runs[testbed.is_exposure_clear(runs)])
    columns = {}
    widths = {}
    for size, change in RECIPES_OF_MEASURES:
        of_recipe = clear[(clear["size"] == size) & (clear["change"] == change)]
        if of_recipe.empty:
            continue
        title = f"{size}, {RECIPES[change]}"
        areas = {}
        for column, measure in grading.MEASURES_BESIDE.items():
            by_run = grading.areas_by_run(of_recipe.dropna(subset=column), column)
            areas[measure] = mean_over_runs(by_run, null=0.5)
        columns[title] = {name: area.estimate for name, area in areas.items()}
        widths[title] = max((area.high - area.low) / 2 for area in areas.values())
    table = pd.DataFrame(columns)
    bundled = table.filter(like=RECIPES[""]).mean(axis=1)
    table = table.loc[bundled.sort_values(ascending=False, kind="stable").index]
    table.loc[WIDTH_OF_INTERVALS] = widths
    return table.rename_axis("measure").reset_index()


def write_tables(folder: Path) -> None:
    """Write the tables of the page about the testbed."""
    runs = testbed.load_testbed_runs()
    for name, table in tables_of_page(runs).items():
        table.to_csv(folder / f"testbed_{name}.csv", index=False)


def tables_of_page(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables of the page: by recipe, and facts asked and never asked."""
    by_recipe = headlines_by_recipe(runs)
    by_half = facts_asked_and_never_asked(runs)
    return {
        "headlines": _in_words(by_recipe),
        "halves": _in_words(by_half),
        "predictions": outcomes_of_predictions(runs),
        "measures": _with_two_decimals(areas_of_all_measures(runs)),
    }


def _with_two_decimals(areas: pd.DataFrame) -> pd.DataFrame:
    """Return the table of all measures with its numbers as texts."""
    numbers = areas.columns.drop("measure")
    return areas.assign(**{name: areas[name].map("{:.2f}".format) for name in numbers})


def _in_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return estimates with their intervals as texts, one column a headline."""
    keys = [name for name in ("facts", "size", "recipe", "runs") if name in table]
    cells = []
    for row in table.itertuples():
        digits = 1 if "points" in row.headline else 2
        cells.append(result_tables.interval(row.estimate, row.low, row.high, digits, 1))
    wide = table.assign(cell=cells).pivot_table(
        "cell", keys, "headline", aggfunc="first", sort=False
    )
    return wide.reset_index().rename_axis(columns=None)


if __name__ == "__main__":
    write_tables(Path(__file__).parents[2] / "book")
