"""What lists of facts bring out: the findings of the chapter on latent knowledge.

A `table` has one row a fact and way of asking, with ``item``, ``relation`` and ``right``; `draw`
holds ``n_resamples`` and ``seed`` of the bootstrap.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import stats
from helpers.findings import FEW, HOLDS, OPPOSITE, UNDECIDED, Finding, decide
from helpers.metrics import subsumption
from helpers.plots.tables import interval
from helpers.stats import dose_response

PROMPTS = {"HGP": "human-written prompts", "MMP": "mined prompts"}
ALIKE = 0.05  # separators closer than this to each other are not worth a search
ARRANGED = {"block": "as a block"}  # how pairs are replaced, in words
LESSONS = {  # of a worked example: is the list right, is the sentence right
    (1, 0): "the list gets it right, the sentence does not",
    (0, 1): "the sentence gets it right, the list does not",
    (1, 1): "both get it right",
    (0, 0): "neither gets it right",
}


def above_guessing(scores: pd.DataFrame, who: str, baseline: str, **draw: int) -> Finding:
    """Decide whether the model beats guessing (`chance`) or naming the `commonest` object."""
    guess = {
        "chance": "guessing among the choices",
        "commonest": "always naming the most frequent object of the examples",
    }
    return decide(
        f"above_{baseline}",
        _difference(scores, scores["right"], scores[baseline], draw),
        holds="{who} ranks the truth first for {right} of {n} facts; {guess} would be right for "
        "{chance}, {size} less.",
        opposite="{who} ranks the truth first for {right} of {n} facts; {guess} would be right for "
        "{chance}, {size} more.",
        undecided="These {n} facts do not decide whether {who} does better than {guess}: it ranks "
        "the truth first for {right}, against {chance}, a difference of {value}.",
        who=who,
        guess=guess[baseline],
        right=_percent(scores["right"]),
        chance=_percent(scores[baseline]),
    )


def more_examples(table: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether the longest list finds more facts than the shortest, paired over facts."""
    few, many = _ends(table)
    found, rates = _paired(table, "examples", many, few, draw)
    return decide(
        "more_examples",
        found,
        holds="More examples find more facts: with {many} rather than {few}, accuracy is {rates}, "
        "{size} more (paired, {n} facts).",
        opposite="More examples find fewer facts: with {many} rather than {few}, accuracy is "
        "{rates}, {size} less (paired, {n} facts).",
        undecided="These {n} facts do not decide whether more examples find more facts: with "
        "{many} rather than {few}, accuracy is {rates}, a difference of {value}.",
        undefined="Lists of one length alone do not tell whether more examples help.",
        rates=rates,
        few=few,
        many=many,
    )


def one_is_enough(table: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether one example is enough, to 5 points, and none is not; paired over facts.

    Both steps have intervals that are adjusted for there being two.
    """
    many, wide = _ends(table)[1], {**draw, "level": 1 - 0.05 / 2}
    first, rates = _paired(table, "examples", 1, 0, wide)
    second, ends = _paired(table, "examples", many, 1, wide)
    gain, rest = (interval(*step[:3], 1, 100) for step in (first, second))
    figures = "without an example, with one and with {many}, accuracy is {none}, {one} and {most}: "
    figures += "{gain} points for the first example, {rest} for the others (paired, {n} facts)."
    holds = first.low > 0 and second.high < ALIKE
    needless = first.high < ALIKE
    return decide(
        "one_is_enough",
        first if second.n else second,
        holds="To rank the choices one example is enough, and none is not: " + figures,
        opposite=("Not even one example is needed" if needless else "One example is not enough")
        + " to rank the choices: "
        + figures,
        undecided="These {n} facts do not decide whether one example is enough and none is not: "
        + figures,
        undefined="Lists of one length alone do not tell how many examples are enough.",
        decision=(HOLDS if holds else OPPOSITE if needless or second.low > 0 else UNDECIDED)
        if second.n
        else "",
        none=rates.partition(" against ")[2],
        one=rates.partition(" against ")[0],
        most=ends.partition(" against ")[0],
        gain=gain,
        rest=rest,
        many=many,
    )


def still_rising(table: pd.DataFrame, needed: int | None, **draw: int) -> Finding:
    """Decide whether the last step in the number of examples still finds more facts, paired."""
    many = _ends(table)[1]
    few = max((n for n in set(table["examples"]) if n < many), default=many)
    enough = f" The fewest that reach 95 % of the last accuracy: {needed}." * bool(needed)
    return decide(
        "still_rising",
        _paired(table, "examples", many, few, draw)[0],
        holds="The list could be longer: from {few} to {many} examples accuracy rises by {size} "
        "(paired, {n} facts).{enough}",
        opposite="The list is too long: from {few} to {many} examples accuracy falls by {size} "
        "(paired, {n} facts).{enough}",
        undecided="These {n} facts do not decide whether accuracy still rises from {few} to {many} "
        "examples: the difference is {value}.{enough}",
        undefined="Lists of one length alone do not tell where the gain ends.",
        few=few,
        many=many,
        enough=enough,
    )


def steadier(table: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether two draws of examples disagree on fewer facts in longer lists."""
    found = table.groupby(["relation", "item", "examples"])["right"].agg(["mean", "size"])
    found = found[found["size"] > 1].reset_index()
    found["right"] = 2 * found["mean"] * (1 - found["mean"]) * found["size"] / (found["size"] - 1)
    few, many = _ends(found)
    apart, rates = _paired(found, "examples", few, many, draw)
    return decide(
        "steadier",
        apart,
        holds="The choice of examples matters less in longer lists: with {few} and {many} "
        "examples, two draws differ on {rates} of the facts, {size} fewer (paired, {n} facts).",
        opposite="The choice of examples matters more in longer lists: with {few} and {many} "
        "examples, two draws differ on {rates} of the facts, {size} more (paired, {n} facts).",
        undecided="With {n} facts we cannot tell whether the choice of examples matters less in "
        "longer lists: with {few} and {many} examples, two draws differ on {rates} of the facts, a "
        "difference of {value}.",
        undefined="One draw of examples does not show what another would give: set n_seeds=2.",
        rates=rates.replace("against", "and"),
        few=few,
        many=many,
    )


def pairs_harm(moved: pd.DataFrame, kind: str, **draw: int) -> Finding:
    """Decide whether unknown or wrong pairs lower the probability of true objects behind them.

    `moved` has one row a place: ``variant`` (such as "wrong, block"), ``place``, ``status`` and
    ``change``, of the true object's probability. They do where they do in some arrangement, by an
    interval that is adjusted for the number of arrangements.
    """
    behind = _behind(moved, kind)
    how = behind["variant"].str.removeprefix(f"{kind}, ")
    parts = {name: -rows["change"] for name, rows in behind.groupby(how)}
    wide: dict[str, Any] = draw | {"level": 1 - 0.05 / max(1, len(parts))}
    losses = {name: stats.bootstrap(part, **wide) for name, part in parts.items()}
    clearest = max(losses.values(), key=lambda one: max(one.low, -one.high), default=None)
    said = " and ".join(
        f"{interval(*one[:3], 1, 100)} {ARRANGED.get(name, name)} ({one.n} places)"
        for name, one in losses.items()
    )
    loss = "the mean loss of probability, in points, is {said}; intervals adjusted for {count}."
    return decide(
        f"{kind}_pairs_harm",
        clearest or stats.bootstrap([], **draw),
        holds="In one list, {verdicts}: " + loss,
        opposite="In one list, {verdicts}: " + loss,
        undecided="One list does not decide whether {kind} pairs harm the true ones behind them: "
        + loss,
        undefined="No {kind} pairs could be put into the list.",
        kind=kind,
        said=said,
        verdicts=_verdicts(losses, kind),
        count=len(losses),
    )


def _verdicts(losses: dict[str, stats.Interval], kind: str) -> str:
    """Say in which arrangements pairs harm or help those behind them, each by its own interval."""
    names: dict[str, list[str]] = {"harm": [], "help": [], "": []}
    for name, one in losses.items():
        low, high = (round(100 * end, 1) for end in (one.low, one.high))
        verdict = "harm" if low > 0 else "help" if high < 0 else ""
        names[verdict].append(ARRANGED.get(name, name))
    clear = [
        f"{kind} pairs {' and '.join(names[verb])} {verb} the true ones behind them"
        for verb in ("harm", "help")
        if names[verb]
    ]
    said = ", and ".join(clear)
    return (
        f"{said}, while it is not decided for those {' and '.join(names[''])}"
        if names[""]
        else said
    )


def wrong_harms_more(moved: pd.DataFrame, **draw: int) -> Finding:
    """Decide whether wrong pairs harm the true ones behind them more than unknown pairs do."""
    kinds = [_changes(moved, kind).rename(kind) for kind in ("unknown", "wrong")]
    both = pd.concat(kinds, axis=1).dropna()
    return decide(
        "wrong_harms_more",
        stats.paired_difference(both["unknown"], both["wrong"], **draw),
        holds="Wrong pairs harm the true ones behind them more than unknown pairs do: they cost "
        "{size} more of probability (paired, {n} places of one list).",
        opposite="Unknown pairs harm the true ones behind them more than wrong pairs do: they "
        "cost {size} more of probability (paired, {n} places of one list).",
        undecided="One list, with {n} places compared, does not decide whether wrong pairs harm "
        "the true ones behind them more than unknown pairs do: over both arrangements they cost "
        "{value} of probability more.",
        undefined="The list could not be spoilt, so that its kinds of harm cannot be compared.",
    )


def list_against(
    table: pd.DataFrame, kind: str, spoken: bool = False, choices: int = 0, **draw: int
) -> Finding:
    """Decide whether a list finds more facts than prompts of a kind (their mean), paired."""
    ranked = f"When up to {choices} choices are ranked" if choices else "When choices are ranked"
    found, rates = _paired(table, "way", "IC-LKE", kind, draw)
    return decide(
        f"list_against_{kind}{'_spoken' * spoken}",
        found,
        holds="{how}, a list of examples finds more facts than {prompts}: {rates}, {size} more "
        "(paired, {n} facts).",
        opposite="{how}, a list of examples finds fewer facts than {prompts}: {rates}, {size} "
        "fewer (paired, {n} facts).",
        undecided="{how}, these {n} facts do not decide whether a list of examples finds more than "
        "{prompts}: {rates}, a difference of {value}.",
        undefined="No fact was asked both by a list and by {prompts}.",
        how="In free text" if spoken else ranked,
        prompts=PROMPTS[kind],
        rates=rates,
    )


def choices_help(chosen: pd.DataFrame, spoken: pd.DataFrame, way: str, **draw: int) -> Finding:
    """Decide whether the truth is ranked first more often than written, after the same prompts."""
    both = pd.concat([chosen.assign(by="ranked"), spoken.assign(by="written")])
    both = both[(both["way"] == way) & both["variant"].isin(spoken["variant"])]
    found, rates = _paired(both, "by", "ranked", "written", draw)
    return decide(
        f"choices_help_{way}",
        found,
        holds="{prompt}, the truth ranks first among the choices more often than it appears in "
        "free text: {rates}, {size} more (paired, {n} facts).",
        opposite="{prompt}, the truth ranks first among the choices less often than it appears in "
        "free text: {rates}, {size} less (paired, {n} facts).",
        undecided="{prompt}, these {n} facts do not decide whether the truth ranks first among the "
        "choices more often than it appears in free text: {rates}, a difference of {value}.",
        undefined="{prompt}, no text was written.",
        prompt=f"After a {PROMPTS.get(way, 'lists').removesuffix('s')}",
        rates=rates,
    )


def separator_matters(table: pd.DataFrame, base: str, **draw: int) -> Finding:
    """Decide whether another separator than `base` changes accuracy: the one that differs most.

    It does where some interval, adjusted for the number of separators, leaves out 0, and does not
    where all of them lie within 5 points, of at least 20 facts some of which are found.
    """
    others = [name for name in dict.fromkeys(table["separator"]) if name != base]
    wide: dict[str, Any] = draw | {"level": 1 - 0.05 / max(1, len(others))}
    tried = {name: _paired(table, "separator", name, base, wide) for name in others}
    moved = [name for name, (one, _) in tried.items() if one.low > 0 or one.high < 0]
    alike = all(
        one.n >= FEW and one.low > -ALIKE and one.high < ALIKE for one, _ in tried.values()
    ) and bool(table["right"].any())  # none found with any: nothing to tell apart
    name = max(moved or tried, key=lambda n: abs(np.nan_to_num(tried[n][0].estimate)), default="")
    found, rates = tried.get(name, (stats.paired_difference([], []), ""))
    most = "with {name} accuracy is {rates} with {base}, a difference of {value}, the largest of "
    most += "{count} (paired, {n} facts; the interval is adjusted for their number)."
    return decide(
        "separator_matters",
        found,
        holds="The separator matters: " + most,
        opposite="The separator hardly matters, by less than 5 points: " + most,
        undecided="These {n} facts do not decide whether the separator matters: " + most,
        undefined="Only one separator was tried.",
        decision=(HOLDS if moved else OPPOSITE if alike else UNDECIDED) if found.n else "",
        name=name,
        base=base,
        count=len(tried),
        rates=rates,
    )


def released_strings(
    table: pd.DataFrame, who: str, n_parameters: int | None, **draw: int
) -> Finding:
    """Decide whether the slips in the strings of the authors' released code cost accuracy.

    In one model, whose tokenizer decides what a slip does: `who`, with so many parameters.
    """
    size = f" ({n_parameters / 1e6:,.1f} million parameters)" if n_parameters else ""
    found, rates = _paired(table, "separator", "colon and comma", "released", draw)
    return decide(
        "released_strings",
        found,
        holds="{model}, the slips in the strings of the released code cost accuracy: without them "
        "it is {rates} with them, {size} more (paired, {n} facts).",
        opposite="{model}, the slips in the strings of the released code add accuracy: without "
        "them it is {rates} with them, {size} less (paired, {n} facts).",
        undecided="{model}, we cannot tell whether the slips in the strings of the released code "
        "cost accuracy: without them it is {rates} with them, a difference of {value} (paired, {n} "
        "facts).",
        undefined="The strings of the released code were not asked without and with their slips.",
        rates=rates,
        model=f"In {who}{size} with its own tokenizer",
    )


def right_when_sure(scores: pd.DataFrame, who: str, **draw: int) -> Finding:
    """Decide whether the model is right more often where its confidence is above one half."""
    sure = scores["top"] > 0.5
    rates = " against ".join(
        f"{_percent(scores.loc[part, 'right'])} of {part.sum()} facts" for part in (sure, ~sure)
    )
    both = np.column_stack([sure, scores["right"]]).astype(float)
    return decide(
        "right_when_sure",
        stats.bootstrap(both, _apart, scores["relation"], **draw),
        holds="{who} is right more often when it is sure, with a confidence above one half: "
        "{rates}, {size} more.",
        opposite="{who} is right less often when it is sure, with a confidence above one half: "
        "{rates}, {size} less.",
        undecided="These {n} facts do not decide whether {who} is right more often when it is "
        "sure, with a confidence above one half: {rates}, a difference of {value}.",
        undefined="The confidence of {who} is on the same side of one half for all facts, so that "
        "nothing tells whether it is right when it is sure.",
        who=who,
        rates=rates,
    )


def overconfident(scores: pd.DataFrame, who: str, **draw: int) -> Finding:
    """Decide whether mean confidence exceeds accuracy, fact by fact."""
    return decide(
        "overconfident",
        _difference(scores, scores["top"], scores["right"], draw),
        holds="{who} is overconfident: its mean confidence is {rates} of facts known, {size} more "
        "({n} facts).",
        opposite="{who} is underconfident: its mean confidence is {rates} of facts known, {size} "
        "less ({n} facts).",
        undecided="These {n} facts do not decide whether {who} is overconfident: its mean "
        "confidence is {rates} of facts known, a difference of {value}.",
        who=who,
        rates=f"{_percent(scores['top'])} against {_percent(scores['right'])}",
    )


def follows_exposure(scores: pd.DataFrame, who: str) -> Finding:
    """Decide whether facts read more often are known more often: the odds a doubling."""
    found = dose_response.slope(scores["right"], scores["exposures"], scores["relation"])
    return decide(
        "follows_exposure",
        (*np.exp(found[:3]), found.n),
        holds="The more often the training text of {who} states a fact, the more likely lists find "
        "it: each doubling multiplies the odds that a fact is known by {value} ({n} facts of "
        "relations of which some are known and some not).",
        opposite="The more often the training text of {who} states a fact, the less likely lists "
        "find it: each doubling multiplies the odds that a fact is known by {value} ({n} facts of "
        "relations of which some are known and some not).",
        undecided="These {n} facts of relations of which some are known and some not do not decide "
        "whether lists are more likely to find a fact that the training text of {who} states more "
        "often: each doubling multiplies the odds that a fact is known by {value}.",
        undefined="No relation has facts of different exposure of which {who} knows some and "
        "not others, so that nothing can follow exposure.",
        null=1,
        scale=1,
        digits=2,
        unit="",
        who=who,
    )


def calls_unread_known(scores: pd.DataFrame, who: str) -> Finding:
    """Decide whether facts never read come out as known more often than by a guess, by Wilson's."""
    unread = scores[scores["exposures"] == 0]
    share, chance = stats.wilson(int(unread["right"].sum()), len(unread)), unread["chance"].mean()
    return decide(
        "calls_unread_known",
        (*(number - chance for number in share[:3]), len(unread)),
        holds="Of {n} facts that {who} never read, more come out as known than by guessing: "
        "{rates}, {size} more.",
        opposite="Of {n} facts that {who} never read, fewer come out as known than by guessing: "
        "{rates}, {size} fewer.",
        undecided="These {n} facts that {who} never read do not decide whether more of them come "
        "out as known than by guessing: {rates}, a difference of {value}.",
        undefined="{who} has read every fact asked here, so that there is no floor to measure.",
        who=who,
        rates=f"{_percent(unread['right'])} against {_percent(unread['chance'])}",
    )


def larger_knows_more(
    known: pd.DataFrame, relations: Sequence[str], pair: Sequence[str], **draw: int
) -> Finding:
    """Decide whether the largest model, named second in the pair, knows more than the smallest.

    `known` has one column a model, by size; those between the two are mentioned.
    """
    small, large = pair
    kept = known.assign(relation=np.asarray(relations))[: len(known) * (small != large)]
    models = list(known)
    between = models[models.index(small) + 1 : models.index(large)]
    others = "".join(_between(kept, name, large, draw) for name in between)
    return decide(
        "larger_knows_more",
        _difference(kept, kept[large], kept[small], draw),
        holds="{large} knows more facts than {small}, the smallest model: {rates}, {size} more "
        "(paired, {n} facts, one training run of each){others}.",
        opposite="{large} knows fewer facts than {small}, the smallest model: {rates}, {size} "
        "fewer (paired, {n} facts, one training run of each){others}.",
        undecided="These {n} facts do not decide whether {large} knows more than {small}, the "
        "smallest model: {rates}, a difference of {value}{others}.",
        undefined="No two models of different size were asked the same facts.",
        small=small,
        large=large,
        rates=f"{_percent(kept[large])} against {_percent(kept[small])}",
        others=others,
    )


def _between(kept: pd.DataFrame, name: str, large: str, draw: dict[str, int]) -> str:
    """Say how much a model between two in size knows, and whether less or more than the largest."""
    found = _difference(kept, kept[large], kept[name], draw)
    said = f"; {name}, between them in size, reaches {_percent(kept[name])}"
    if round(100 * found.low, 1) <= 0 <= round(100 * found.high, 1):
        said += f", and the {found.n} facts do not decide between it and {large}"
    return said


def larger_holds_smaller(
    known: pd.DataFrame, relations: Sequence[str], pair: Sequence[str], **draw: int
) -> Finding:
    """Decide whether the larger model holds what the smaller knows beyond chance in relations."""
    small, large = pair
    kept = known[list(pair)][: len(known) * (small != large)].to_numpy(float)
    codes = pd.factorize(np.asarray(relations))[0][: len(kept)]
    rows = np.column_stack([kept, codes])
    rate, found = (
        subsumption.overlap(kept),
        stats.bootstrap(rows, subsumption.beyond_chance, codes, **draw),
    )
    return decide(
        "larger_holds_smaller",
        found,
        holds="{large} holds more of what the smaller {small} knows than chance within relations "
        "would give: a share of {rate} against {chance}, {size} more ({n} facts).",
        opposite="{large} holds less of what the smaller {small} knows than chance within "
        "relations would give: a share of {rate} against {chance}, {size} less ({n} facts).",
        undecided="These {n} facts do not decide whether {large} holds more of what the smaller "
        "{small} knows than chance within relations would give: a share of {rate} against "
        "{chance}, a difference of {value}.",
        undefined="No two models of different size, of which the smaller knows a fact, were asked "
        "the same facts.",
        digits=2,
        scale=1,
        unit="",
        small=small,
        large=large,
        rate=interval(float(rate), digits=2),
        chance=interval(float(rate) - found.estimate, digits=2),
    )


def same_relations(known: pd.DataFrame, relations: Sequence[str], pair: Sequence[str]) -> Finding:
    """Decide whether two models find the same relations easy: Pearson's r of their accuracies."""
    small, large = pair
    fields = known.assign(relation=np.asarray(relations))[: len(known) * (small != large)]
    fields = fields.groupby("relation")[list(dict.fromkeys(pair))].mean()
    return decide(
        "same_relations",
        stats.correlation(fields[small], fields[large]),
        holds="{small} and {large} find the same relations easy: over {n} relations their "
        "accuracies correlate with r = {value}.",
        opposite="{small} and {large} find opposite relations easy: over {n} relations their "
        "accuracies correlate with r = {value}.",
        undecided="These {n} relations do not decide whether {small} and {large} find the same "
        "ones easy: their accuracies correlate with r = {value}.",
        undefined="No two models of different size, of which each knows more of one relation than "
        "of another, were asked the same facts.",
        digits=2,
        scale=1,
        unit="",
        small=small,
        large=large,
    )


def by_hand(marks: pd.DataFrame) -> tuple[list[str], str]:
    """Pick the facts of the worked example, one an outcome, and say how often each occurs."""
    cases = list(zip(marks["list"].astype(int), marks["sentence"].astype(int)))
    picked = {lesson: marks.index[cases.index(c)] for c, lesson in LESSONS.items() if c in cases}
    counts = {lesson: cases.count(c) for c, lesson in LESSONS.items()}
    said = [
        f"{marks.loc[fact, 'subject']}: {lesson} (as for {counts[lesson]} of {len(marks)} facts)."
        for lesson, fact in picked.items()
    ]
    missing = [lesson for lesson in LESSONS.values() if lesson not in picked]
    if missing:
        said.append(f"No fact of the {len(marks)} is a case of this: {'; '.join(missing)}.")
    return list(picked.values()) or [marks.index[0]], " ".join(said)


def _percent(shares: pd.Series) -> str:
    """Write the mean of shares in percent."""
    return f"{interval(shares.mean(), digits=1, scale=100)} %"


def _difference(
    table: pd.DataFrame, first: pd.Series, second: pd.Series, draw: dict[str, Any]
) -> stats.Difference:
    """Compare two columns of a table fact by fact."""
    return stats.paired_difference(first, second, strata=table["relation"], **draw)


def _paired(
    table: pd.DataFrame, by: str, first: Any, second: Any, draw: dict[str, Any]
) -> tuple[stats.Difference, str]:
    """Compare two ways of asking on the facts asked in both, and write their accuracies.

    A fact that was asked several times in one way has the mean.
    """
    wide = table.pivot_table("right", ["relation", "item"], by)
    wide = wide.reindex(columns=list(dict.fromkeys([first, second]))).dropna()
    wide = wide[: len(wide) * (first != second)]
    one, other = wide.iloc[:, 0], wide.iloc[:, -1]
    strata = wide.index.get_level_values("relation")
    found = stats.paired_difference(one, other, strata=strata, **draw)
    return found, f"{_percent(one)} against {_percent(other)}"


def _ends(table: pd.DataFrame) -> tuple[int, int]:
    """Return the fewest and the most examples of a table; zeros where there are none."""
    return tuple(int(end) for end in table["examples"].agg(["min", "max"]).fillna(0))


def _behind(moved: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the true pairs that follow a replaced one of a kind."""
    behind = moved["status"].isin(["following", "other"]) & moved["variant"].str.startswith(kind)
    return moved[behind]


def _changes(moved: pd.DataFrame, kind: str) -> pd.Series:
    """Return the mean change of each place behind pairs of a kind, over their arrangements."""
    return _behind(moved, kind).groupby("place")["change"].mean()


def _apart(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the mean of the second column where the first is 1, less that where it is 0."""
    sure, right = rows[..., 0], rows[..., 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        high = (sure * right).sum(-1) / sure.sum(-1)
        return high - ((1 - sure) * right).sum(-1) / (1 - sure).sum(-1)
