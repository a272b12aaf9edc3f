"""How much work something is on any machine: beside looking once at every letter of a text."""

import time
from collections.abc import Callable


def times_reading(text: str, work: Callable[[], object]) -> float:
    """Divide the processor time of some work by that of one pass over a text, letter by letter.

    Both are of this process alone, so neither another process nor a slow machine changes much. What
    grows with the square of a text of 100,000 letters comes to tens of thousands.
    """
    resolution = time.get_clock_info("process_time").resolution
    began = time.process_time()
    work()
    worked = time.process_time()
    for _ in text:
        pass
    return (worked - began) / max(time.process_time() - worked, resolution)
