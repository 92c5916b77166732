"""The site's settings, for Sphinx. The pages are Markdown that reads on the forge as it is; `make docs` builds them.

The source folder is the checkout, so that a link means the same in both places.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pygments.lexers.data import JsonLexer

ROOT = Path(__file__).resolve().parent.parent

# What the sidebar shows. Pages that are not named here stand under the last heading.
NAVIGATION = {
    "Start": ("README", "docs/quickstart", "docs/vllm", "docs/lmdeploy", "docs/transformers", "docs/detection",
              "docs/migration"),
    "Run": ("docs/operations", "docs/settings", "docs/troubleshooting", "docs/compatibility"),
    "Understand": ("docs/theory", "docs/rules", "docs/dialects", "docs/structural_tags"),
    "Evidence": ("docs/benchmarks", "docs/reliability", "docs/peers", "bench/tags"),
    "Contribute": ("CONTRIBUTING", "docs/new_dialect", "docs/lmdeploy_upstream", "CHANGELOG"),
}
TITLES = {"README": "On one page"}

project = "toolglot"
author = "The toolglot authors"
copyright = "the toolglot authors, Apache-2.0"
root_doc = "docs/index"
extensions = ["myst_parser"]
include_patterns = ["README.md", "docs/*.md", "bench/*.md", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = [".*", "build", "core", "dist", "site", "src", "tests"]

myst_heading_anchors = 3  # links to headings, as on the forge
html_theme = "furo"
html_title = "toolglot"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": False}
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def read_source(app: Any, name: str, source: list[str]) -> None:
    """Put the sidebar under the front page, and a title over pages that are tables only."""
    if name == root_doc:
        source[0] += "\n".join(_navigation())
    elif not source[0].startswith("# "):
        source[0] = f"# {name}.md\n\n{source[0]}"


def _navigation() -> list[str]:
    pages = {str(path.relative_to(ROOT).with_suffix("")) for pattern in include_patterns for path in ROOT.glob(pattern)}
    named = {page for group in NAVIGATION.values() for page in group}
    lines = []
    for heading, group in NAVIGATION.items():
        more = sorted(pages - named - {root_doc}) if heading == [*NAVIGATION][-1] else ()
        lines += ["", "```{toctree}", ":hidden:", f":caption: {heading}", ""]
        for page in (*group, *more):
            if page in pages:
                lines.append(f"{TITLES[page]} </{page}>" if page in TITLES else f"/{page}")
        lines += ["```"]
    return [*lines, ""]


def write_start(app: Any, error: Exception | None) -> None:
    """Whoever opens the folder gets to the front page."""
    if error is None:
        Path(app.outdir, "index.html").write_text(
            '<!doctype html><meta charset="utf-8"><title>toolglot</title>'
            '<meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">toolglot</a>\n',
            encoding="utf-8",
        )


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.add_lexer("jsonl", JsonLexer)
    app.connect("source-read", read_source)
    app.connect("build-finished", write_start)
