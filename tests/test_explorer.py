"""The explorer in a real browser, from a file, on a page of its own: no rendered book is needed."""

import shutil
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from scipy.stats import spearmanr

from notebooks.analysis import model_explorer
from notebooks.kit.published import paper_models
from tests import hostile_inputs
from tests.browser_scripts import script_source
from tests.page_text import plain

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 120_000  # milliseconds, for a machine with much else to do
X, Y = model_explorer.FIRST_AXES
VIEWS = ("scatter", "ranking", "relations", "changes")
THEME = """
:root { --pst-color-text-base: #222832; --pst-color-background: #fff; --pst-color-border: #d1d5da;
    --pst-color-text-muted: #48566b; --pst-color-primary: #0a7d91; }
[data-theme=dark] { --pst-color-text-base: #ced6dd; --pst-color-background: #14181e;
    --pst-color-border: #48566b; --pst-color-text-muted: #9ca4af; --pst-color-primary: #3fb1c5; }
body { background: var(--pst-color-background); color: var(--pst-color-text-base); margin: 1rem; }
a { color: var(--pst-color-primary); }"""


def run(label: str, measure: str, value: float, same: bool = True) -> dict:
    """Return a figure of a run of one's own."""
    about = {
        "label": label,
        "dataset": f"data of {label}",
        "n": 100,
        "same_questions": same,
    }
    return {
        **about,
        "measure": measure,
        "value": value,
        "low": value - 0.1,
        "high": value + 0.1,
    }


def write(folder: Path, runs: list[dict], libraries: bool = True) -> str:
    """Write a page with an explorer and what it loads, laid out as in the book."""
    for source, place in {
        "book/_static/explorer": "_static",
        "book/_extra/vega": ".",
    }.items():
        if libraries or "vega" not in source:
            shutil.copytree(ROOT / source, folder / place / Path(source).name)
    table, measures, relations = (
        paper_models.measures_of_all_papers(),
        paper_models.published_measures(),
        paper_models.monitor_and_ic_lke_by_relation(),
    )
    body = model_explorer.render_explorer(
        table, measures, relations, runs=pd.DataFrame(runs)
    ).data
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Explore</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="_static/explorer/explorer.css">'
        f'<style>{THEME}</style><script defer src="_static/explorer/explorer.js"></script>'
        f"<body><main>{body}</main></body></html>"
    )
    (folder / "index.html").write_text(text, encoding="utf-8")
    return (folder / "index.html").as_uri()


def opened(browser, address: str, **settings):
    """Open a page that notes its requests and errors, and wait until the views are drawn."""
    size = {"width": 1400, "height": 900}
    page = browser.new_context(**{"viewport": size, **settings}).new_page()
    page.set_default_timeout(PATIENCE)
    page.asked, page.errors = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on(
        "console",
        lambda said: page.errors.append(said.text) if said.type == "error" else None,
    )
    page.goto(address)
    page.wait_for_selector(".explorer[data-ready]")
    return page


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Return the address of a page with a run on the papers' questions and one on others."""
    runs = [
        run("mine", X, 0.05),
        run("mine", Y, 0.6),
        run("other", X, 0.15, same=False),
    ]
    return write(tmp_path_factory.mktemp("page"), runs)


@pytest.fixture(scope="module")
def shared_page(browser, address):
    """Return a page that all tests use; `page` puts it back as it was."""
    made = opened(browser, address)
    yield made
    assert made.errors == []
    assert made.asked
    assert not [url for url in made.asked if not url.startswith(("file:", "data:"))]


@pytest.fixture
def page(shared_page):
    """Return a page with all controls as at first."""
    shared_page.set_viewport_size({"width": 1400, "height": 900})
    shared_page.evaluate("document.documentElement.dataset.theme = 'light'")
    shared_page.evaluate("document.querySelector('.explorer-controls').reset()")
    choose(shared_page, benchmark="")
    return shared_page


def choose(page, **chosen: str) -> None:
    """Choose values of controls by name, measures and models by their text."""
    for name, text in chosen.items():
        by = "label" if name in ("x", "y", "model") and text else "value"
        page.select_option(f"[name={name}]", **{by: text})
    settle(page)


def settle(page) -> None:
    """Wait until all views have drawn what was asked last."""
    page.evaluate(
        """async () => { for (const node of document.querySelectorAll(".explorer-drawing"))
            await node.__view.runAsync(); }"""
    )


def marks(page, view: str = "scatter") -> dict[str, dict]:
    """Return the points, bars or cells of models in a view, by name."""
    return {mark["name"]: mark for mark in page.evaluate(script_source("marks"), view)}


def named(measure: str) -> str:
    """Return a measure as the page names it."""
    return (
        f"{measure} ↓"
        if paper_models.published_measures().loc[measure, "better"] < 0
        else measure
    )


def count(page) -> str:
    return page.inner_text(".explorer-count")


def with_both(x: str, y: str) -> pd.DataFrame:
    return paper_models.measures_of_all_papers().dropna(subset=[x, y])


def test_all_views_are_drawn_and_the_figure_gives_way(page):
    assert all(marks(page, view) for view in VIEWS)
    assert not page.is_visible(".explorer-still")
    assert set(marks(page)) == {*with_both(X, Y).index, "mine", "other"}
    page.hover('[data-view=scatter] path[aria-label^="Llama 2 7B\\a "]')
    lines = page.inner_text(".explorer-tooltip").splitlines()
    assert lines == [
        "Llama 2 7B",
        "Llama 2, 7 billion, base, 2023",
        f"{X}: 0.094",
        f"{Y}: 0.749",
    ]
    page.mouse.move(0, 0)
    page.wait_for_selector(".explorer-tooltip", state="hidden")


def test_another_measure_moves_the_points(page):
    before, other = marks(page), "multiplicity: Wiki-FACTOR accuracy"
    choose(page, x=other)
    after, table = marks(page), with_both(other, Y)
    assert set(after) == {*table.index}
    assert before["Llama 2 7B"]["x"] != after["Llama 2 7B"]["x"]
    for one, two in combinations(
        table.index, 2
    ):  # the order across is that of the figures
        gap = table.loc[two, other] - table.loc[one, other]
        if abs(gap) > 0.005:
            assert (after[two]["x"] > after[one]["x"]) == (gap > 0)
    assert other in page.locator("[data-view=scatter] text").all_text_contents()


LLAMA = "Llama 1"


@pytest.mark.parametrize(
    ("x", "y", "chosen", "rule"),
    [
        (X, Y, {}, ""),
        ("multiplicity: Med-HALT accuracy", Y, {}, ""),
        ("multiplicity: TruthfulQA ambiguity", Y, {}, ""),
        ("knowledge bases: UR, four-shot", X, {}, ""),
        (X, Y, {"kind": "base"}, "kind == 'base'"),
        (X, Y, {"least": "7.0", "most": "13.0"}, "7 <= billion <= 13"),
        (X, Y, {"least": "13.0", "most": "7.0"}, "7 <= billion <= 13"),  # turned round
        (X, Y, {"family": LLAMA}, "family != @LLAMA"),
        ("MONITOR: score", Y, {}, ""),  # fewer than six
    ],
)
def test_points_and_correlation_are_of_the_models_chosen(page, x, y, chosen, rule):
    if "family" in chosen:
        page.locator(f"[name=family][value='{LLAMA}']").uncheck(force=True)
    choose(
        page,
        x=named(x),
        y=named(y),
        **{k: v for k, v in chosen.items() if k != "family"},
    )
    table = with_both(x, y).query(rule) if rule else with_both(x, y)
    ranked = paper_models.measures_of_all_papers().dropna(subset=[x])
    ranked = ranked.query(rule) if rule else ranked
    assert set(marks(page)) - {"mine", "other"} == {*table.index}
    assert set(marks(page, "ranking")) - {"mine"} == {*ranked.index}
    assert count(page).startswith(f"{len(table)} of 69 models")
    if len(table) < 6:
        assert "fewer than six models: no correlation" in count(page)
        assert "ρ" not in count(page)
    else:
        rho = spearmanr(table[x], table[y]).statistic
        assert f"{rho:.2f}" in plain(count(page))
    page.click("[name=restore]")
    page.wait_for_timeout(100)
    assert count(page).startswith(f"{len(with_both(X, Y))} of ")


def test_a_view_that_filters_leave_empty_gives_a_sentence(page):
    choose(page, most="0.16")
    for view, said in {
        "relations": "MONITOR prints no",
        "changes": "multiplicity has none",
    }.items():
        assert not page.is_visible(f"[data-view={view}] .explorer-drawing")
        assert said in page.inner_text(f"[data-view={view}] .explorer-none")


def test_a_pair_that_no_model_has_gives_a_sentence(page):
    table, names = (
        paper_models.measures_of_all_papers(),
        list(paper_models.published_measures().index),
    )
    x, y = next(
        pair for pair in combinations(names, 2) if table[list(pair)].dropna().empty
    )
    choose(page, x=named(x), y=named(y))
    assert page.inner_text("[data-view=scatter] .explorer-none").startswith(
        "No model has both"
    )
    assert not page.is_visible("[data-view=scatter] .explorer-drawing")
    choose(page, x=Y, y=Y)
    assert "the same measure: no correlation" in count(page)
    assert page.is_visible("[data-view=scatter] .explorer-drawing")
    page.click("[name=none]")
    assert "filters leave" in page.inner_text("[data-view=changes]")
    page.click("[name=all]")
    assert marks(page, "changes")


def test_the_ranking_is_in_order_and_a_benchmark_is_shown_alone(page):
    choose(page, x="multiplicity: FEVER ambiguity ↓", benchmark="FEVER")
    ranked = sorted(marks(page, "ranking").values(), key=lambda mark: mark["y"])
    values = paper_models.measures_of_all_papers()[
        "multiplicity: FEVER ambiguity"
    ].dropna()
    assert [values[mark["name"]] for mark in ranked] == sorted(
        values
    )  # the lowest is the best
    said = [mark["said"] for mark in page.evaluate(script_source("marks"), "changes")]
    assert said
    assert all("\nFEVER: " in text for text in said)


def test_a_model_is_highlighted_in_all_views(page):
    choose(page, model="Llama 2 7B")
    for view in ("scatter", "ranking", "changes"):
        assert page.evaluate(script_source("bold"), view) == ["Llama 2 7B"], view
        shown = marks(page, view)
        assert shown["Llama 2 7B"]["opacity"] == 1
        assert shown["Llama 2 7B Chat"]["opacity"] < 1
    figures = page.inner_text(".explorer-chosen")
    table = paper_models.measures_of_all_papers()
    rank = int(table[Y].rank(ascending=False)["Llama 2 7B"])
    assert f"{Y}: 0.749 (rank {rank} of {table[Y].count()} shown)" in figures
    choose(page, model="Flan-T5 XXL")
    assert {
        part["opacity"] for part in page.evaluate(script_source("marks"), "changes")
    } == {1}  # it is not there
    assert page.evaluate(script_source("bold"), "relations") == ["Flan-T5 XXL"]
    cells = page.evaluate(script_source("marks"), "relations")
    outlined = {cell["name"] for cell in cells if "text-base" in cell["stroke"]}
    assert outlined == {"Flan-T5 XXL"}


@pytest.mark.parametrize("view", VIEWS)
def test_a_click_highlights_and_another_ends_it(page, view):
    name = "OPT 2.7B" if view == "relations" else "Llama 2 13B"
    mark = page.locator(f'[data-view={view}] path[aria-label^="{name}\\a "]').first
    mark.click(force=True)
    assert page.inner_text(".explorer-chosen").startswith(f"{name} (")
    mark.click(force=True)
    assert "Choose a model" in page.inner_text(".explorer-chosen")


def test_runs_on_other_questions_stay_outside(page):
    points = marks(page)
    assert "other" not in marks(page, "ranking")
    assert "mine" in marks(page, "ranking")
    assert points["other"]["y"] < min(
        mark["y"] for name, mark in points.items() if name != "other"
    )
    assert "data of other; other questions" in points["other"]["said"]
    assert "[-0.050, 0.150]" in plain(points["mine"]["said"])
    assert "text-base" in points["mine"]["stroke"]


def test_the_keyboard_is_enough(page):
    focus = """() => { const e = document.activeElement; const s = getComputedStyle(
        e.type === "checkbox" ? e.nextElementSibling : e);
        return [e.name || e.tagName, s.outlineStyle, parseFloat(s.outlineWidth)] }"""
    seen, lines = [], []
    page.focus("[name=x]")
    while (found := page.evaluate(focus))[0] != "BODY" and len(seen) < 60:
        seen.append(found[0])
        lines.append(found[1] != "none" and found[2] >= 2)
        page.keyboard.press("Tab")
    assert list(dict.fromkeys(seen)) == [
        *(
            "x",
            "y",
            "model",
            "kind",
            "least",
            "most",
            "family",
            "none",
            "all",
            "restore",
        ),
        *("benchmark", "SUMMARY", "A"),
    ]
    assert all(lines)
    before = marks(page)["Llama 2 7B"]["x"]
    page.focus("[name=x]")
    page.keyboard.press("ArrowUp")
    settle(page)
    assert marks(page)["Llama 2 7B"]["x"] != before
    page.focus("[name=model]")
    page.keyboard.press("ArrowDown")
    settle(page)
    assert page.inner_text(".explorer-chosen").startswith("Llama 1 7B")
    page.focus("[name=family]")
    page.keyboard.press("Space")
    settle(page)
    assert "Llama 1 7B" not in marks(page)


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_legible(page, width, theme):
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.wait_for_function(
        """() => [...document.querySelectorAll(".explorer-drawing")].every(node => Math.abs(
            node.firstElementChild.getBoundingClientRect().width - node.clientWidth) < 9)"""
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = """nodes => nodes.filter(n => n.textContent
        && parseFloat(getComputedStyle(n).fontSize) < 11).map(n => n.textContent)"""
    assert page.eval_on_selector_all(".explorer *", small) == []
    fill = "() => getComputedStyle(document.querySelector('[data-view=ranking] text')).fill"
    assert (
        page.evaluate(fill)
        == {"light": "rgb(34, 40, 50)", "dark": "rgb(206, 214, 221)"}[theme]
    )
    page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    assert page.evaluate(script_source("serious")) == []


def test_print_shows_the_figure(page):
    page.emulate_media(media="print")
    assert page.is_visible(".explorer-still img")
    assert not page.is_visible("[data-view=scatter]")
    assert not page.is_visible(".explorer-controls")
    page.emulate_media(media="screen")


def test_a_telephone_begins_with_one_benchmark_and_without_libraries_the_figure_stays(
    browser, address, tmp_path
):
    page = opened(browser, address, viewport={"width": 390, "height": 800})
    assert page.input_value("[name=benchmark]") == "TruthfulQA"
    with page.expect_console_message(
        lambda said: "vega.min.js" in said.text or said.args
    ):
        page.goto(write(tmp_path, [run("mine", X, 0.1)], libraries=False))
    assert page.is_visible(".explorer-still img")
    assert not page.locator("select").count()
    page.context.close()


def test_names_of_contributed_runs_are_above_yours_and_below_the_heading(
    browser, tmp_path
):
    other = named("knowledge bases: NCCR, four-shot")
    rows = [run("mine", X, 0.1, same=False), run("mine", other, 0.1, same=False)]
    given = run("mine (contributed)", other, 0.1, same=False)
    page = opened(
        browser, write(tmp_path, [*rows, {**given, "origin": "contributed run"}])
    )
    choose(page, x=other)  # the view was laid out for an axis without contributed runs
    tops = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("[data-view=scatter] text")]
            .map(node => [node.textContent, node.getBoundingClientRect()])
            .map(([text, box]) => [text, [box.top, box.bottom]]))"""
    )
    upper = page.evaluate(
        "document.querySelector('[data-view=scatter] svg').getBoundingClientRect().y"
    )
    heading, theirs, mine = tops[named(Y)], tops["mine (contributed)"], tops["mine"]
    assert upper <= heading[0]
    assert heading[1] <= theirs[0] + 2  # boxes of text are higher than letters
    assert theirs[1] <= mine[0] + 2
    page.context.close()


def test_no_name_of_a_run_is_taken_for_markup(browser, tmp_path):
    rows = [
        run(text, measure, 0.1)
        for text in hostile_inputs.HOSTILE_STRINGS
        for measure in (X, Y)
    ]
    rows += [{**row, "same_questions": False} for row in rows]
    page = opened(browser, write(tmp_path, rows))
    mine = page.locator(f"optgroup[label='{model_explorer.YOUR_RUNS_LABEL}'] option")
    shown = mine.evaluate_all("nodes => nodes.map(node => node.textContent)")
    assert len(shown) == len(hostile_inputs.HOSTILE_STRINGS)
    assert hostile_inputs.HOSTILE_STRINGS[0] in shown
    choose(page, model=hostile_inputs.HOSTILE_STRINGS[1])
    assert hostile_inputs.HOSTILE_STRINGS[1] in page.inner_text(".explorer-chosen")
    place = "[data-view=scatter] [aria-label*='onerror']"
    page.locator(place).first.hover(force=True)
    assert page.inner_text(".explorer-tooltip")
    assert page.evaluate("window.hit") is None
    assert page.locator("[onerror], [onload], .explorer img[src='x']").count() == 0
    assert page.errors == []
    page.context.close()
