"""What the multiplicity paper's Tables 1 and 3 say of its Figures 4 and 5.

These figures draw three classes of answers without numbers. Where no change at all is
allowed (a threshold of 1), Ambiguity-M is the share of randomness, and accuracy and
Ambiguity-B bound the two other classes.
"""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from notebooks.kit import published
from notebooks.kit.plots import shared_figures, style

N_PROMPTS = 10  # of each question in the paper
PRINTED_MEASURES = ["accuracy", "ambiguity", "ambiguity_binary"]
BENCHMARKS_BY_TABLE = {
    "multiplicity_table1": ("TruthfulQA", "Wiki-FACTOR", "Med-HALT"),
    "multiplicity_table3": ("CommonsenseQA", "FEVER", "True-False"),
}
CLASS_COLOURS = {
    "right under all prompts": style.GREEN,
    "wrong under all prompts": style.RED,
    "changes": style.GREY,
}
RIGHT, WRONG, CHANGES = CLASS_COLOURS


def bounds_of_unchanged_answers(printed: pd.DataFrame, r: int) -> pd.DataFrame:
    """Bound the shares right and wrong under all r prompts, from printed shares.

    A question that is right under some prompts only is so under at least one and at
    most r - 1, so of their share B between B/r and B - B/r enters the mean accuracy.

    Parameters
    ----------
    printed : DataFrame
        ``accuracy`` (mean over prompts), ``ambiguity`` (Ambiguity-M) and
        ``ambiguity_binary`` (B), as shares.
    r : int
        Number of prompts.

    Returns
    -------
    DataFrame
        ``low, high`` of the share right under all, ``same``, the share of questions
        whose answer never changes. With two prompts the bounds meet.

    Examples
    --------
    >>> printed = pd.DataFrame(
    ...     {"accuracy": [0.5], "ambiguity": 0.3, "ambiguity_binary": 0.2})
    >>> bounds_of_unchanged_answers(printed, 10).round(2).values.tolist()
    [[0.32, 0.48, 0.7]]
    """
    same = 1 - printed["ambiguity"]
    binary = printed["ambiguity_binary"]
    low = (printed["accuracy"] - binary * (1 - 1 / r)).clip(0, same)
    high = (printed["accuracy"] - binary / r).clip(0, same)
    return pd.DataFrame({"low": low, "high": high, "same": same})


def printed_shares_by_benchmark() -> dict[str, pd.DataFrame]:
    """Return accuracy and ambiguity of the paper's models, as shares, by benchmark."""
    by_benchmark = {}
    for name, benchmarks in BENCHMARKS_BY_TABLE.items():
        table = published.load_published_table(name) / 100
        for benchmark in benchmarks:
            columns = [f"{benchmark} {measure}" for measure in PRINTED_MEASURES]
            part = table[columns].set_axis(PRINTED_MEASURES, axis=1)
            by_benchmark[benchmark] = part.dropna()
    return by_benchmark


def bounds_of_classes(printed: pd.DataFrame) -> pd.DataFrame:
    """Return the three classes of each model, the most accurate first, with bounds."""
    printed = printed.sort_values("accuracy", ascending=False)
    bounds = bounds_of_unchanged_answers(printed, N_PROMPTS)
    right = bounds[["low", "high"]].assign(answers=RIGHT)
    wrong = pd.DataFrame(
        {
            "low": bounds["same"] - bounds["high"],
            "high": bounds["same"] - bounds["low"],
            "answers": WRONG,
        }
    )
    changes = 1 - bounds["same"]
    changing = pd.DataFrame({"low": changes, "high": changes, "answers": CHANGES})
    changing["estimate"] = changes
    return pd.concat([right, wrong, changing]).rename_axis("model").reset_index()


def draw_bounds_of_figures_4_and_5() -> list[Axes]:
    """Draw the bounds of the classes by benchmark and model."""
    _, grid = plt.subplots(3, 2, figsize=(9, 14), layout="constrained")
    panels = printed_shares_by_benchmark().items()
    for ax, (benchmark, printed) in zip(grid.flat, panels, strict=True):
        table = bounds_of_classes(printed)
        shared_figures.dot_plot(
            table,
            "model",
            "answers",
            ax=ax,
            shades=CLASS_COLOURS,
            share=True,
            xlabel=benchmark,
        )
        ax.get_legend().set_visible(ax is grid[0, 0])
    return list(grid.flat)


def choices_between_paper_models() -> pd.DataFrame:
    """Return who is most accurate on each benchmark, and its lead in both rankings.

    In points: over the next by accuracy, and over every other model in what is right
    under all prompts, of which the tables give bounds alone. ``choice`` says whether
    the most accurate model leads there too, whatever the unprinted numbers are.

    >>> choices_between_paper_models().loc["TruthfulQA", "choice"]
    'the same'
    """
    rows = {}
    for benchmark, printed in printed_shares_by_benchmark().items():
        accuracies = printed["accuracy"].sort_values(ascending=False)
        best, second = accuracies.index[:2]
        bounds = bounds_of_unchanged_answers(printed, N_PROMPTS)
        others = bounds.drop(index=best)
        least = bounds.loc[best, "low"] - others["high"].max()
        most = bounds.loc[best, "high"] - others["low"].max()
        choice = "cannot be told"
        if least > 0:
            choice = "the same"
        elif most < 0:
            choice = "another"
        ambiguity = printed["ambiguity"] * 100
        rows[benchmark] = {
            "most accurate": best,
            "next": second,
            "lead in accuracy": 100 * (accuracies[best] - accuracies[second]),
            "lead right under all, at least": 100 * least,
            "at most": 100 * most,
            "choice": choice,
            "randomness at τ = 1": f"{ambiguity.min():.1f} to {ambiguity.max():.1f}",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("benchmark")
