"""What tables of all kinds have in common: values that are missing, and lists that make rows."""

from __future__ import annotations

from typing import Any

import numpy

#: None may be a value.
NO_FILL = object()


def null(where: str, row: int) -> ValueError:
    """The error for a value that is missing."""
    column = where.rpartition(".")[2]
    return ValueError(f"{where} is null in row {row}: say what stands there, "
                      f"fill={{{column!r}: ...}}, or leave the column out by skip=")


def exactly(where: str, value: Any, dtype: Any) -> Any:
    """The value in that type; ValueError if it would be another one."""
    given = numpy.asarray(value)
    try:
        stored = given.astype(dtype)
        same = given.ndim == 0 and given.dtype.kind in "biuf" and (
            stored == given or (stored != stored and given != given))  # NaN
    except (TypeError, ValueError, OverflowError):
        same = False
    if not same:
        raise ValueError(f"{where} is {dtype}, and its fill {value!r} is no such value")
    return stored


def text_of_fill(where: str, value: Any) -> Any:
    """ValueError if it is to stand in a column of text and is none."""
    if value is not NO_FILL and not isinstance(value, str):
        raise ValueError(f"{where} is text, and its fill {value!r} is none")
    return value


def check_lengths(where: str, lengths: Any, row: int) -> int:
    """The one length that lists have."""
    if not len(lengths):
        raise ValueError(f"{where} is of lists, and without a row nobody knows how long they are: "
                         "leave it out by skip=")
    other = numpy.flatnonzero(numpy.asarray(lengths) != lengths[0])
    if len(other):
        raise ValueError(f"{where} has {lengths[0]} values in row {row}, and {lengths[other[0]]} "
                         f"in row {row + int(other[0])}: rows of a column have one length, unless "
                         f"ragged=[{where.rpartition('.')[2]!r}] of a NodeTable names it")
    return int(lengths[0])
