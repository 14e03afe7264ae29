"""Facts and questions: bundled, fetched, or your own files."""

from helpers.datasets.atlas_facts import HELD_OUT_FRAMES
from helpers.datasets.catalogue import (
    DATASET_NAMES,
    load,
    notes_on_facts,
    prompt_frames,
    relation_table,
    source_record,
)
from helpers.datasets.control_words import (
    draw_control_nouns,
    draw_unrelated_words,
    forms_of_objects,
    relations_without_form,
)
from helpers.datasets.dataset_writer import write_dataset, write_dataset_of_table
from helpers.datasets.exposure import is_exposure_unconfounded, training_exposure
from helpers.datasets.knowledge_questions import knowledge_base_questions
from helpers.datasets.object_forms import kind_of_form, object_form
from helpers.datasets.panel import fact_exposure, options_with_false_object, panel_facts
from helpers.datasets.seen_questions import draw_seen_questions
from helpers.datasets.unseen_questions import draw_unseen_questions

__all__ = [
    "DATASET_NAMES",
    "HELD_OUT_FRAMES",
    "draw_control_nouns",
    "draw_seen_questions",
    "draw_unrelated_words",
    "draw_unseen_questions",
    "fact_exposure",
    "forms_of_objects",
    "is_exposure_unconfounded",
    "kind_of_form",
    "knowledge_base_questions",
    "load",
    "notes_on_facts",
    "object_form",
    "options_with_false_object",
    "panel_facts",
    "prompt_frames",
    "relation_table",
    "relations_without_form",
    "source_record",
    "training_exposure",
    "write_dataset",
    "write_dataset_of_table",
]
