"""The pages of the repository: their code blocks, the commands in them, their links. For the tests of the docs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + [
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "bench").glob("*.md")),
    *sorted((ROOT / "examples").glob("*.md")),
]
SHELL = ("", "sh")  # the languages of blocks that hold commands


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    number: int  # of its line
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.number}"


@dataclass(frozen=True)
class Command:
    """A command of a block: assignments in front of it, its words, and the file that its output goes to."""

    block: Block
    words: tuple[str, ...]
    environment: tuple[str, ...] = ()
    output: str = ""

    def __str__(self) -> str:
        return f"{self.block.page} {' '.join(self.words)}"

    @property
    def engine(self) -> str:
        """Whose server it starts."""
        if self.words[:2] == ("vllm", "serve"):
            return "vllm"
        lmdeploy = self.words[0] == "lmdeploy" or self.words[:3] == ("python", "-m", "toolglot.lmdeploy_plugin")
        return "lmdeploy" if lmdeploy else ""

    @property
    def served(self) -> tuple[str, ...]:
        """What the engine's own command line is given."""
        return self.words[self.words.index("serve") :]

    def option(self, name: str) -> str | None:
        """The value of an option."""
        return self.words[self.words.index(name) + 1] if name in self.words else None


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks() -> Iterator[Block]:
    """All fenced blocks."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in re.finditer(r"^```([a-z]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            yield Block(name_of(page), text[: found.start()].count("\n") + 1, found[1], found[2])


def is_session(block: Block) -> bool:
    """Whether the block shows commands with what they print."""
    return block.language in SHELL and block.text.startswith("$ ")


def commands() -> Iterator[Command]:
    """The commands of all blocks of commands, in their order."""
    for block in blocks():
        if block.language not in SHELL:
            continue
        lines = block.text.replace("\\\n", " ").splitlines()
        if is_session(block):
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        for line in lines:
            words = shlex.split(line, comments=True)
            if words:
                yield _command(block, words)


def _command(block: Block, words: list[str]) -> Command:
    count = next(at for at, word in enumerate(words) if not re.match(r"[A-Z_]+=", word))
    environment, words = words[:count], words[count:]
    output = ""
    if ">" in words:
        at = words.index(">")
        output = words[at + 1]
        words = words[:at]
    return Command(block, tuple(words), tuple(environment), output)


def without_blocks(page: Path) -> str:
    """A page's prose."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def inline_commands() -> Iterator[tuple[str, str]]:
    """Commands of this repository in running text, with their page."""
    for page in PAGES:
        for found in re.findall(r"`((?:make|python|toolglot)\s[^`]+)`", without_blocks(page)):
            yield name_of(page), " ".join(found.split())


def links() -> Iterator[tuple[str, str]]:
    """Where the links and images of each page lead, but for other sites."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", without_blocks(page))):
            if not re.match(r"[a-z]+:", target):
                yield name_of(page), target


def anchors(page: Path) -> set[str]:
    """The anchors that the forge, and the site, make of a page's headings."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", without_blocks(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        number = sum(anchor == slug or re.fullmatch(rf"{slug}-\d+", anchor) is not None for anchor in found)
        found.add(f"{slug}-{number}" if number else slug)
    return found


# The ten models of the quick start: name, dialect, whether it thinks, whether LMDeploy serves it, architecture.
QUICKSTART_MODELS: list[tuple[str, ...]] = re.findall(
    r"^\| (\S+/\S+) \| `(\w+)` \| (yes|no) \| (yes|no) \| `(\w+)` \|$",
    (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
