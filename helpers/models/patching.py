"""Another value of an attribute for a while."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def patched(thing: object, name: str, value: object) -> Iterator[None]:
    """Give an attribute another value; afterwards it is as it was, inherited or own.

    >>> class Sky:
    ...     colour = "blue"
    >>> evening = Sky()
    >>> with patched(evening, "colour", "red"):
    ...     evening.colour
    'red'
    >>> evening.colour, vars(evening)
    ('blue', {})
    """
    before = getattr(thing, name)
    inherited = name not in vars(thing) and hasattr(type(thing), name)
    setattr(thing, name, value)
    try:
        yield
    finally:
        if inherited:
            delattr(thing, name)
        else:  # a network's buffers are not in `vars`, and get their value back, too
            setattr(thing, name, before)
