"""A model's tokenizer files, read for what detection needs: token texts and chat template. Nothing is loaded or run.

A name (``Qwen/Qwen3-8B``) is looked up in the local Hugging Face cache; nothing is downloaded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .chat_template import Render, compile_template
from .errors import ConfigurationError

__all__ = ["Model", "chosen_template", "find_model", "read_model"]

COMPLETE = ("tokenizer.json", "tekken.json", "vocab.json")


@dataclass(frozen=True, eq=False)
class Model:
    """What is known about a model.

    ``vocabulary``: token texts; ``complete``: whether these are all, so that a missing one means something;
    ``special``: those that a detokenizer leaves out. ``template`` is the chat template's text, ``render`` renders it;
    None where there is none, or it cannot be rendered: ``notes`` say why.
    """

    vocabulary: frozenset[str] = frozenset()
    complete: bool = False
    special: frozenset[str] = frozenset()
    template: str | None = None
    render: Render | None = None
    notes: tuple[str, ...] = ()

    def get_vocab(self) -> frozenset[str]:
        """What a tokenizer calls it."""
        return self.vocabulary


def find_model(path_or_name: str) -> Path:
    """The directory of a model. Raises ConfigurationError where there is none on this machine."""
    path = Path(path_or_name).expanduser()
    if path.is_dir():
        return path
    if path.is_file():
        return path.parent
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    repository = cache / f"models--{path_or_name.replace('/', '--')}"
    reference = repository / "refs" / "main"
    if reference.is_file():
        snapshot = repository / "snapshots" / reference.read_text(encoding="utf-8").strip()
        if snapshot.is_dir():
            return snapshot
    snapshots = sorted((repository / "snapshots").glob("*"), key=lambda found: found.stat().st_mtime)
    if snapshots:
        return snapshots[-1]
    raise ConfigurationError(
        f"{path_or_name!r} is no directory, and no model of that name is in {cache}; toolglot downloads nothing"
    )


def read_model(path_or_name: str) -> Model:
    """What a model's files say. Raises ConfigurationError where there are no tokenizer files, or one is broken."""
    folder = find_model(path_or_name)
    try:
        return _read(folder)
    except (AttributeError, LookupError, TypeError) as error:  # JSON, but not as a tokenizer's files are
        raise ConfigurationError(f"{folder}: its tokenizer files are not as they should be: {error!r}") from error


def _read(folder: Path) -> Model:
    settings = _json(folder / "tokenizer_config.json") or {}
    vocabulary: set[str] = set()
    special: set[str] = set()
    for text, is_special in _tokens(folder, settings):
        vocabulary.add(text)
        if is_special:
            special.add(text)
    template = _template(folder, settings)
    if not vocabulary and template is None:
        raise ConfigurationError(f"{folder} holds no tokenizer files that toolglot reads (tokenizer.json, "
                                 "tokenizer_config.json, tekken.json, chat_template.jinja)")  # fmt: skip
    complete = any((folder / name).is_file() for name in COMPLETE)
    notes = [] if complete else ["its vocabulary is not in a file that toolglot reads, added tokens apart"]
    render = None
    if template is None:
        notes.append("there is no chat template")
    else:
        try:
            render = compile_template(template, _variables(folder, settings))
        except ConfigurationError as error:
            notes.append(str(error))
    return Model(frozenset(vocabulary), complete, frozenset(special), template, render, tuple(notes))


def _json(path: Path) -> Any:
    """A file's object, None where there is no file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigurationError(f"{path} is no JSON object")
    return found


def _tokens(folder: Path, settings: Mapping[str, Any]) -> Iterable[tuple[str, bool]]:
    """Token texts and whether each is special, from every file that may hold some; the same one may come twice."""
    fast = _json(folder / "tokenizer.json") or {}
    vocabulary = (fast.get("model") or {}).get("vocab") or ()
    yield from ((str(piece if isinstance(piece, str) else piece[0]), False) for piece in vocabulary)
    for token in (*fast.get("added_tokens", ()), *(settings.get("added_tokens_decoder") or {}).values()):
        yield str(token["content"]), bool(token.get("special"))
    yield from ((text, False) for text in _json(folder / "added_tokens.json") or ())
    yield from ((text, False) for text in _json(folder / "vocab.json") or ())
    tekken = _json(folder / "tekken.json") or {}
    yield from ((str(token["token_str"]), True) for token in tekken.get("special_tokens") or ())


def _template(folder: Path, settings: Mapping[str, Any]) -> str | None:
    """The chat template for tools, by the places where transformers keeps it."""
    for path in (folder / "additional_chat_templates" / "tool_use.jinja", folder / "chat_template.jinja"):
        if path.is_file():
            try:
                return path.read_text(encoding="utf-8")
            except UnicodeDecodeError as error:
                raise ConfigurationError(f"{path} is no UTF-8 text: {error}") from error
    found = (_json(folder / "chat_template.json") or {}).get("chat_template") or settings.get("chat_template")
    return chosen_template(found)


def chosen_template(found: Any) -> str | None:
    """One template of several: the one for tools, else the default."""
    if isinstance(found, (list, tuple)):
        found = {entry["name"]: entry["template"] for entry in found}
    if isinstance(found, Mapping):
        found = found.get("tool_use") or found.get("default")
    return found if isinstance(found, str) else None


def _variables(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The special tokens by name, as a template sees them."""
    both = {**settings, **(_json(folder / "special_tokens_map.json") or {})}
    texts = {name: value.get("content") if isinstance(value, dict) else value for name, value in both.items()}
    return {name: text for name, text in texts.items() if name.endswith("_token") and isinstance(text, str)}
