"""Other strings of the chapter on latent knowledge: sentences, and released ones.

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
    """Return the templates of LPAQA's folder, else those of Table 5 and our frames."""
    if folder:
        prompts = lpaqa.read_lpaqa_prompts(folder)
        templates, n_skipped = lpaqa.best_templates_and_skipped_count(prompts)
        print(
            f"{n_skipped} prompts of LPAQA do not end with the object and are left out."
        )
        return templates
    labels = datasets.relation_table(dataset).set_index("relation")["label"]
    printed = templates_from_table(published.load_published_table("lke_table5"), labels)
    own = templates_from_frames(datasets.prompt_frames(dataset))
    return templates_with_fallback(printed, own)


def templates_from_table(
    table: pd.DataFrame, labels: Mapping[str, str]
) -> pd.DataFrame:
    """Return the templates of the paper's Table 5, by the labels of relations."""
    rows = []
    for relation, label in labels.items():
        if label not in table.index:
            continue
        for column, text in table.loc[label].dropna().items():
            kind, number = str(column).split(" ")
            template = text.replace("{subject}", "[X]") + " [Y]"
            rows.append((relation, kind, number, template))
    return pd.DataFrame(rows, columns=TEMPLATE_COLUMNS).astype({"number": int})


def templates_from_frames(frames: pd.DataFrame, n: int = 3) -> pd.DataFrame:
    """Make `n` templates of each kind from frames: cut after the object, and mined.

    The mined ones begin with the subject, as those of LPAQA do.
    """
    rows = []
    for relation, table in frames.groupby("relation", sort=False):
        table = table.sort_values("frame", kind="stable")
        sentences = []
        for text in table.loc[table["kind"] == "wp", "template"]:
            sentence = text.partition("[Y]")[0] + "[Y]"
            if "[X]" in sentence:
                sentences.append(sentence)
        best_sentences = sentences[:n]
        questions = table.loc[table["kind"] == "qa", "template"] + " [Y]"
        ends = Counter(text[text.index("[X]") :] for text in [*sentences, *questions])
        mined = [text for text, _ in ends.most_common() if text not in best_sentences]
        for kind, texts in zip(TEMPLATE_KINDS, (sentences, mined), strict=True):
            for number, text in enumerate(texts[:n], start=1):
                rows.append((relation, kind, number, text))
    return pd.DataFrame(rows, columns=TEMPLATE_COLUMNS)


def templates_with_fallback(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Join two tables; a relation of the first takes no template from the second."""
    is_covered = second["relation"].isin(set(first["relation"]))
    return pd.concat([first, second[~is_covered]], ignore_index=True)


def facts_of_compared_relations(
    tests: pd.DataFrame, named: Sequence[str]
) -> pd.DataFrame:
    """Return the tests of relations that templates ask, too: `named`, or all."""
    relations = list(tests["relation"].unique())
    missing = [relation for relation in named if relation not in relations]
    if missing:
        raise UserError(
            f"There is no test of {', '.join(missing)} to compare: "
            f"choose from {', '.join(relations)}."
        )
    return tests[tests["relation"].isin(named or relations)]


def probes_from_templates(
    tests: pd.DataFrame, templates: pd.DataFrame, options: ChoicesByFact
) -> pd.DataFrame:
    """Ask each fact in each template of its relation; ``way`` is the kind."""
    prompts = []
    for fact in tests.itertuples():
        of_relation = templates[templates["relation"] == fact.relation]
        for template in of_relation.itertuples():
            variant = f"{template.kind}{template.number}"
            text, space = open_pair_and_space(fact.subject, template.template)
            prompts.append(
                FactPrompt(fact, variant, text, space, template.kind, template.number)
            )
    return probes_with_choices(prompts, options)


def probes_without_examples(
    tests: pd.DataFrame, options: ChoicesByFact, separator: str
) -> pd.DataFrame:
    """Ask each fact behind no example: its subject alone, written as in the list."""
    template, _ = pair_template_and_separator(separator)
    prompts = []
    for fact in tests.itertuples():
        text, space = open_pair_and_space(fact.subject, template)
        prompts.append(FactPrompt(fact, "0 0", text, space, separator=separator))
    return probes_with_choices(prompts, options)


def probes_with_other_separators(
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: ChoicesByFact,
    templates: pd.DataFrame,
    n_examples: int = 50,
    seed: int = 0,
) -> list[pd.DataFrame]:
    """Write lists with the first templates as separators, and the released ones."""
    tables = []
    for row in templates.query("number == 1").itertuples():
        name = f"{row.kind} 1"
        facts = tests[tests["relation"] == row.relation]
        lists = ic_lke_probes(
            facts, pool, options, n_examples, row.template, seed, name
        )
        tables.append(lists.assign(separator=name))
    tables.append(probes_of_released_code(tests, pool, options, n_examples, seed))
    return tables


def probes_of_released_code(
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: ChoicesByFact,
    n_examples: int = 50,
    seed: int = 0,
) -> pd.DataFrame:
    """Ask as `ic_lke_probes` does, in the strings of the authors' released code."""
    name = "released"
    inner = SEPARATORS["colon and comma"][0]
    examples = draw_examples(pool, n_examples, seed)
    lists = {}
    for relation, rows in examples.groupby("relation", sort=False):
        pairs = rows["subject"] + inner + rows["object"] + " "
        lists[relation] = ", ".join(pairs)
    prompts = []
    for fact in tests.itertuples():
        text = lists[fact.relation] + fact.subject + inner + inner.rstrip()
        prompts.append(
            FactPrompt(fact, name, text, " ", examples=n_examples, separator=name)
        )
    return probes_with_choices(prompts, options)
