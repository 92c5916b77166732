"""The fuzz target's helpers are the contract tests' own."""

from __future__ import annotations

import sys
from pathlib import Path

for _folder in (Path(__file__).parent, Path(__file__).parent.parent / "core"):
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))
