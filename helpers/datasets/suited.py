"""Which chapter can be run on which data set."""


def unsuited(chapter: str, dataset: str, relations=()) -> str:
    """Return why not."""
    return ""
