"""Ways to do the same thing, measured in turns: a machine's speed changes from second to second, and
none of them is to have the good ones alone."""

import math
import time


def fastest(ways, turns):
    """Seconds of the fastest call of each function, by name. A turn calls all, one after the other."""
    seconds = dict.fromkeys(ways, math.inf)
    for _ in range(turns):
        for name, call in ways.items():
            begin = time.perf_counter()
            call()
            seconds[name] = min(seconds[name], time.perf_counter() - begin)
    return seconds
