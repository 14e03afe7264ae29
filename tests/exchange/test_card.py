"""Cards of runs: what they show, what the hub reads in them, and no name taken for markup."""

import copy
import re
from datetime import datetime
from html.parser import HTMLParser

import pytest
import yaml
from huggingface_hub import ModelCard, parse_eval_result_entries
from markdown_it import MarkdownIt

from helpers import exchange, printable_line
from helpers.exchange import report_card
from helpers.studies import STUDIES
from tests import hostile_inputs, saved_runs


def described(folder, *chapters, **given):
    """Return the record of runs that were saved without a model."""
    names = chapters or tuple(STUDIES)
    saved_runs.write_made_up_runs(folder, "small", 0.6, names, n_bootstrap=50, **given)
    return exchange.describe_runs(folder / "small").record


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    return described(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def written(record, tmp_path):
    """Return the texts of a card, as Markdown and as HTML."""
    return [
        path.read_text(encoding="utf-8")
        for path in report_card.write_report_card(record, tmp_path / "out")
    ]


class Page(HTMLParser):
    """Collects the tags, the attributes and the rows of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.names, self.rows, self.said = [], set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_data(self, data):
        self.said += data
        if self.tags and self.tags[-1] in ("th", "td") and data.strip():
            self.rows[-1][-1] += data.strip()


def rendered(markdown: str) -> Page:
    """Return a card's Markdown as the hub shows it: CommonMark with tables."""
    text = ModelCard(markdown).text
    return Page(MarkdownIt("commonmark").enable("table").render(text))


def test_both_show_each_measure_with_interval_n_and_meaning(record, written):
    for page in (rendered(written[0]), Page(written[1])):
        rows = {cells[0]: cells[1:] for cells in page.rows if cells}
        for name, run in record["runs"].items():
            for measure, found in zip(STUDIES[name].MEASURES, run["measures"]):
                scale, digits = (100, 1) if measure.percent else (1, 3)
                value = f"{found['estimate'] * scale:z.{digits}f}"
                if found["low"] is not None:
                    ends = [
                        f"{found[key] * scale:z.{digits}f}" for key in ("low", "high")
                    ]
                    value += f" [{ends[0]}, {ends[1]}]"
                cells = rows[measure.heading]
                assert cells[0] == value
                assert {f"{found['n']} {measure.counts}", measure.meaning} == set(
                    cells[1:]
                )


def test_both_show_settings_data_checksums_and_cost(record, written):
    for page in (rendered(written[0]), Page(written[1])):
        assert "n_facts 8" in page.said
        assert "What small knows" in page.said
        assert "prompts and tokens not counted" in page.said
        assert record["model"]["weights_sha"] in page.said
        assert record["runs"]["monitor"]["answers"]["sha256"] in page.said
        assert saved_runs.DATASET["checksum"] in page.said
        assert "Not measured" not in page.said


def test_the_hub_reads_every_measure_back(record, written, tmp_path):
    (tmp_path / "README.md").write_text(written[0], encoding="utf-8")
    read = ModelCard.load(tmp_path / "README.md").data
    assert read.model_name == "small"
    assert read.eval_results == report_card.hub_evaluation_results(record)
    assert len(read.eval_results) == sum(
        len(study.MEASURES) for study in STUDIES.values()
    )
    first = read.eval_results[0]
    told = {
        each["measure"]: each
        for each in record["runs"][first.dataset_config]["measures"]
    }
    assert first.metric_value == told[first.metric_type]["estimate"]
    kept = {key: told[first.metric_type][key] for key in ("low", "high", "n")}
    assert first.metric_args == {
        key: value for key, value in kept.items() if value is not None
    }


def test_runs_on_a_dataset_of_the_hub_have_its_newer_format(record, tmp_path):
    """By hand, read back by the hub's own parser; of other data sets there is no file."""
    told = described(tmp_path, "monitor", "latent_knowledge", dataset="trex_mc")
    told["runs"]["latent_knowledge"]["dataset"]["name"] = "own"
    base = next(
        row for row in told["runs"]["monitor"]["measures"] if row["measure"] == "base"
    )
    paths = report_card.write_report_card(told, tmp_path)
    assert paths[2] == tmp_path / ".eval_results" / "small.yaml"
    lines = yaml.safe_load(paths[2].read_text(encoding="utf-8"))
    entries = {e.task_id: e for e in parse_eval_result_entries(lines)}
    assert list(entries) == [
        f"monitor_{row['measure']}"
        for row in told["runs"]["monitor"]["measures"]
        if row["estimate"] is not None
    ]
    entry = entries["monitor_base"]
    assert entry.dataset_id == "QinyuanWu/T-Rex-MC"
    assert entry.dataset_revision == "7f5049db71dace9ef3f1c32ed28d4295bc63de18"
    assert entry.value == base["estimate"]
    assert entry.notes == (
        "accuracy, base prompt (higher is better); interval of 95 %: "
        f"{base['low']:.4g} to {base['high']:.4g}; {base['n']} facts"
    )
    assert datetime.fromisoformat(entry.date)
    assert len(report_card.write_report_card(record, tmp_path / "atlas")) == 2


def test_what_is_undefined_or_was_not_measured_is_said(tmp_path):
    record = described(tmp_path, "monitor", "latent_knowledge", heeds=False)
    markdown, html = (
        path.read_text() for path in report_card.write_report_card(record, tmp_path)
    )
    for page in (rendered(markdown), Page(html)):
        rows = {cells[0]: cells[1] for cells in page.rows if cells}
        assert rows["MONITOR ↓"] == "undefined: none of the facts counts"
        assert "Not measured: Knowledge base, Multiplicity." in page.said
    types = {result.metric_type for result in ModelCard(markdown).data.eval_results}
    assert types == {"coverage", "base", "average", "right", "mass"}


def test_without_a_number_a_measure_says_so_and_a_card_has_no_results(tmp_path):
    record = described(tmp_path, "knowledge_base")
    for each in record["runs"]["knowledge_base"]["measures"]:
        each |= dict.fromkeys(["estimate", "low", "high"])
    markdown, html = (
        path.read_text() for path in report_card.write_report_card(record, tmp_path)
    )
    assert "undefined: none of 24 questions is of the kind that is averaged" in html
    assert ModelCard(markdown).data.eval_results is None


def test_no_name_is_taken_for_markup(record, written, tmp_path):
    plain = rendered(written[0]), Page(written[1])
    for text in (
        *hostile_inputs.HOSTILE_STRINGS,
        "---\nlicense: evil\n---",
        "'\"\n- x: &y *z",
    ):
        told = copy.deepcopy(record)
        told["model"] |= {"name": text, "architecture": text}
        for run in told["runs"].values():
            run["dataset"] |= {"name": text, "title": text, "checksum": text}
            run["parameters"] |= {"match": text, "judge": text}
            run["model"] |= {"prompt_format": text}
            run |= {"device": text, "versions": {text: text}}
        markdown, html = (
            path.read_text() for path in report_card.write_report_card(told, tmp_path)
        )
        seen = printable_line(text)
        data = ModelCard(markdown).data
        assert data.model_name == seen
        assert not hasattr(data, "license") or data.license is None
        assert data.eval_results == report_card.hub_evaluation_results(told)
        for page, before in zip((rendered(markdown), Page(html)), plain):
            assert page.tags == before.tags
            assert page.names == before.names
            assert seen in page.said


def test_the_page_holds_no_script_and_asks_for_nothing(written):
    page = Page(written[1])
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not {"src", "href"} & page.names
    assert "default-src 'none'" in written[1]


@pytest.mark.parametrize("width", [1400, 390])
def test_the_page_fits_its_width(record, tmp_path, browser, width):
    told = copy.deepcopy(record)
    told["model"]["name"] = "long" * 40
    path = report_card.write_report_card(told, tmp_path)[1]
    page = browser.new_page(viewport={"width": width, "height": 1000})
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = (
        "nodes => Math.min(...nodes.map(n => parseFloat(getComputedStyle(n).fontSize)))"
    )
    assert page.eval_on_selector_all("p, td, th", small) >= 10
    assert asked == [path.as_uri()]
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) == 1
    colours = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours[0] == "rgb(255, 255, 255)" != colours[1]
    page.close()
