"""Says whether what is installed here fits together: python -m vicinity_graph.doctor

Each line is one thing: what was found, and what to do where it does not fit. What is optional and
absent is no fault. Exit code 0 if all that is here fits, 1 if not.
"""

from __future__ import annotations

import importlib
import platform
import sys
import warnings
from typing import Callable, List, NamedTuple, Tuple


class Finding(NamedTuple):
    """What was looked at, whether it fits, and what to say of it."""

    subject: str
    fits: bool
    text: str


def _python() -> Finding:
    fits = sys.version_info >= (3, 9)
    return Finding("Python", fits, platform.python_version() + ("" if fits else ": 3.9 is the oldest"))


def _library() -> Finding:
    try:
        library = importlib.import_module("vicinity_graph._library")
    except (ImportError, AttributeError) as error:
        return Finding("libvicinity", False, str(error))
    return Finding("libvicinity", True,
                   f"{library.VERSION}, ABI version {library.ABI_VERSION}, {library.PATH}")


def _shares_memory(name: str) -> Finding:
    """Of a library that takes tensors by DLPack."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == name
        return Finding(name, missing, "not installed" if missing else f"does not load: {error}")
    version = getattr(module, "__version__", "of unknown version")
    if not hasattr(module, "from_dlpack"):
        return Finding(name, False, f"{version}: has no from_dlpack, so it cannot take tensors")
    return Finding(name, True, f"{version}, takes tensors without a copy")


def _loads(name: str) -> Finding:
    """Of a library that batches are made for."""
    try:
        module = importlib.import_module(name)
    except (ImportError, OSError) as error:  # the latter of DGL's, that lacks a PyTorch of its own
        missing = isinstance(error, ModuleNotFoundError) and error.name == name
        return Finding(name, missing, "not installed" if missing else f"does not load: {error}")
    return Finding(name, True, module.__version__)


def _gpu() -> Finding:
    """As PyTorch sees it, whose tensors rows on a device become."""
    try:
        cuda = importlib.import_module("torch").cuda
    except ImportError:
        return Finding("GPU", True, "not asked: PyTorch would tell")
    if not cuda.is_available():
        return Finding("GPU", True, 'none: placement="host"')
    names = ", ".join(cuda.get_device_name(i) for i in range(cuda.device_count()))
    return Finding("GPU", True, f'{names}: placement="device" if libvicinity was built for CUDA')


CHECKS: Tuple[Callable[[], Finding], ...] = (
    _python, _library, lambda: _shares_memory("numpy"), lambda: _shares_memory("torch"),
    lambda: _loads("torch_geometric"), lambda: _loads("dgl"), _gpu)


def findings() -> List[Finding]:
    """Of all that matters, in the order in which one stands on the other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what others import of each other
        return [check() for check in CHECKS]


def main() -> int:
    """Prints the findings; the exit code."""
    found = findings()
    for each in found:
        print(f"{'ok   ' if each.fits else 'FAULT'} {each.subject}: {each.text}")
    return 0 if all(each.fits for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
