"""Build the documentation as a site, strictly, and check that its pages load nothing from elsewhere.

    python scripts/build_docs.py        # into site/; needs the extra `docs`

A warning of Sphinx is an error: a page that no link leads to, a link or an anchor that leads nowhere.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "site"
LOADING = {"audio", "embed", "iframe", "img", "input", "link", "object", "script", "source", "track", "video"}
LINKS_THAT_LOAD_NOTHING = {"author", "canonical", "index", "next", "prev", "search"}


class Resources(HTMLParser):
    """What a page makes a browser load."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag not in LOADING or (tag == "link" and attributes.get("rel") in LINKS_THAT_LOAD_NOTHING):
            return
        self.found += [value for name in ("src", "href", "data", "srcset", "poster") if (value := attributes.get(name))]


def loaded(site: Path) -> Iterator[tuple[Path, str]]:
    """The addresses that the pages and style sheets of a site load, each with its file."""
    for page in sorted(site.rglob("*.html")):
        yield from ((page, address) for address in Resources(page.read_text(encoding="utf-8")).found)
    for sheet in sorted(site.rglob("*.css")):
        text = sheet.read_text(encoding="utf-8")
        for address in re.findall(r"""(?:url\(\s*|@import\s*)["']?([^"')\s]+)""", text):
            yield sheet, address


def wrong(site: Path) -> Iterator[str]:
    """What is loaded from elsewhere, or not there."""
    for file, address in loaded(site):
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            yield f"{file.relative_to(site)} loads {address}"
        elif not (file.parent / unquote(parts.path)).exists():
            yield f"{file.relative_to(site)} loads {address}, which is not there"


def main() -> int:
    """Build, and check."""
    start = time.monotonic()
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-b", "html"]
    done = subprocess.run([*command, "-c", "docs", "-d", ".cache/doctrees", ".", str(SITE)], cwd=ROOT, check=False)
    if done.returncode:
        return done.returncode
    problems = list(wrong(SITE))
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    pages = sum(1 for _ in SITE.rglob("*.html"))
    print(f"{pages} pages in {SITE.relative_to(ROOT)}/ after {time.monotonic() - start:.1f} s; "
          f"{len(problems)} problems")  # fmt: skip
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
