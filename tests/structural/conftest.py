"""The helper modules beside the tests (walks.py, schemas.py) and those of tests/core are imported by plain names."""

from __future__ import annotations

import sys
from pathlib import Path

_HERE = Path(__file__).parent
for _folder in (str(_HERE), str(_HERE.parent / "core")):
    if _folder not in sys.path:
        sys.path.insert(0, _folder)
