"""The publishers' files, each in its own form: files by path → a row an answer."""

import hashlib
import io
import json
import re
import subprocess
import tarfile
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from helpers import UserError
from notebooks.kit.public_answers import pickles

Files = Mapping[str, bytes]

PROMPTS = ("base", "shared", "task")  # of the logits, as their files are named
GPT2_TITLES = {  # by folder
    "gpt2_from_scratch": "GPT-2, Wikipedia alone",
    "gpt2_off_the_shelve": "GPT-2, released",
}
_ABSTENTION_FILE = re.compile(
    r"(?P<method>[a-z]+)_(?P<model>\d+b)_mmlu"
    r"(_(?P<change>typo|blank_space))?(_(?P<version>\d))?_setup_(?P<setup>\d)\.json"
)


def files_at_commit(clone: Path, source: Mapping[str, Any]) -> dict[str, bytes]:
    """Return a publisher's files of one commit by path, once their checksum is right.

    `clone` is a clone of the repository with its history, bare or not.
    """
    commit = source["commit"]
    command = ["git", "-C", str(clone), "archive", "--format=tar", commit]
    command += ["--", *source["folders"]]
    packed = subprocess.run(command, capture_output=True, check=False)
    if packed.returncode:
        raise UserError(
            f"{clone} does not hold commit {commit[:12]}: clone "
            f"https://github.com/{source['repository']} there, with its history."
        )
    files = {}
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        for member in archive:
            is_wanted = any(fnmatch(member.name, form) for form in source["files"])
            content = archive.extractfile(member) if is_wanted else None
            if content is not None:
                files[member.name] = content.read()
    checksum = checksum_of_files(files)
    if checksum != source["sha256"]:
        raise UserError(
            f"The files of {source['repository']} have the checksum {checksum}, not "
            f"{source['sha256']}: clone the repository anew."
        )
    return files


def checksum_of_files(files: Files) -> str:
    """Return one SHA-256 of all paths and contents.

    >>> checksum_of_files({"a": b"1"}) == checksum_of_files({"b": b"1"})
    False
    """
    total = hashlib.sha256()
    for path in sorted(files):
        content = hashlib.sha256(files[path]).hexdigest()
        total.update(f"{content}  {path}\n".encode())
    return total.hexdigest()


def read_contradicted_answers(files: Files) -> pd.DataFrame:
    """Return answers after a contradicting statement, of Tighidet et al. 2024.

    ``source`` is PK where the model keeps its own object, CK where it says that of the
    statement, ND for neither. A row an answer; ``occurrences`` are the subject's.
    """
    counts = pickles.read_pickle(files["paper_data/entity_counts.pkl"])
    statements = pd.read_csv(
        io.BytesIO(
            files["paper_data/raw_pararel_with_correctly_reformatted_statements.csv"]
        )
    )
    # The statement may write the subject with an article.
    subjects = statements.drop_duplicates("statement_subject")
    subjects = subjects.set_index("statement_subject")["subject"]
    parts = []
    for path, data in files.items():
        model, is_answers, _ = PurePosixPath(path).name.partition("_prompting_results")
        if is_answers:
            table = pickles.read_pickled_table(data)
            parts.append(table.assign(model=model))
    answers = pd.concat(parts, ignore_index=True)
    subject = answers["statement_subject"].map(subjects)
    columns = {"knowledge_source": "source", "rel_lemma": "relation"}
    answers = answers.assign(subject=subject, occurrences=subject.map(counts))
    answers = answers.rename(columns=columns)
    return answers[["model", "relation", "subject", "occurrences", "source"]]


def read_repeated_answers(files: Files) -> pd.DataFrame:
    """Return answers to the questions of MMLU, of Zhao et al. 2025.

    Six methods of abstaining (``method``) asked each prompt once, at temperature 0.1,
    and each kept the answer to the question alone: six runs of one prompt. ``change``
    is what was done to the question (none, typo, blank_space) in its ``version``,
    ``setup`` the example that stands before it (0: none).
    """
    parts = []
    for path, data in files.items():
        named = _ABSTENTION_FILE.fullmatch(PurePosixPath(path).name)
        if named is None:
            continue
        rows = pd.DataFrame(json.loads(data))
        answers = rows[["question_idx", "prediction"]].set_axis(
            ["question", "answer"], axis=1
        )
        change = named["change"] or "none"
        version = int(named["version"] or 0)
        setup = int(named["setup"])
        parts.append(
            answers.assign(
                model=named["model"],
                method=named["method"],
                change=change,
                version=version,
                setup=setup,
            )
        )
    return pd.concat(parts, ignore_index=True)


def read_option_logits(files: Files) -> dict[str, np.ndarray]:
    """Return the logits of six options under three prompts, of Ye et al. 2024.

    By model an array of shape (prompts, questions, options).
    """
    by_model: dict[str, dict[str, np.ndarray]] = {}
    for path, data in files.items():
        name = PurePosixPath(path).name
        model, _, rest = name.partition("_mmlu_10k_")
        prompt, _, _ = rest.partition("_")
        rows = pickles.read_pickle(data)
        in_order = sorted(rows, key=_number_of_question)
        logits = [row["logits_options"] for row in in_order]
        by_model.setdefault(model, {})[prompt] = np.stack(logits).astype(float)
    return {
        model: np.stack([logits[prompt] for prompt in PROMPTS])
        for model, logits in sorted(by_model.items())
    }


def _number_of_question(row: Mapping[str, Any]) -> int:
    return int(row["id"])


def read_sentence_scores(files: Files) -> pd.DataFrame:
    """Return BEAR's facts with the scores of all options, of Christoph et al. 2025.

    ``scores`` are log-probabilities of the whole sentence with each option, ``answer``
    the place of the right one, ``occurrences`` the sentences of Wikipedia with subject
    and object.
    """
    (counts_path,) = [path for path in files if path.endswith("occurrence_info.json")]
    counts = json.loads(files[counts_path])
    rows = []
    for path in sorted(files):
        if path == counts_path:
            continue
        relation, _, _ = PurePosixPath(path).name.partition("_")
        _, _, in_folder = path.partition("BEAR-small/")
        model = GPT2_TITLES[in_folder.partition("/")[0]]
        for line in files[path].decode("utf-8").splitlines():
            fact = json.loads(line)
            row = {
                "model": model,
                "relation": relation,
                "answer": fact["answer_idx"],
                "scores": np.array(fact["pll_scores"]),
                "occurrences": counts[relation][fact["sub_id"]]["occurrences"],
            }
            rows.append(row)
    return pd.DataFrame(rows)
