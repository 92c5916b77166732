"""Shared set-up of the contract tests.

The helper modules beside the tests (corpus.py, harness.py) are imported by their plain names.
TOOLGLOT_TEST_PROFILE picks how much is tried: "default" is deterministic and bounded, "quick" a tenth of it for
work on the core, "deep" is random and long.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

_HERE = str(Path(__file__).parent)
if _HERE not in sys.path:
    sys.path.insert(0, _HERE)

_COMMON = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("default", max_examples=100, derandomize=True, **_COMMON)
settings.register_profile("quick", max_examples=25, derandomize=True, **_COMMON)
settings.register_profile("deep", max_examples=20_000, print_blob=True, **_COMMON)
settings.load_profile(os.environ.get("TOOLGLOT_TEST_PROFILE", "default"))
