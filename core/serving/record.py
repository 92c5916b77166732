"""Recording responses for `toolglot replay`: a debug switch, off unless TOOLGLOT_RECORD names a file.

What the core was fed, chunk by chunk, and what it gave back go into that file, one line a response, when the
response is over; a response that a client breaks off is not recorded. The text is what the core sees: special tokens
that the plugin takes out are gone already. The file is readable by its owner only, and stops growing at LIMIT bytes.
Several processes may write to one file. Recording never costs a response: what goes wrong is logged once.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..deltas import Delta
from ..recording import OPTIONS, Recording, to_json
from ..response import ResponseParser
from ..spec import Dialect
from .settings import RECORD

__all__ = ["LIMIT", "LONGEST", "Recorder", "notice", "open_parser"]

LIMIT = 64 << 20  # bytes of the file
LONGEST = 4 << 20  # characters of one response; what comes later is left out

logger = logging.getLogger("toolglot.record")


def notice(path: str) -> str:
    """What is said at start-up."""
    return (
        f"toolglot: {RECORD} is set: what models write, and the tools of requests, is recorded in {path} "
        f"(up to {LIMIT >> 20} MiB)"
    )


def open_parser(
    dialect: str | Dialect,
    *,
    engine: str,
    record: str = "",
    report: Callable[[str], object] = logger.error,
    **options: Any,
) -> ResponseParser:
    """The core for one response. It is recorded where ``record`` names a file; ``report`` takes what goes wrong."""
    if not record:
        return ResponseParser(dialect, **options)
    return _RecordedParser(dialect, recorder=_recorder(record, engine, report), **options)


class Recorder:
    """Appends recordings to a file."""

    def __init__(self, path: str, engine: str, report: Callable[[str], object], limit: int = LIMIT) -> None:
        self._path = path
        self._report = report
        self._limit = limit
        self._over = False
        self.engine = engine
        try:
            self.toolglot = version("toolglot")
        except PackageNotFoundError:
            self.toolglot = ""

    def write(self, recording: Recording) -> None:
        """Append a recording, unless the file is full. Never raises."""
        if self._over:
            return
        try:
            self._append(to_json(recording).encode("ascii") + b"\n")
        except Exception as error:
            what = error if isinstance(error, OSError) else type(error).__name__  # others may quote the response
            self._stop(f"cannot record into {self._path}: {what}")

    def _append(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
            flags |= getattr(os, name, 0)
        file = os.open(self._path, flags, 0o600)
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise OSError("it is no plain file")
            if status.st_mode & 0o077 and os.name == "posix":
                os.fchmod(file, 0o600)
            if status.st_size + len(line) > self._limit:
                self._stop(f"{self._path} is full: nothing more is recorded")
            else:
                os.write(file, line)
        finally:
            os.close(file)

    def _stop(self, what: str) -> None:
        self._over = True
        self._report(f"toolglot: {what}")


@cache
def _recorder(path: str, engine: str, report: Callable[[str], object]) -> Recorder:
    return Recorder(path, engine, report)


class _RecordedParser(ResponseParser):
    """The parser, taking notes."""

    def __init__(
        self,
        dialect: str | Dialect,
        tools: Sequence[Mapping[str, Any]] | None = None,
        *,
        recorder: Recorder,
        **options: Any,
    ) -> None:
        super().__init__(dialect, tools, **options)
        self._recorder = recorder
        self._size = 0
        self._written = False
        self._notes = Recording(
            self.dialect.name,
            None if tools is None else list(tools),
            {name: options[name] for name in OPTIONS if options.get(name) is not None},
            engine=recorder.engine,
            toolglot=recorder.toolglot,
            time=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )

    def feed(self, text: str, controls: Sequence[tuple[int, int]] | None = None) -> list[Delta]:
        """See ResponseParser."""
        deltas = super().feed(text, controls)
        self._note(text, controls, deltas)
        return deltas

    def finish(self, reason: str | None = None) -> list[Delta]:
        """See ResponseParser."""
        deltas = super().finish(reason)
        self._notes.finish_reason = reason
        self._end(deltas)
        return deltas

    def abandon(self, chunk: str = "") -> list[Delta]:
        """See ResponseParser."""
        deltas = super().abandon(chunk)
        self._notes.defect = True
        self._note(chunk, None, deltas)
        self._end([])
        return deltas

    def _note(self, text: str, controls: Sequence[tuple[int, int]] | None, deltas: list[Delta]) -> None:
        notes = self._notes
        self._size += len(text)
        if self._size > LONGEST:
            notes.finished = False
        if not text or not notes.finished:
            return
        at = len(notes.chunks)
        notes.chunks.append(text)
        notes.deltas += ((at, delta) for delta in deltas)
        if controls is not None:
            notes.controls[at] = list(controls)

    def _end(self, deltas: list[Delta]) -> None:
        notes = self._notes
        if self._written:
            return
        self._written = True
        if notes.finished:
            notes.deltas += ((len(notes.chunks), delta) for delta in deltas)
        notes.anomalies = {kind: count for kind, count in self.anomalies.items() if count}
        self._recorder.write(notes)
