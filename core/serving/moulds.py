"""Objects of the engines' message classes, made without validation.

A message is made for nearly every chunk, and its validation costs as much as parsing the chunk does. What would be
validated was built here, of texts and numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["mould"]

_SLOTS = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")


def mould(example: Any, *names: str) -> Callable[..., Any]:
    """A function that makes objects like ``example``, a pydantic model, of values for the fields ``names``.

    The other fields hold the example's own values, which all these objects share. Should pydantic keep its models in
    another way than it did, the class itself is called.
    """
    made_of: Any = type(example)
    given = set(example.model_fields_set)

    def usual(*values: Any) -> Any:
        kept = {field: value for field, value in vars(example).items() if field in given}
        return made_of(**{**kept, **dict(zip(names, values, strict=True))})

    try:
        make = _maker(example, *names)
        made = make(*(vars(example)[field] for field in names))
        return make if made == example and made.model_fields_set == given else usual
    except Exception:
        return usual


def _maker(example: Any, first: str, second: str = "", *more: str) -> Callable[..., Any]:
    made_of: Any = type(example)
    base = next(vars(each) for each in made_of.__mro__ if _SLOTS[1] in vars(each))
    put_fields, put_given, put_extra, put_private = (base[slot].__set__ for slot in _SLOTS)
    if example.__pydantic_private__ is not None:
        raise TypeError("private attributes")
    new, fields, given = object.__new__, dict(vars(example)).copy, set(example.model_fields_set).copy
    takes_more = example.__pydantic_extra__ is not None

    def make(value: Any, other: Any = None, *others: Any) -> Any:
        made, held = new(made_of), fields()
        held[first] = value
        if second:
            held[second] = other
            if others:
                held.update(zip(more, others, strict=True))
        put_fields(made, held)
        put_given(made, given())
        put_extra(made, {} if takes_more else None)
        put_private(made, None)
        return made

    return make
