"""Other strings that the chapter on latent knowledge asks with: sentences, and released ones.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section
4.1 and Table 5. Templates are by people (HGP) or mined (MMP); in them [X] is the
subject, [Y] the object.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from helpers import UserError, datasets
from helpers.prompts.lists import Asked, choose, draw, ic_lke, opened, style
from helpers.prompts.prompt_texts import SEPARATORS
from notebooks.analysis import lpaqa
from notebooks.kit import published

Options = dict[str, list[str]]  # fact: what may be chosen
KINDS = ("HGP", "MMP")
COLUMNS = ["relation", "kind", "number", "template"]


def templates(dataset: str, folder: str = "") -> pd.DataFrame:
    """Return the templates of LPAQA's folder, else those of Table 5, and of our frames."""
    if folder:
        found, skipped = lpaqa.templates(lpaqa.read(folder))
        print(
            f"{skipped} prompts of LPAQA do not end with the object and are left out."
        )
        return found
    labels = datasets.relations(dataset).set_index("relation")["label"]
    printed = from_table(published.load("lke_table5"), labels)
    return prefer(printed, from_frames(datasets.frames(dataset)))


def from_table(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return the templates of the paper's Table 5, by the labels of relations."""
    printed = {
        name: table.loc[label] for name, label in labels.items() if label in table.index
    }
    rows = [(relation, *str(column).split(" "), f"{text.replace('{subject}', '[X]')} [Y]")
            for relation, texts in printed.items()
            for column, text in texts.dropna().items()]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS).astype({"number": int})


def from_frames(frames: pd.DataFrame, n: int = 3) -> pd.DataFrame:
    """Make templates from frames, cut behind the object or as LPAQA mines; `n` of each kind."""
    rows = []
    for relation, table in frames.groupby("relation", sort=False):
        table = table.sort_values("frame", kind="stable")
        whole = table.loc[table["kind"] == "wp", "template"]
        written = [text.partition("[Y]")[0] + "[Y]" for text in whole]
        written = [text for text in written if "[X]" in text]
        asked = [f"{text} [Y]" for text in table.loc[table["kind"] == "qa", "template"]]
        middles = Counter(text[text.index("[X]") :] for text in [*written, *asked])
        mined = [text for text, _ in middles.most_common() if text not in written[:n]]
        for kind, texts in zip(KINDS, (written, mined)):
            rows += [(relation, kind, i, text) for i, text in enumerate(texts[:n], 1)]
    return pd.DataFrame(rows, columns=COLUMNS)


def prefer(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Join two tables of templates; a relation of the first takes nothing from the second."""
    rest = second[~second["relation"].isin(set(first["relation"]))]
    return pd.concat([first, rest], ignore_index=True)


def compared(tests: pd.DataFrame, named: Sequence[str]) -> pd.DataFrame:
    """Return the tests of the relations that are asked with prompts too: the named, or all."""
    there = list(tests["relation"].unique())
    if missing := ", ".join(relation for relation in named if relation not in there):
        known = ", ".join(there)
        raise UserError(
            f"There is no test of {missing} to compare: choose from {known}."
        )
    return tests[tests["relation"].isin(named or there)]


def prompts(
    tests: pd.DataFrame, templates: pd.DataFrame, options: Options
) -> pd.DataFrame:
    """Ask each fact in each template of its relation: the ``way`` is the template's kind."""
    asked = []
    for row in tests.itertuples():
        for template in templates[templates["relation"] == row.relation].itertuples():
            way, number = template.kind, template.number
            prompt, space = opened(row.subject, template.template)
            asked.append(Asked(row, f"{way}{number}", prompt, space, way, number))
    return choose(asked, options)


def alone(tests: pd.DataFrame, options: Options, separator: str) -> pd.DataFrame:
    """Ask each fact behind no example: its subject alone, written as in the list."""
    template = style(separator)[0]
    asked = []
    for row in tests.itertuples():
        prompt, space = opened(row.subject, template)
        asked.append(Asked(row, "0 0", prompt, space, separator=separator))
    return choose(asked, options)


def other_lists(
    tests: pd.DataFrame, pool: pd.DataFrame, options: Options, templates: pd.DataFrame,
    n_examples: int = 50, seed: int = 0,
) -> list[pd.DataFrame]:  # fmt: skip
    """Write lists with each relation's first templates as separators, and the released ones."""
    made = []
    for row in templates.query("number == 1").itertuples():
        own, name = tests[tests["relation"] == row.relation], f"{row.kind} 1"
        lists = ic_lke(own, pool, options, n_examples, row.template, seed, name)
        made.append(lists.assign(separator=name))
    return [*made, as_released(tests, pool, options, n_examples, seed)]


def as_released(
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: Options,
    n_examples: int = 50,
    seed: int = 0,
) -> pd.DataFrame:
    """Ask facts with the very strings of the authors' released code, as `ic_lke` asks them."""
    inner = SEPARATORS["colon and comma"][0]
    examples, heads = draw(pool, n_examples, seed), {}
    for relation, rows in examples.groupby("relation", sort=False):
        pairs = zip(rows["subject"], rows["object"])
        heads[relation] = ", ".join(f"{subject}{inner}{obj} " for subject, obj in pairs)
    end, name = inner + inner.rstrip(), "released"
    listed = {"examples": n_examples, "separator": name}
    asked = []
    for row in tests.itertuples():
        prompt = heads[row.relation] + row.subject + end
        asked.append(Asked(row, name, prompt, " ", **listed))
    return choose(asked, options)
