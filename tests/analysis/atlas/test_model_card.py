"""The model card's tables are those of the records, and all else on the page is left alone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError
from notebooks.atlas import model_card, records

NAMES = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
TEXTS = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="%")
)


def test_the_page_is_filled_from_the_records_beside_the_weights():
    text = model_card.MODEL_CARD_PAGE.read_text(encoding="utf-8")
    tables = {
        n: model_card.table_as_markdown(t)
        for n, t in records.tables_of_records(records.bundled_models()).items()
    }
    assert model_card.fill_page_with_tables(text, tables) == text, (
        "run python -m notebooks.atlas.model_card --page"
    )
    assert set(model_card.TABLE_BLOCK.findall(text)) == set(tables)
    assert text.count("% table: ") == text.count("% end") == len(tables)


def test_the_table_of_accuracies_says_what_was_measured(root):
    for name in records.bundled_models():
        recorded = (root / f"helpers/models/weights/{name}/evaluation.csv").read_text(
            encoding="utf-8"
        )
        [line] = re.findall(
            r'"none, relations with 20 objects or more",256,.*', recorded
        )
        accuracy, low, high = (float(number) for number in line.rsplit(",", 3)[1:])
        table = model_card.table_as_markdown(
            records.tables_of_records([name])["accuracy"]
        )
        [row] = [row for row in table.splitlines() if row.startswith("| 256")]
        assert f"{accuracy:.2f} [{low:.2f}, {high:.2f}]" in row


@given(
    st.dictionaries(NAMES, TEXTS, min_size=1), st.lists(TEXTS, min_size=1, max_size=4)
)
def test_filling_leaves_the_rest_and_can_be_repeated(tables, around):
    blocks = "".join(f"% table: {name}\nold\n% end\n" for name in tables)
    text = "\n".join(around) + "\n" + blocks + around[0]
    filled = model_card.fill_page_with_tables(text, tables)
    assert model_card.fill_page_with_tables(filled, tables) == filled
    assert filled.startswith("\n".join(around))
    assert filled.endswith(around[0])
    assert all(
        f"% table: {name}\n\n{table}\n\n% end" in filled
        for name, table in tables.items()
    )


def test_a_page_or_a_table_that_is_not_there_is_said_in_a_sentence(tmp_path, capsys):
    with pytest.raises(UserError, match="block 'two': choose from one"):
        model_card.fill_page_with_tables("% table: two\n% end\n", {"one": ""})
    assert model_card.main(["--page", str(tmp_path / "none.md")]) == 2
    assert "cannot be read" in capsys.readouterr().err
