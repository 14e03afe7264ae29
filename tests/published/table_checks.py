"""Every printed number that other printed numbers determine, worked out from the papers' tables.

A function for each paper returns its checks by name: what is printed, what other
printed numbers give (for an inequality the nearest number that fulfils it), and how far
rounding of the printed numbers can move the two apart. What each check claims is in
``checks.csv``.
"""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats
import yaml

from notebooks.analysis import published as analysis
from notebooks.kit import published
from notebooks.kit.published import knowledge_base as kb

TableLoader = Callable[[str], pd.DataFrame]
TableOrColumn = pd.DataFrame | pd.Series
TableChecks = dict[str, tuple[TableOrColumn, TableOrColumn, float | pd.Series]]

FOCUS_RELATIONS = ("P178", "P108", "P37")  # the relations of MONITOR's Table 5
SUM_TOLERANCE, PRODUCT_TOLERANCE, STEP_TOLERANCE = (
    0.015,
    0.015,
    0.005,
)  # two decimals: a sum or product of two, a share
N_QUESTIONS, N_CHOICES = 3000, 20  # of the knowledge bases, seen and as many unseen
FACTS_PER_RELATION = (
    400  # of each relation of IC-LKE: 20,000 test facts of 50 relations
)
CHANCE_OF_ONE_CHOICE = 0.01  # of one choice among 100
# IC-LKE's Tables 1 and 7 differ by up to 0.035 on one model, so those of two models by
# up to twice.
TUNED_GAP_TOLERANCE = 0.07
_NAMES = yaml.safe_load(
    Path(__file__).with_name("names.yaml").read_text(encoding="utf-8")
)
TABLE_7, TUNED_MODELS = _NAMES["table_7"], _NAMES["tuned"]
BENCHMARK_SIZES = {
    "TruthfulQA": 817,
    "Wiki-FACTOR": 2994,
    "CommonsenseQA": 1221,
}  # of the public sets
N_PROMPTS = 10


def monitor_checks(load: TableLoader) -> TableChecks:
    """Check correlations, repeated rows, means, differences and counts of Wang et al. 2024."""
    overall, three, hints = (load(f"monitor_table{n}") for n in (4, 5, 3))
    by_relation, single, corpus = (
        load("monitor_table10"),
        load("monitor_table11"),
        _corpus(load),
    )
    printed, hours = load("monitor_table4_correlation"), load("monitor_table8")
    slides = load("monitor_slides")
    both = pd.concat([single, printed])
    r = pd.Series(overall["MONITOR"].corr(overall["avg"]), index=printed.index)
    found = pd.Series(
        {p: three[f"{p} MONITOR"].corr(three[f"{p} avg"]) for p in FOCUS_RELATIONS}
    )
    own = three[[f"{p} MONITOR" for p in FOCUS_RELATIONS]].set_axis(
        FOCUS_RELATIONS, axis=1
    )
    sums = by_relation.sum()[overall.index]
    change = hints[["right_change", "wrong_change"]].set_axis(
        ["right", "wrong"], axis=1
    )
    counts = {
        "prompts": corpus["facts"] * (corpus["frames"] + 1 + 5)
    }  # 1 right, 5 wrong hints
    counts |= {"relations": len(by_relation), "models": len(overall)}
    said = load("monitor_text")["value"]
    text = {"largest gain by a right hint": hints["right_change"].max()}
    text |= {"largest loss by a wrong hint": hints["wrong_change"].min()}
    for name in said.index[2:]:
        model = name.rpartition(" of ")[2]
        column = three["P37 MONITOR"] if name.startswith("P37") else overall["MONITOR"]
        text[name] = column[model]
    return {
        # Three digits of MONITOR leave the third digit of r open, in Table 4 by 0.0015
        # (simulated).
        "Table 4: correlation": (printed["pearson"], r, 0.002),
        "Table 11: correlations": (
            single.loc[list(FOCUS_RELATIONS), "pearson"],
            found,
            0.001,
        ),
        "Tables 4, 11: p-values": _p_values(
            both["pearson"], both["p_value"], len(overall)
        ),
        "Table 5: repeats Table 10": (
            own,
            by_relation.loc[list(FOCUS_RELATIONS)].T.loc[own.index],
            0,
        ),
        "Table 6: repeats Table 10": (
            *(load("monitor_table6")["MONITOR"], by_relation.loc["P1412"], 0),
        ),
        "Table 2: repeats Table 3": (load("monitor_table2")["QA"], hints["none"], 0),
        "Table 4: mean of relations": (
            overall["MONITOR"],
            sums / len(by_relation),
            0.001,
        ),
        "Table 4: sum over 21": (overall["MONITOR"], sums / 21, 0.001),
        "Table 4: order": (
            overall["avg"],
            overall["avg"].clip(overall["min"], overall["max"]),
            0,
        ),
        "Table 3: changes": (
            change,
            hints[["right", "wrong"]].sub(hints["none"], axis=0),
            SUM_TOLERANCE,
        ),
        "Table 8: ratio": (
            hours["saved"],
            hours["accuracy"] / hours["MONITOR"],
            SUM_TOLERANCE,
        ),
        "Text: corpus": (corpus[list(counts)], pd.Series(counts), 0),
        "Text: numbers": (said, pd.Series(text), 0),
        "Slides: MONITOR": (slides["MONITOR"], overall["MONITOR"][slides.index], 0),
        # Half a last digit of the slides, and half a last digit of Table 4
        "Slides: accuracies": (
            slides[["avg", "max", "min"]],
            overall[["avg", "max", "min"]].loc[slides.index],
            0.0505,
        ),
    }


def _corpus(load: TableLoader) -> pd.Series:
    return load("monitor_corpus").loc["FKTC"]


def _p_values(
    r: pd.Series, printed: pd.Series, n: int
) -> tuple[TableOrColumn, TableOrColumn, pd.Series]:
    """Compare p-values with those of r and n; 0.001 means at most that."""

    def p(values: pd.Series) -> np.ndarray:
        values = values.clip(upper=1 - 1e-12)  # a misprint may exceed 1
        return 2 * scipy.stats.t.sf(values * np.sqrt((n - 2) / (1 - values**2)), n - 2)

    size = r.abs()
    found = pd.Series(p(size), index=r.index)
    found = found.mask((printed <= 0.001) & (found <= 0.001), 0.001)
    reach = (
        p(size - 0.0005) - p(size + 0.0005)
    ) / 2  # what the rounding of r leaves open
    return printed, found, pd.Series(0.0005 + reach, index=r.index)


def knowledge_base_checks(load: TableLoader) -> TableChecks:
    """Check every measure of Zheng et al. 2024 from its parts, counts of questions, Table 2."""

    def picker(number: int) -> Callable[[str], pd.DataFrame]:
        table = load(f"kb_table{number}")
        return lambda name: table[[f"{s} {name}" for s in kb.PROMPT_SETTINGS]].set_axis(
            kb.PROMPT_SETTINGS, axis=1
        )

    facts, steady, both = (picker(number) for number in (9, 10, 11))
    seen, unseen = steady("Cons_w_seen"), steady("Cons_w_unseen")
    mean = ((seen + unseen) / 2).fillna(seen)  # a dash: no wrong response to average
    wrong = (100 - facts("UR")) * unseen.fillna(0) / 100
    rates = pd.concat({name: facts(name) for name in ("WR", "CR", "NCR", "UR")}, axis=1)
    rates.columns = [" ".join(pair[::-1]) for pair in rates.columns]
    found = {
        "Table 9: NCR": (facts("NCR"), facts("CR") - facts("WR"), SUM_TOLERANCE),
        "Table 10: Cons_w": (steady("Cons_w"), mean, 0.01),
        "Table 11: NCCR": (both("NCCR"), both("CCR") - both("CWR"), SUM_TOLERANCE),
        "Table 11: CWR": (both("CWR"), facts("WR") * seen / 100, PRODUCT_TOLERANCE),
        "Table 11: CCR": (
            both("CCR"),
            facts("CR") * steady("Cons_c") / 100,
            PRODUCT_TOLERANCE,
        ),
        "Table 11: IUR": (both("IUR"), 100 - wrong, PRODUCT_TOLERANCE),
        "Table 9: counts": (
            rates,
            nearest_attainable_value(rates, N_QUESTIONS),
            STEP_TOLERANCE,
        ),
    }
    asked = {
        "Cons_w_seen": facts("WR"),
        "Cons_w_unseen": 100 - facts("UR"),
        "Cons_c": facts("CR"),
    }
    for name, rate in asked.items():
        counts = (rate * N_QUESTIONS / 100).round() * N_CHOICES
        possible = (steady(name) * counts / 100).round() / counts * 100
        found[f"Table 10: counts of {name}"] = steady(name), possible, STEP_TOLERANCE
    printed = published.table_without_restored_signs("kb_table2", load("kb_table2"))
    tables = {
        setting: kb.knowledge_base_measures(setting, load)
        for setting in kb.PROMPT_SETTINGS
    }
    r = {
        setting: {
            pair: table[pair.split(" vs. ")].corr().iloc[0, 1] for pair in printed.index
        }
        for setting, table in tables.items()
    }
    said = load("kb_text")["value"]
    ranked = {
        name: _claimed(name, tables["four-shot"]) for name in said.index if ": " in name
    }
    sizes = {
        "unseen questions": said["unseen templates"] * said["questions a template"]
    }
    sizes |= {
        "unseen templates": len(load("kb_table1")),
        "models": len(load("kb_table9")),
    }
    return found | {
        "Table 2: correlations": (
            printed,
            pd.DataFrame(r),
            analysis.ROUNDING_TOLERANCE,
        ),
        "Text: numbers": (said[list(ranked)], pd.Series(ranked), 0.0051),
        "Text: sizes": (said[list(sizes)], pd.Series(sizes), 0),
    }


def _claimed(name: str, table: pd.DataFrame) -> float:
    """Work out a difference or a rank that the text states, such as ``UR: rank of Phi2 3B``."""
    measure, _, rest = name.partition(": ")
    if rest.startswith("rank of "):
        ranks = table[measure].rank(ascending=False, method="min")
        return float(ranks[rest.removeprefix("rank of ")])
    first, _, second = rest.partition(" minus ")
    return float(table.loc[first, measure] - table.loc[second, measure])


def latent_knowledge_checks(load: TableLoader) -> TableChecks:
    """Check the grid of models and relations of Wu et al. 2025, averaged both ways."""
    models, relations = load("lke_table7")["accuracy"], load("lke_table8")["accuracy"]
    base = models[[not is_tuned_model(name) for name in models.index]]
    mean = pd.Series({"mean of Table 8": relations.mean()})
    said, questions = load("lke_text")["value"], FACTS_PER_RELATION * len(relations)
    sizes = {"models": len(models), "base models": len(base)}
    sizes |= {"tuned models": len(models) - len(base), "relations": len(relations)}
    sizes |= {"test facts": questions}
    first, tenth = table_1_accuracies(load), load("lke_table10")["base accuracy"]
    bases = [name.rpartition(" ")[0] for name in tenth.index]
    again = models[[TABLE_7.get(name, name) for name in bases]].set_axis(tenth.index)
    both = {"Llama-7B FT-1": "Llama 7B", "Llama2-7B FT-1": "Llama-2 7B"}
    both |= {"Llama2-70B FT-1": "Llama-2 70B", "Gemma-2B FT-1": "Gemma 2B"}
    both |= {"Gemma-7B FT-1": "Gemma 7B"}
    table, pairs = tuned_model_accuracies(load), tuned_model_gaps(load)
    there = table["in Table 10"].isin(load("lke_table10").index).astype(float)
    rates = analysis.subsumption_bounds(load).set_index("pair")
    printed = rates["printed"]

    def is_mean(chosen: pd.Series) -> pd.Series:
        return pd.Series(chosen.mean(), index=mean.index)

    return {
        "Table 8: mean over all 49 models": (mean, is_mean(models), 1e-4),
        # A few models and relations lack some facts, so the two means need not be quite
        # the same.
        "Table 8: mean over the 35 base models": (mean, is_mean(base), 2e-4),
        "Table 7: counts": (
            models,
            nearest_attainable_value(models, questions, 1.0),
            0.5e-5,
        ),
        "Table 8: counts": (
            relations,
            nearest_attainable_value(relations, FACTS_PER_RELATION * len(base), 1.0),
            1e-12,
        ),
        "Text: sizes": (said[list(sizes)], pd.Series(sizes), 0),
        "Table 1: repeats Table 7": (
            *(
                first,
                models[[TABLE_7[name] for name in first.index]].set_axis(first.index),
                0.0006,
            ),
        ),
        "Table 10: repeats Table 7": (tenth, again, 0.0006),
        "Table 10: repeats Table 1": (
            *(tenth[list(both)], first[list(both.values())].set_axis(list(both)), 0),
        ),
        "Table 7: chance": (  # by more than three standard errors
            *(
                models,
                models.clip(lower=CHANCE_OF_ONE_CHOICE),
                3
                * (CHANCE_OF_ONE_CHOICE * (1 - CHANCE_OF_ONE_CHOICE) / questions)
                ** 0.5,
            ),
        ),
        "Table 10: tuned models": (there, there.clip(lower=1), 0),
        "Table 10: FT-1 and FT-2": (
            pairs["Table 10"],
            pairs["Table 7"],
            TUNED_GAP_TOLERANCE,
        ),
        "Subsumption as defined: possible": (
            *(printed, printed.clip(rates["low"], rates["high"]), 0.002),
        ),
        "Subsumption as defined: together": (
            printed,
            printed.clip(lower=rates["second"]),
            0.002,
        ),
        "Subsumption turned: possible": (
            *(printed, printed.clip(rates["low_turned"], rates["high_turned"]), 0.002),
        ),
        "Subsumption turned: together": (
            printed,
            printed.clip(lower=rates["first"]),
            0.002,
        ),
    }


def is_tuned_model(model: str) -> bool:
    """Tell whether a model of IC-LKE's Table 7 was tuned after its base training."""
    return bool(re.search("chat|instruct|Vicuna|SFT|DPO|Openhermes", model))


def tuned_model_accuracies(load: TableLoader) -> pd.DataFrame:
    """Return the 14 tuned models of Table 6 with their accuracy and their base's in Table 7."""
    names = load("lke_table6")["name in the paper"][list(TUNED_MODELS)]
    accuracy = load("lke_table7")["accuracy"]
    base = names.str.replace(r"-FT\d$", "", regex=True)
    columns = {
        "base": base,
        "in Table 10": names.str.replace("Mixtral-8x7B", "Mixtral-7Bx8").str.replace(
            "-FT", " FT-"
        ),
        "accuracy": accuracy[list(TUNED_MODELS.values())].to_numpy(),
        "base accuracy": accuracy[base].to_numpy(),
    }
    return pd.DataFrame(columns).rename_axis("model")


def tuned_model_gaps(load: TableLoader) -> pd.DataFrame:
    """Return, for bases with two tuned models, how far FT-1 lies above FT-2 in both tables."""
    table = tuned_model_accuracies(load)
    table = table[table.duplicated("base", keep=False)]
    table["tenth"] = load("lke_table10")["tuned accuracy"][
        table["in Table 10"]
    ].to_numpy()
    first = table["in Table 10"].str.endswith("FT-1")
    rows = {end: part.set_index("base") for end, part in table.groupby(first)}
    both = ["accuracy", "tenth"]
    return (rows[True][both] - rows[False][both]).set_axis(
        ["Table 7", "Table 10"], axis=1
    )


def table_1_accuracies(load: TableLoader) -> pd.Series:
    """Return the accuracies of IC-LKE's Table 1 by model, such as ``Llama 7B``."""
    table = load("lke_table1")
    return pd.Series(
        {
            f"{family} {row[end]}": row[f"{end} accuracy"]
            for family, row in table.iterrows()
            for end in ("smallest", "largest")
        }
    )


def multiplicity_checks(load: TableLoader) -> TableChecks:
    """Check what must hold between the columns of the paper on prompt multiplicity."""
    found: TableChecks = {}
    for name, benchmarks in analysis.BENCHMARKS_BY_TABLE.items():
        title, table = f"Table {name[-1]}", load(name)
        names = ("ambiguity", "ambiguity_binary", "deviation")
        whole, binary, deviation = (
            measure_by_benchmark(table, benchmarks, each) for each in names
        )
        # The accuracies of two prompts differ by no more than the questions whose marks
        # change: at most half of the prompts stand at each end of that range.
        most = binary / 2 * (N_PROMPTS / (N_PROMPTS - 1)) ** 0.5
        found[f"{title}: binary"] = binary, binary.where(binary <= whole, whole), 0
        found[f"{title}: deviation"] = (
            deviation,
            deviation.where(deviation <= most, most),
            0.011,
        )
        if two := [each for each in benchmarks if each in ("FEVER", "True-False")]:
            found[f"{title}: two options"] = binary[two], whole[two], 0
        for each in [each for each in benchmarks if each in BENCHMARK_SIZES]:
            shares = pd.concat(
                [whole[[each]], binary[[each]].add_suffix(", binary")], axis=1
            )
            found[f"{title}: counts of {each}"] = (
                shares,
                nearest_attainable_value(shares, BENCHMARK_SIZES[each]),
                STEP_TOLERANCE,
            )
    said, first = load("multiplicity_text")["value"], load("multiplicity_table1")
    row = first.loc["Llama2-7B"]
    about = said.filter(regex=r"^Llama2-7B TruthfulQA (accuracy|ambiguity)")
    rounded = {name: row[name.removeprefix("Llama2-7B ")] for name in about.index}
    means = (
        measure_by_benchmark(
            first, analysis.BENCHMARKS_BY_TABLE["multiplicity_table1"], "ambiguity"
        )
        .mean()
        .rank()
    )
    counted = {f"place of {name} by ambiguity": rank for name, rank in means.items()}
    counted["models"] = len(first)
    below = said[["Llama2-7B TruthfulQA deviation below"]]
    return found | {
        "Text: about": (about, pd.Series(rounded), 1.0),
        "Text: below": (below, below.clip(lower=row["TruthfulQA deviation"]), 0),
        "Text: order and number": (said[list(counted)], pd.Series(counted), 0),
    }


def measure_by_benchmark(
    table: pd.DataFrame, benchmarks: tuple[str, ...], measure: str
) -> pd.DataFrame:
    """Return one measure of a table: models by benchmark."""
    return table[[f"{name} {measure}" for name in benchmarks]].set_axis(
        list(benchmarks), axis=1
    )


def nearest_attainable_value(
    values: TableOrColumn, counts: float, whole: float = 100.0
) -> TableOrColumn:
    """Return the attainable number nearest to each: shares of n things come in steps of 1 / n.

    The GRIM test (Brown and Heathers 2017): of three questions, 66.7 % can be right,
    not 66.0 %.
    """
    return values.mul(counts).div(whole).round().div(counts).mul(whole)


PAPERS: dict[str, Callable[[TableLoader], TableChecks]] = {
    "MONITOR": monitor_checks,
    "knowledge bases": knowledge_base_checks,
    "IC-LKE": latent_knowledge_checks,
    "multiplicity": multiplicity_checks,
}
CHECK_PREFIXES = dict(
    zip(PAPERS, ("monitor", "kb", "lke", "multiplicity"))
)  # of table names


def recomputed_comparisons(
    paper: str, load: TableLoader = published.load_published_table
) -> pd.DataFrame:
    """Return a paper's comparisons as they are stored, with ``difference`` and ``agrees``."""
    parts = []
    for name, (printed, other, tolerance) in PAPERS[paper](load).items():
        printed, other = _flat(printed), _flat(other)
        other = (
            other if printed.index.equals(other.index) else other.reindex(printed.index)
        )
        room = np.broadcast_to(np.asarray(tolerance, dtype=float), len(printed))
        cells = {"row": printed.index, "published": printed.to_numpy()}
        part = pd.DataFrame(cells | {"recomputed": other.to_numpy(), "tolerance": room})
        parts.append(part[part["published"].notna()].assign(check=name))
    found = pd.concat(parts, ignore_index=True)
    found["difference"] = found["recomputed"] - found["published"]
    found["agrees"] = found["difference"].abs() <= found["tolerance"] + 1e-12
    return found


def _flat(table: TableOrColumn) -> pd.Series:
    """Return the cells of a table in one column, named by row and column."""
    if isinstance(table, pd.Series):
        return table.astype(float)
    names = [f"{row}, {column}" for row in table.index for column in table.columns]
    return pd.Series(table.to_numpy(dtype=float).ravel(), index=names)
