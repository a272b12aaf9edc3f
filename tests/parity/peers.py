"""Packages of the peers, which `.ci/wide` installs in an environment of their own."""

import importlib
import os
from types import ModuleType

import pytest

REQUIRED = "FAITHTUI_PEERS"
"""Set in that environment: what is missing there is a fault, and no reason to skip."""


def import_peer(name: str) -> ModuleType:
    """Import a module of a peer; skip the test where it is not installed and need not be."""
    if os.environ.get(REQUIRED):
        return importlib.import_module(name)
    module: ModuleType = pytest.importorskip(name, exc_type=ImportError)
    return module
