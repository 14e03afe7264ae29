"""Small samples in each publisher's form, and files of one commit."""

import json
import pickle
import subprocess

import numpy as np
import pytest

from helpers import UserError
from notebooks.kit.public_answers import load_sources, publishers
from tests.public_answers import old_pandas

FOLDER = "paper_data/prompting_results"


def contradicted_files() -> dict[str, bytes]:
    columns = {
        "statement_subject": ["The Lyon", "Oslo"],
        "knowledge_source": ["PK", "ND"],
        "rel_lemma": ["capital-of", "capital-of"],
    }
    statements = "statement_subject,subject\nThe Lyon,Lyon\nThe Lyon,Lyon\nOslo,Oslo\n"
    return {
        "paper_data/entity_counts.pkl": pickle.dumps({"Lyon": 7, "Oslo": 250}),
        "paper_data/raw_pararel_with_correctly_reformatted_statements.csv": (
            statements.encode()
        ),
        f"{FOLDER}/Phi-1_5_prompting_results_without_activations.pkl": (
            old_pandas.pickled_table(columns)
        ),
    }


def test_contradicted_answers_get_the_count_of_their_subject():
    answers = publishers.read_contradicted_answers(contradicted_files())
    assert answers.to_numpy().tolist() == [
        ["Phi-1_5", "capital-of", "Lyon", 7, "PK"],
        ["Phi-1_5", "capital-of", "Oslo", 250, "ND"],
    ]


def test_repeated_answers_are_named_by_their_files():
    rows = [{"question_idx": 3, "prediction": "B", "gold_answer": "C", "decision": 0}]
    data = json.dumps(rows).encode()
    names = ("moreinfo_1b_mmlu_setup_0", "token_70b_mmlu_typo_2_setup_0")
    names += ("nota_3b_mmlu_blank_space_setup_1", "reflect_80b_u_setup_0 copy")
    names += ("token_3b_mmlu_shuffled_option_setup_0",)
    files = {f"result/folder/{name}.json": data for name in names}
    answers = publishers.read_repeated_answers(files)
    columns = ["method", "model", "change", "version", "setup", "question", "answer"]
    assert answers[columns].to_numpy().tolist() == [
        ["moreinfo", "1b", "none", 0, 0, 3, "B"],
        ["token", "70b", "typo", 2, 0, 3, "B"],
        ["nota", "3b", "blank_space", 0, 1, 3, "B"],
    ]


def test_logits_are_stacked_by_prompt_and_question():
    files = {}
    for number, prompt in enumerate(("task", "base", "shared")):
        rows = [
            {"id": 1, "logits_options": np.full(6, 10 * number + 1, dtype="f4")},
            {"id": 0, "logits_options": np.full(6, 10 * number, dtype="f4")},
        ]
        path = f"outputs_base/Yi-6B_mmlu_10k_{prompt}_icl1.pkl"
        files[path] = pickle.dumps(rows)
    (logits,) = publishers.read_option_logits(files).values()
    assert logits[:, :, 0].tolist() == [[10, 11], [20, 21], [0, 1]]  # base first


def test_sentence_scores_get_the_count_of_their_fact():
    fact = {"sub_id": "Q456", "answer_idx": 1, "pll_scores": [-5.5, -4.0]}
    counts = {"P17": {"Q456": {"occurrences": 12}}}
    folder = "probing_results/BEAR-small/gpt2_from_scratch/wiki/probing_scores"
    files = {
        f"{folder}/P17_results.jsonl": f"{json.dumps(fact)}\n".encode(),
        "fact_matching_results/relation_occurrence_info.json": (
            json.dumps(counts).encode()
        ),
    }
    (row,) = publishers.read_sentence_scores(files).to_dict("records")
    assert row.pop("scores").tolist() == [-5.5, -4.0]
    assert row == {
        "model": "GPT-2, Wikipedia alone",
        "relation": "P17",
        "answer": 1,
        "occurrences": 12,
    }


@pytest.fixture
def clone(tmp_path):
    """Return a repository with one commit, and a source that names it."""
    folder = tmp_path / "clone"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "a.json").write_text("[1]", encoding="utf-8")
    (folder / "data" / "b.txt").write_text("not asked for", encoding="utf-8")
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "data"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    source = {
        "repository": "someone/data",
        "commit": commit.stdout.strip(),
        "folders": ["data"],
        "files": ["data/*.json"],
        "sha256": publishers.checksum_of_files({"data/a.json": b"[1]"}),
    }
    return folder, source


def test_files_are_those_of_the_commit(clone):
    folder, source = clone
    (folder / "data" / "a.json").write_text("[2]", encoding="utf-8")  # not committed
    assert publishers.files_at_commit(folder, source) == {"data/a.json": b"[1]"}


def test_other_files_and_another_commit_are_refused(clone):
    folder, source = clone
    with pytest.raises(UserError, match="clone the repository anew"):
        publishers.files_at_commit(folder, source | {"sha256": "0" * 64})
    with pytest.raises(UserError, match="does not hold commit 000000000000"):
        publishers.files_at_commit(folder, source | {"commit": "0" * 40})


def test_every_source_names_commit_checksum_and_licence():
    for name, source in load_sources().items():
        assert len(source["commit"]) == 40, name
        assert len(source["sha256"]) == 64, name
        assert source["licence"] in ("none", "MIT"), name
