"""Asking a model in the page: the same numbers as in Python, in a real browser, for every reader.

Most tests make a small page of their own, with a bundle made from the weights as they
are now; those at the end read ``book/_build/html``, as the last ``make book`` left it.
"""

import functools
import http.server
import json
import re
import shutil
import threading
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Error

from book.tools.live_model import live_probe_opening_html, stored_answer
from helpers import models, probing
from helpers.models.checkpoints import BUNDLED_MODELS_FOLDER
from helpers.prompts.prompt_texts import SEPARATORS
from tests import live_page as live
from tests import tiny_models
from tests.live_page import LIVE_SCRIPTS_FOLDER, WAYS_OF_ASKING, Question

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "book" / "_build" / "html"
PATIENCE = 120_000  # milliseconds, for a machine with much else to do
LOADED = (
    "live.css",
    "client.js",
    "prompts.js",
    "page.js",
)  # by a page, before the model
N_PROMPTS, N_OBJECTS = 50, 20
N_TIMED = 5  # pairs of pages; their median counts, since others have work too
INVENTED = (
    "Gotham",
    "Saint-Étienne-sur-Nulle",
    "Xq",
    "東京 2",
    "it's",
    " ".join(["Nowhere"] * 9),
)
CONTROLS = {"subject": "Subject", "before": "Text before the question (optional)",
            "way": "Ask by", "examples": "Examples"}  # fmt: skip
SCORE = """([prompt, continuations, floor]) =>
    LiveProbe.request("score", {prompt, continuations, floor})"""
needs_book = pytest.mark.skipif(
    not (HTML / "try.html").is_file(),
    reason="there is no book yet: run make book first",
)


def write_page(
    folder: Path, asked: Question | list, bundle: live.ModelBundle | None
) -> str:
    """Write a page with a place to ask, and what it loads; return its address."""
    cases = asked if isinstance(asked, list) else [live.Case("A case", asked, None, "")]
    if bundle is not None:
        (folder / bundle.name).write_text(bundle.text, encoding="ascii")
    for name in LOADED:
        shutil.copy(LIVE_SCRIPTS_FOLDER / name, folder)
    place = f'{live_probe_opening_html([asdict(case) for case in cases])}<figure><img alt="bars"></figure></div>'
    scripts = "".join(f'<script src="{name}"></script>' for name in LOADED[1:])
    head = '<meta charset="utf-8"><title>Ask</title><link rel="stylesheet" href="live.css">'
    text = f'<!doctype html><html lang="en">{head}<body>{place}{scripts}</body></html>'
    (folder / "index.html").write_text(text, encoding="utf-8")
    return (folder / "index.html").as_uri()


def opened(browser, address: str, **settings):
    """Open a page that fails the test on any error of its own."""
    page = browser.new_context(**settings).new_page()
    page.set_default_timeout(PATIENCE)
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.goto(address)
    return page


def loaded(browser, address: str, **settings):
    """Open a page and load its model by the button."""
    page = opened(browser, address, **settings)
    page.click(".live-load")
    page.wait_for_selector(".live-bars tbody tr")
    return page


def told(page) -> str:
    """Return the status line, once the model has answered what was typed last."""
    page.wait_for_selector(".live-result[aria-busy=false]")
    return page.inner_text("[role=status]")


def put(page, relation: str = "", subject: str | None = None, **others: str) -> str:
    """Choose a relation, fill in a subject or what the labels of `CONTROLS` name; see `told`."""
    if relation:
        page.select_option("select >> nth=0", relation)
    for name, text in ({"subject": subject} | others).items():
        control = page.get_by_label(CONTROLS[name], exact=True)
        if name == "way":
            control.select_option(text)
        elif text is not None:
            control.fill(text)
    return told(page)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Return the address on disk of a page that asks about Lyon."""
    return write_page(
        tmp_path_factory.mktemp("page"), Question("P17", "Lyon"), live.model_bundle()
    )


@pytest.fixture(scope="module")
def page(browser, address):
    """Return a page whose model is loaded; tests set all that they rely on."""
    made = loaded(browser, address)
    yield made
    assert made.errors == []


@pytest.fixture(scope="module")
def lm():
    return models.load(live.LIVE_MODEL, device="cpu")


def drawn(seed: int) -> list[Question]:
    """Draw questions: all ways alike, subjects known and invented, every setting at random."""
    random, facts, ways = (
        np.random.default_rng(seed),
        live.facts_with_exposures(),
        list(WAYS_OF_ASKING),
    )
    questions = []
    for number in range(N_PROMPTS):
        fact = facts.iloc[random.integers(len(facts))]
        other = facts[facts["relation"] == fact["relation"]]["object"].iloc[0]
        subject = (
            fact["subject"] if random.random() < 0.7 else str(random.choice(INVENTED))
        )
        settings = {
            "frame": int(random.integers(7)),
            "context": str(random.choice(["", fact["object"], other, "Atlantis"])),
            "examples": int(random.choice([1, 4, 20])),
            "turn": int(random.integers(6)),
            "separator": str(random.choice(list(SEPARATORS))),
        }
        way = ways[number % len(ways)]
        questions.append(Question(fact["relation"], subject, way, **settings))
    return questions


@pytest.fixture(scope="module")
def asked(page):
    """Return what Python and the page ask for the drawn questions."""
    questions = drawn(seed=0)
    here = [live.prompt_and_choices(question) for question in questions]
    there = page.evaluate(
        """async (all) => { const catalogue = await LiveProbe.load();
        return all.map((one) => LiveProbe.ask(catalogue, one)) }""",
        [asdict(question) for question in questions],
    )
    return questions, here, there


def test_the_page_asks_what_python_asks(asked):
    questions, here, there = asked
    assert {question.way for question in questions} == set(WAYS_OF_ASKING)
    for question, mine, other in zip(questions, here, there):
        assert (other["prompt"], other["objects"], other["continuations"]) == mine, (
            question
        )


def test_the_page_gives_the_probabilities_of_python(page, lm, asked):
    random = np.random.default_rng(1)
    rows = []
    for item, (prompt, _, continuations) in enumerate(asked[1]):
        chosen = random.permutation(len(continuations))[:N_OBJECTS]
        rows += [
            (item, option, prompt, continuations[i]) for option, i in enumerate(chosen)
        ]
    probes = pd.DataFrame(rows, columns=["item", "option", "prompt", "continuation"])
    answers = probing.score(lm, probes.assign(variant="live"), progress=False)
    worst = 0.0
    for _, group in answers.groupby("item"):
        found = page.evaluate(
            SCORE, [group["prompt"].iloc[0], list(group["continuation"]), 0]
        )
        assert all(one["whole"] for one in found)
        for mine, one in zip(group["logprobs"], found):
            assert len(mine) == len(one["logprobs"])
            worst = max(worst, *np.abs(np.subtract(mine, one["logprobs"])))
    print(
        f"largest difference of a log-probability, {len(answers)} objects: {worst:.1e}"
    )
    assert 0 < worst < 1e-3


def test_the_page_goes_on_as_python_does(page, lm, asked):
    texts = [prompt for prompt, _, _ in asked[1]]
    expected = probing.generate(lm, texts, progress=False)["text"].str.strip().tolist()
    found = page.evaluate(
        """async (texts) => { const found = [];
        for (const prompt of texts) found.push(await LiveProbe.request("go", {prompt}));
        return found }""",
        texts,
    )
    assert found == expected
    assert len(set(expected)) > N_PROMPTS / 5


def test_what_is_left_on_its_way_is_below_the_floor(page):
    prompt, _, continuations = live.prompt_and_choices(Question("P220", "Welsh"))
    whole, some = (
        page.evaluate(SCORE, [prompt, continuations, floor]) for floor in (0, 1e-3)
    )
    pairs = pd.DataFrame({"whole": [one["logprob"] for one in whole],
                          "some": [one["logprob"] for one in some]})  # fmt: skip
    kept = np.array([one["whole"] for one in some])
    assert 0 < kept.sum() < len(kept)
    assert pairs["whole"][~kept].max() < np.log(1e-3)
    assert np.ptp(pairs["whole"][kept] - pairs["some"][kept]) < 1e-6


@pytest.mark.parametrize("kind", ["score", "go"])
def test_a_text_that_is_too_long_is_refused(page, lm, kind):
    ask = "([kind, prompt, continuations]) => LiveProbe.request(kind, {prompt, continuations})"
    word = " ".join(["Lyon"] * (lm.max_length + 1))
    with pytest.raises(Error, match=f"tokens long; the model reads {lm.max_length}"):
        page.evaluate(ask, [kind, word, [" France"]])


def strings(seed: int, n: int) -> list[str]:
    """Draw strings of all kinds: letters of many scripts, spaces, signs, special tokens."""
    random = np.random.default_rng(seed)
    ranges = [(32, 127), (32, 127), (9, 14), (160, 592), (880, 1300), (0x3040, 0x30FF)]
    ranges += [
        (0x4E00, 0x4F00),
        (0x1F600, 0x1F640),
        (0x2000, 0x2030),
        (0x600, 0x6FF),
        (0, 256),
    ]
    words = [
        "<|bos|>",
        "<|eos|>",
        "it's",
        "I'LL",
        "'re",
        "  ",
        "\n",
        "\n\n",
        " \n",
        "\ufeff",
    ]
    made = []
    for _ in range(n):
        parts = []
        for _ in range(random.integers(1, 6)):
            low, high = ranges[random.integers(len(ranges))]
            letters = random.integers(low, high, random.integers(1, 8))
            parts += ["".join(map(chr, letters)), str(random.choice([*words, ""]))]
        made.append("".join(parts))
    return made


def test_texts_have_the_tokens_of_python(page, lm):
    facts = live.facts_with_exposures()
    texts = (
        strings(seed=2, n=3000)
        + list(facts["subject"].unique())
        + list(INVENTED)
        + ["", " "]
    )
    found = page.evaluate("(texts) => LiveProbe.request('encode', {texts})", texts)
    expected = lm.tokenizer(texts)["input_ids"]
    wrong = [text for text, mine, other in zip(texts, expected, found) if mine != other]
    assert not wrong, f"{len(wrong)} of {len(texts)}, such as {wrong[0]!r}"


def test_another_llama_with_another_tokenizer_runs_too(browser, tmp_path):
    """Shared keys, a head of its own, float32, no space before the text, no first token."""
    changes = {
        "num_key_value_heads": 2,
        "num_attention_heads": 4,
        "tie_word_embeddings": False,
    }
    lm = tiny_models.tiny_language_model(
        "llama", tiny_models.byte_tokenizer("bos"), **changes
    )
    lm.model.save_pretrained(tmp_path)
    lm.tokenizer.save_pretrained(tmp_path)
    page = opened(browser, write_page(tmp_path, Question("P17", "Lyon"), None))
    made = live.model_bundle.__wrapped__(tmp_path)
    (tmp_path / "tiny.js").write_text(made.text, encoding="ascii")
    page.evaluate("LiveProbe.load('tiny.js')")
    prompt, continuations = (
        "Rome is the capital of",
        [" Italy", " France", " it, isn't it?\n\nNo"],
    )
    found = page.evaluate(SCORE, [prompt, continuations, 0])
    start = len(lm.tokenizer(prompt)["input_ids"])
    for continuation, one in zip(continuations, found):
        ids = lm.tokenizer(prompt + continuation)["input_ids"]
        assert one["logprobs"] == pytest.approx(
            tiny_models.naive_logprobs(lm, ids, start), abs=1e-3
        )


@pytest.mark.parametrize(
    ("file", "old", "new", "part"),
    [
        ("config.json", '"llama"', '"mistral"', "only run plain Llama models"),
        ("tokenizer.json", '"ByteLevel"', '"Metaspace"', "its words are not ByteLevel"),
    ],
)
def test_another_kind_of_model_is_refused(browser, tmp_path, file, old, new, part):
    folder = shutil.copytree(
        BUNDLED_MODELS_FOLDER / live.LIVE_MODEL, tmp_path / "model"
    )
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    bundle = live.model_bundle.__wrapped__(folder)
    page = opened(browser, write_page(tmp_path, Question("P17", "Lyon"), bundle))
    page.click(".live-load")
    page.locator("[role=status]", has_text=part).wait_for()
    assert page.is_enabled(".live-load")


def test_it_works_from_a_server_and_without_scripts_the_figure_stands_there(
    browser, address
):
    page = opened(browser, address, java_script_enabled=False)
    assert page.is_visible("figure")
    assert page.locator("button, input").count() == 0
    folder = Path(address.removeprefix("file://")).parent
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = loaded(browser, f"http://127.0.0.1:{server.server_port}/")
        assert "Likeliest:" in page.inner_text("[role=status]")
        server.shutdown()


def test_a_missing_bundle_is_told_and_may_be_tried_again(browser, tmp_path):
    page, made = (
        opened(browser, write_page(tmp_path, Question("P17", "Lyon"), None)),
        live.model_bundle(),
    )
    page.click(".live-load")
    page.locator("[role=status]", has_text="not load").wait_for()
    (tmp_path / made.name).write_text(made.text, encoding="ascii")
    page.click(".live-load")
    page.wait_for_selector(".live-bars tbody tr")


def test_the_page_tells_the_truth_of_each_subject(page):
    facts = live.facts_with_exposures().query("relation == 'P17'")
    often = facts.query("exposures > 2 and false_object == ''").iloc[0]
    fooled = facts.query("false_object != ''").iloc[0]
    said = put(page, "P17", often["subject"])
    assert f"The truth is {often['object']}" in said
    assert f"stated it {often['exposures']} times" in said
    assert f"It named {fooled['false_object']} in its place" in put(
        page, "", fooled["subject"]
    )
    marks = page.locator(".live-mark").all_inner_texts()
    assert sorted(marks) == ["stated falsely", "true"]
    assert "no such fact of Gotham" in put(page, "", "Gotham")
    said = put(page, "", often["subject"].upper())
    assert f"The training text writes it {often['subject']}." in said
    assert "Type a subject" in put(page, "", " ")
    assert (
        page.locator(".live-bars tbody tr").count() == 0
    )  # nothing of an earlier question


def test_bars_are_the_likeliest_objects_with_their_values(page):
    put(page, "P36", "Poland")
    table = live.object_probabilities(Question("P36", "Poland"))
    names = page.locator(".live-bars tbody th").all_inner_texts()
    assert [name.removesuffix(" true") for name in names[:10]] == list(
        table["object"][:10]
    )
    first = page.locator(".live-bars tbody tr").first
    value = f"{table['probability'][0]:.1%}".replace("%", " %")
    assert first.locator("td").inner_text().strip() == value
    width = first.locator(".live-bar").evaluate("(bar) => parseFloat(bar.style.width)")
    assert width == pytest.approx(100 * table["probability"][0], abs=0.1)


def test_what_is_typed_is_shown_and_never_run(page):
    for text in (
        "<script>hit=1</script>",
        "<img src=x onerror='hit=1'>",
        "[Y]</pre><b>x</b>",
    ):
        assert text in put(page, "P17", text, before=text)
        assert text in page.inner_text(".live-read")
        assert page.evaluate("window.hit") is None
        assert page.locator(".live-result :is(script, img, b)").count() == 0
    put(page, before="")


def test_nothing_is_loaded_before_the_reader_asks_and_the_keyboard_is_enough(
    browser, address
):
    page, bundle = opened(browser, address), live.model_bundle()
    names = page.evaluate(
        "performance.getEntriesByType('resource').map((one) => one.name)"
    )
    assert not [name for name in names if bundle.name in name]
    assert page.is_visible("figure")
    assert f"{bundle.megabytes:.1f} MB" in page.inner_text(".live-load")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".live-bars tbody tr")
    name = "document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent"
    assert page.evaluate(name) == "Subject"  # where to go on
    page.keyboard.press("Control+A")
    page.keyboard.type("Oslo")
    told(page)
    assert "Oslo" in page.inner_text(".live-read")
    order = []
    for _ in range(5):
        page.keyboard.press("Tab")
        order.append(page.evaluate(name).strip())
    assert order[:4] == ["Times stated", "Another subject", "Ask by", "Wording"]
    assert order[4] == "Text before the question (optional)"
    for control in page.locator(":is(input, select, button):visible").all():
        assert control.evaluate("(c) => (c.labels?.[0] ?? c).textContent.trim()")
    heads = page.locator(".live-bars :is(th[scope=col], th[scope=row])").count()
    assert heads == 2 + page.locator(".live-bars tbody tr").count()
    assert page.inner_text(".live-bars caption")


def test_each_way_shows_its_own_controls(page):
    seen = {}
    for way in WAYS_OF_ASKING:
        put(page, "P17", way=way)
        labels = page.locator(
            ".live-field:visible :is(label, button)"
        ).all_inner_texts()
        seen[way] = set(labels[5:])
    spoken = {"Wording", "Text before the question (optional)"}
    assert seen["question"] == seen["sentence"] == spoken
    assert seen["form"] == {"Wording"}
    assert seen["list"] == {"Examples", "Written with", "Other examples"}
    assert seen["options"] == {"Wording", "Options in another order"}
    before = page.inner_text(".live-read")
    page.get_by_role("button", name="Options in another order").click()
    told(page)
    after = page.inner_text(".live-read")
    offered = [
        text.split("OPTIONS: ")[1].split("\n")[0].split("; ")
        for text in (before, after)
    ]
    assert offered[1] == offered[0][1:] + offered[0][:1]
    put(page, way="question")


PERU = Question("P17", "Lyon", context="Peru")
CASES = [
    live.Case("A wrong word", PERU, Question("P17", "Lyon"), "Why <Lyon>."),
    live.Case("A capital", Question("P36", "Poland"), None, "Why Poland."),
]


@pytest.fixture(scope="module")
def cases(browser, tmp_path_factory):
    """Return a page of two cases, its model loaded by the second one's button."""
    page = opened(
        browser,
        write_page(tmp_path_factory.mktemp("cases"), CASES, live.model_bundle()),
    )
    assert page.inner_text(".live-said") == "Why <Lyon>."
    page.get_by_role("button", name="A capital").click()
    page.wait_for_selector(".live-bars tbody tr")
    yield page
    assert page.errors == []


def ghosts(page) -> dict[str, float]:
    """Return the hollow bars: object to percent."""
    rows = page.locator(".live-bars tr:has(.live-ghost)").all()
    width = "(bar) => parseFloat(bar.style.width)"
    name = "(row) => row.querySelector('th').firstChild.textContent"
    return {
        row.evaluate(name): row.locator(".live-ghost").evaluate(width) for row in rows
    }


def test_a_case_is_asked_with_the_answer_before_behind_it(cases):
    cases.get_by_role("button", name="A capital").click()
    assert "Warsaw" in told(cases)
    assert ghosts(cases) == {}
    cases.get_by_role("button", name="A wrong word").click()
    told(cases)
    assert cases.inner_text(".live-read") == "Peru. Which country is Lyon in?"
    assert cases.inner_text(".live-said") == "Why <Lyon>."
    before = live.object_probabilities(CASES[0].before).set_index("object")[
        "probability"
    ]
    found = ghosts(cases)
    assert "France" in found
    assert found == {name: pytest.approx(100 * before[name], abs=0.1) for name in found}
    assert min(found.values()) > 0.5
    outline = "Dashed outline: the answer before, to “Which country is Lyon in?”"
    assert outline in cases.inner_text("caption")
    france = cases.locator(".live-bars tr:has(th:text-is('France'))")
    assert (
        f", before {before['France']:.1%}".replace("%", " %") in france.text_content()
    )
    pressed = cases.locator(".live-cases [aria-pressed=true]").all_inner_texts()
    assert pressed == ["A wrong word"]


def test_the_newest_case_wins_and_a_link_to_nothing_leaves_it(cases):
    cases.evaluate("""() => {
        const [first, second] = document.querySelectorAll(".live-cases button");
        first.click(); second.click(); first.click(); second.click();
    }""")
    before = told(cases)
    assert "Warsaw" in before
    assert cases.inner_text(".live-said") == "Why Poland."
    assert ghosts(cases) == {}
    for link in ("relation=P0", "way=nonsense", "separator=none"):
        cases.evaluate(f"""() => {{
            const link = document.createElement("a");
            link.href = "#ask?{link}";
            document.body.append(link);
            link.click();
        }}""")
        assert told(cases) == before


def test_a_change_leaves_the_case_and_keeps_its_answer_behind(cases):
    cases.get_by_role("button", name="A wrong word").click()
    told(cases)
    put(cases, before="Chad")
    after_peru = live.object_probabilities(PERU).set_index("object")["probability"]
    assert ghosts(cases)["France"] == pytest.approx(100 * after_peru["France"], abs=0.1)
    assert cases.inner_text(".live-said") == ""
    assert cases.locator(".live-cases [aria-pressed=true]").count() == 0
    put(cases, "P30")  # other objects: nothing to compare
    assert ghosts(cases) == {}


LINKS = {  # of a sentence: what it asks, and what then stands in the box
    "subject=Lyon&context=Peru": "Peru. Which country is Lyon in?",
    "subject=Lyon&way=question&frame=999": "Lyon",
    "subject=<b>Lyon</b>": "Which country is <b>Lyon</b> in?",
}


def test_a_link_in_the_text_sets_the_box(browser, tmp_path):
    """From disk, by keyboard, on a phone; also when it is followed again, or the page opens so."""
    address, path = (
        write_page(tmp_path, CASES, live.model_bundle()),
        tmp_path / "index.html",
    )
    links = "".join(
        f'<a href="#ask?{link}">link {n}</a>' for n, link in enumerate(LINKS)
    )
    text = path.read_text(encoding="utf-8").replace("<body>", f"<body>{links}")
    path.write_text(text, encoding="utf-8")
    page = opened(browser, address, viewport={"width": 390, "height": 844})
    for number, (link, read) in [*enumerate(LINKS.items())] * 2:
        page.get_by_role("link", name=f"link {number}").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".live-bars tbody tr")
        told(page)
        assert read in page.inner_text(".live-read")
        assert (ghosts(page) != {}) == ("context" in link)
        put(page, "", "Gotham")
    for link, read in LINKS.items():
        page.goto("about:blank")
        page.goto(f"{address}#ask?{link}")
        page.wait_for_selector(".live-bars tbody tr")
        told(page)
        assert read in page.inner_text(".live-read")
    assert page.errors == []


def test_a_number_outside_its_range_is_put_inside(page):
    put(page, "P17", way="list")
    box = page.get_by_label(CONTROLS["examples"], exact=True)
    for typed, kept in {"-5": 1, "0": 1, "": 1, "1000": 50, "7": 7}.items():
        box.fill(typed)
        box.blur()
        assert box.input_value() == str(kept)
    put(page, way="question")


@pytest.mark.parametrize(
    "relation", ["P30", pytest.param("P17", marks=pytest.mark.slow)]
)
def test_the_slider_asks_about_a_fact_stated_that_often(page, relation):
    facts, slider = (
        live.facts_with_exposures().query("relation == @relation"),
        page.get_by_label("Times stated"),
    )
    put(page, relation)
    for place, count in enumerate(sorted(facts["exposures"].unique())):
        slider.fill(str(place))
        told(page)
        subject = page.get_by_label(CONTROLS["subject"], exact=True).input_value()
        fact = facts.set_index("subject").loc[subject]
        assert (fact["exposures"], fact["false_object"]) == (count, "")
        words = {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")
        assert (
            page.inner_text("output") == words == slider.get_attribute("aria-valuetext")
        )
        step = facts.query("exposures == @count and false_object == ''").set_index(
            "subject"
        )
        said = page.locator(".live-step button").all_inner_texts()
        assert len(said) == min(5, len(step))
        for mark, name, best in (
            re.match("(.) (.+?): (.+)", one).groups() for one in said
        ):
            assert (mark == "✓") == (step.loc[name, "object"] == best)
    put(page, "", "Gotham")
    assert page.inner_text("output") == "unknown"


def test_a_name_written_otherwise_is_put_right_by_a_click(page):
    for typed, offered in {
        "lyon": "Lyon",
        "DUSHANBE": "Dushanbe",
        "Lyone": "Lyon",
    }.items():
        put(page, "P17", typed)
        right = page.locator(".live-mark", has_text="true").count()
        assert right == (typed.lower() == offered.lower())
        page.get_by_role("button", name=f"Ask about {offered}", exact=True).click()
        assert "The truth is" in told(page)
        assert (
            page.get_by_label(CONTROLS["subject"], exact=True).input_value() == offered
        )
        assert page.inner_text(".live-offers") == ""
        assert (
            page.evaluate("document.activeElement.labels?.[0].textContent") == "Subject"
        )
    put(page, "", "東京東京東京")  # like no other
    assert page.locator(".live-offers button").count() == 0


def test_the_first_answer_costs_no_more_than_loading_and_scoring(browser, address):
    """Nothing waits on the way to it: it takes what its two steps take by themselves."""
    click_to_answer = """async () => {
        const begun = performance.now();
        document.querySelector(".live-load").click();
        while (!document.querySelector(".live-bars tbody tr"))
            await new Promise((done) => setTimeout(done, 5));
        return performance.now() - begun;
    }"""
    steps = """async ([prompt, continuations]) => {
        const { file } = JSON.parse(document.querySelector("[data-live]").dataset.live);
        const begun = performance.now();
        await LiveProbe.load(file);
        await LiveProbe.request("score", {prompt, continuations, floor: 1e-3});
        return performance.now() - begun;
    }"""
    prompt, _, continuations = live.prompt_and_choices(Question("P17", "Lyon"))
    ratios = []
    for _ in range(N_TIMED):
        page = opened(browser, address)
        whole = page.evaluate(click_to_answer)
        page.close()
        page = opened(browser, address)
        ratios.append(whole / page.evaluate(steps, [prompt, continuations]))
        page.close()
    print(ratios)
    assert np.median(ratios) < 3


def test_it_fits_the_window(page):
    usual, long = page.viewport_size, "Llanfairpwllgwyngyllgogerychwyrndrobwll" * 3
    for way in WAYS_OF_ASKING:
        put(page, "", long, way=way)
        for width in (1400, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(
                "document.documentElement.scrollWidth <= window.innerWidth"
            ), way
    page.set_viewport_size(usual)
    put(page, way="question")


@needs_book
def test_only_pages_with_a_place_to_ask_load_it_and_little():
    users = set()
    for path in HTML.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        scripts = set(re.findall(r'(?:src|href)="[^"]*_static/live/([\w.]+)', text))
        if '<div class="live-probe"' in text:
            users.add(path.stem)
            assert scripts == set(LOADED), path
        else:
            assert not scripts, path
    others = ("knowledge_base", "latent_knowledge", "multiplicity", "calibration")
    assert users == {"monitor", "try"} | {f"{name}_appendix" for name in others}
    added = sum((LIVE_SCRIPTS_FOLDER / name).stat().st_size for name in LOADED)
    assert added < 100_000


@needs_book
@pytest.mark.parametrize("name", ["try.html", "chapters/multiplicity_appendix.html"])
def test_the_book_answers(browser, name):
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(
        (HTML / name).as_uri(), wait_until="domcontentloaded"
    )  # formulas may take longer
    figure = page.locator(".live-probe figure")
    assert figure.locator("img").get_attribute("alt").startswith("Bars of")
    page.click(".live-load")
    page.wait_for_selector(".live-bars tbody tr")
    assert not figure.is_visible()
    assert page.get_by_label("Subject", exact=True).input_value() in page.inner_text(
        ".live-said"
    )
    assert not [url for url in asked if not url.startswith(("file:", "blob:", "data:"))]


@needs_book
def test_the_box_of_a_chapter_opens_on_the_case_that_shows_its_point(browser):
    page = browser.new_context(java_script_enabled=False).new_page()
    shown = {"monitor": "flipped", "knowledge_base_appendix": "invented",
             "latent_knowledge_appendix": "examples", "multiplicity_appendix": "order",
             "calibration_appendix": "guess"}  # fmt: skip
    for name, case in shown.items():
        page.goto((HTML / "chapters" / f"{name}.html").as_uri())
        (held,) = json.loads(page.get_attribute(".live-probe", "data-live"))["cases"]
        told = stored_answer("case", case)
        assert held == {
            part: told[part] for part in ("label", "asked", "before", "said")
        }
        assert page.inner_text(".live-probe .live-said") == told["said"]
        assert page.is_visible(".live-probe figure img")
