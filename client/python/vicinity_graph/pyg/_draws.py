"""Numbers drawn at random that follow from what they are for: the same names, the same numbers."""

from __future__ import annotations

import numpy


def draws_of(run_seed: int, epoch: int, step: int, stream: int = 0) -> numpy.random.Generator:
    """Those of a step. Streams keep apart what is drawn under the same three numbers."""
    words = numpy.array([run_seed % 2**64, 0], dtype=numpy.uint64)
    counter = numpy.array([0, step, epoch, stream], dtype=numpy.uint64)  # the first word counts
    return numpy.random.Generator(numpy.random.Philox(key=words, counter=counter))
