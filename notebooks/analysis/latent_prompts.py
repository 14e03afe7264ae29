"""Other strings that the chapter on latent knowledge asks with: sentences, and released ones.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section
4.1 and Table 5. Templates are by people (HGP) or mined (MMP); in them [X] is the
subject, [Y] the object.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from helpers import UserError, datasets
from helpers.prompts.lists import (
    FactPrompt,
    draw_examples,
    ic_lke_probes,
    open_pair_and_space,
    pair_template_and_separator,
    probes_with_choices,
)
from helpers.prompts.prompt_texts import SEPARATORS
from notebooks.analysis import lpaqa
from notebooks.kit import published

ChoicesByFact = dict[str, list[str]]  # fact: what may be chosen
TEMPLATE_KINDS = ("HGP", "MMP")
TEMPLATE_COLUMNS = ["relation", "kind", "number", "template"]


def templates_of_dataset(dataset: str, folder: str = "") -> pd.DataFrame:
    """Return the templates of LPAQA's folder, else those of Table 5, and of our frames."""
    if folder:
        found, skipped = lpaqa.best_templates_and_skipped_count(
            lpaqa.read_lpaqa_prompts(folder)
        )
        print(
            f"{skipped} prompts of LPAQA do not end with the object and are left out."
        )
        return found
    labels = datasets.relation_table(dataset).set_index("relation")["label"]
    printed = templates_from_table(published.load_published_table("lke_table5"), labels)
    return templates_with_fallback(
        printed, templates_from_frames(datasets.prompt_frames(dataset))
    )


def templates_from_table(
    table: pd.DataFrame, labels: Mapping[str, str]
) -> pd.DataFrame:
    """Return the templates of the paper's Table 5, by the labels of relations."""
    printed = {
        name: table.loc[label] for name, label in labels.items() if label in table.index
    }
    rows = [(relation, *str(column).split(" "), f"{text.replace('{subject}', '[X]')} [Y]")
            for relation, texts in printed.items()
            for column, text in texts.dropna().items()]  # fmt: skip
    return pd.DataFrame(rows, columns=TEMPLATE_COLUMNS).astype({"number": int})


def templates_from_frames(frames: pd.DataFrame, n: int = 3) -> pd.DataFrame:
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
        for kind, texts in zip(TEMPLATE_KINDS, (written, mined)):
            rows += [(relation, kind, i, text) for i, text in enumerate(texts[:n], 1)]
    return pd.DataFrame(rows, columns=TEMPLATE_COLUMNS)


def templates_with_fallback(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Join two tables of templates; a relation of the first takes nothing from the second."""
    rest = second[~second["relation"].isin(set(first["relation"]))]
    return pd.concat([first, rest], ignore_index=True)


def tests_of_compared_relations(
    tests: pd.DataFrame, named: Sequence[str]
) -> pd.DataFrame:
    """Return the tests of the relations that are asked with prompts too: the named, or all."""
    there = list(tests["relation"].unique())
    if missing := ", ".join(relation for relation in named if relation not in there):
        known = ", ".join(there)
        raise UserError(
            f"There is no test of {missing} to compare: choose from {known}."
        )
    return tests[tests["relation"].isin(named or there)]


def probes_from_templates(
    tests: pd.DataFrame, templates: pd.DataFrame, options: ChoicesByFact
) -> pd.DataFrame:
    """Ask each fact in each template of its relation: the ``way`` is the template's kind."""
    asked = []
    for row in tests.itertuples():
        for template in templates[templates["relation"] == row.relation].itertuples():
            way, number = template.kind, template.number
            prompt, space = open_pair_and_space(row.subject, template.template)
            asked.append(FactPrompt(row, f"{way}{number}", prompt, space, way, number))
    return probes_with_choices(asked, options)


def probes_without_examples(
    tests: pd.DataFrame, options: ChoicesByFact, separator: str
) -> pd.DataFrame:
    """Ask each fact behind no example: its subject alone, written as in the list."""
    template = pair_template_and_separator(separator)[0]
    asked = []
    for row in tests.itertuples():
        prompt, space = open_pair_and_space(row.subject, template)
        asked.append(FactPrompt(row, "0 0", prompt, space, separator=separator))
    return probes_with_choices(asked, options)


def probes_with_other_separators(
    tests: pd.DataFrame, pool: pd.DataFrame, options: ChoicesByFact, templates: pd.DataFrame,
    n_examples: int = 50, seed: int = 0,
) -> list[pd.DataFrame]:  # fmt: skip
    """Write lists with each relation's first templates as separators, and the released ones."""
    made = []
    for row in templates.query("number == 1").itertuples():
        own, name = tests[tests["relation"] == row.relation], f"{row.kind} 1"
        lists = ic_lke_probes(own, pool, options, n_examples, row.template, seed, name)
        made.append(lists.assign(separator=name))
    return [*made, probes_of_released_code(tests, pool, options, n_examples, seed)]


def probes_of_released_code(
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: ChoicesByFact,
    n_examples: int = 50,
    seed: int = 0,
) -> pd.DataFrame:
    """Ask facts with the very strings of the authors' released code, as `ic_lke_probes` asks them."""
    inner = SEPARATORS["colon and comma"][0]
    examples, heads = draw_examples(pool, n_examples, seed), {}
    for relation, rows in examples.groupby("relation", sort=False):
        pairs = zip(rows["subject"], rows["object"])
        heads[relation] = ", ".join(f"{subject}{inner}{obj} " for subject, obj in pairs)
    end, name = inner + inner.rstrip(), "released"
    listed = {"examples": n_examples, "separator": name}
    asked = []
    for row in tests.itertuples():
        prompt = heads[row.relation] + row.subject + end
        asked.append(FactPrompt(row, name, prompt, " ", **listed))
    return probes_with_choices(asked, options)
