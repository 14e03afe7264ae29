"""Prompts that name the relation, to stand beside lists: human-written (HGP) and mined (MMP).

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section 4.1 and
Table 5; the prompts are drawn from LPAQA (Jiang et al. 2020, "How Can We Know What Language Models
Know?").
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from helpers import UserError
from helpers.prompts.lists import choose, opened

KINDS = ("HGP", "MMP")
_COLUMNS = ["relation", "kind", "number", "template"]


def published(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """Return the templates of the paper's Table 5, [X] for its {subject} and [Y] at the end.

    `labels` maps relations to their labels; those that the table has find their templates.

    >>> table = pd.DataFrame({"HGP 1": ["{subject} means"]}, index=["instance of"])
    >>> published(table, {"P31": "instance of", "P36": "capital"}).values.tolist()
    [['P31', 'HGP', 1, '[X] means [Y]']]
    """
    rows = []
    for relation, label in labels.items():
        printed = table.loc[label].dropna() if label in table.index else pd.Series(dtype=object)
        for column, text in printed.items():
            kind, _, number = str(column).partition(" ")
            template = f"{text.replace('{subject}', '[X]')} [Y]"
            rows.append((relation, kind, int(number), template))
    return pd.DataFrame(rows, columns=_COLUMNS)


def own(frames: pd.DataFrame, n: int = 3) -> pd.DataFrame:
    """Make templates for relations that Table 5 lacks, from their frames, at most `n` of each kind.

    Human-written: the first cloze frames, cut behind the object. Mined: as LPAQA mines a corpus,
    the words from the subject to the object, here in the sentences and in the questions with their
    answers; the commonest first, and none that is human-written as well.

    >>> frames = pd.DataFrame({"relation": "P36", "kind": ["wp", "wp", "qa"], "frame": [0, 1, 0],
    ...                        "template": ["The capital of [X] is [Y].", "[X] has [Y].",
    ...                                     "What is the capital of [X]?"]})
    >>> own(frames, 2)["template"].tolist()
    ['The capital of [X] is [Y]', '[X] has [Y]', '[X] is [Y]', '[X]? [Y]']
    """
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
    return pd.DataFrame(rows, columns=_COLUMNS)


def compared(tests: pd.DataFrame, named: Sequence[str]) -> pd.DataFrame:
    """Return the tests of the relations that are asked with prompts too: the named, or all."""
    there = list(tests["relation"].unique())
    missing = [relation for relation in named if relation not in there]
    if missing:
        raise UserError(
            f"There is no test of {', '.join(missing)} to compare: choose from {', '.join(there)}."
        )
    return tests[tests["relation"].isin(named or there)]


def prefer(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Join two tables of templates; a relation of the first takes nothing from the second."""
    rest = second[~second["relation"].isin(set(first["relation"]))]
    return pd.concat([first, rest], ignore_index=True)


def prompts(
    tests: pd.DataFrame, templates: pd.DataFrame, options: dict[str, list[str]]
) -> pd.DataFrame:
    """Ask each fact in each template of its relation, with all its choices.

    Parameters
    ----------
    tests : DataFrame
        Columns ``fact, relation, subject, object``.
    templates : DataFrame
        As from :func:`published`; the object stands last.
    options : dict
        From :func:`helpers.prompts.lists.choices`.

    Returns
    -------
    DataFrame
        Probes as from :func:`helpers.prompts.lists.ic_lke`, with variants ``HGP1`` ... ``MMP3``.

    Examples
    --------
    >>> tests = pd.DataFrame({"fact": ["b"], "relation": "P36", "subject": ["Chad"],
    ...                       "object": ["N'Djamena"]})
    >>> templates = pd.DataFrame({"relation": ["P36"], "kind": "HGP", "number": 1,
    ...                           "template": ["The capital of [X] is [Y]"]})
    >>> found = prompts(tests, templates, {"b": ["Lima", "N'Djamena"]})
    >>> found[["variant", "prompt", "continuation"]].values.tolist()[0]
    ['HGP1', 'The capital of Chad is', ' Lima']
    """
    missing = sorted(set(tests["relation"]) - set(templates["relation"]))
    if missing:
        raise UserError(f"There is no template for {', '.join(missing)}: leave it out or add one.")
    asked = []
    for row in tests.itertuples():
        for template in templates[templates["relation"] == row.relation].itertuples():
            prompt, space = opened(row.subject, template.template)
            asked.append((row, f"{template.kind}{template.number}", prompt, space))
    return choose(asked, options)
