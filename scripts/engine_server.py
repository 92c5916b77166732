"""An engine's server as a context manager, for the demo and the tests: see vllm_server.py and lmdeploy_server.py.

It takes a free port, shows progress while it starts, and is always stopped, with its children.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
NAME = "tiny"
START_SECONDS = 300.0
STOP_SECONDS = 20.0
PROGRESS_SECONDS = 5.0

Server = TypeVar("Server", bound="EngineServer")


class ServerError(Exception):
    """The server did not start, or is gone."""


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class EngineServer:
    """An engine's own OpenAI server."""

    first_phase = "the engine is being imported"
    phases: tuple[tuple[str, str], ...] = ()  # what the log shows -> what goes on, the latest first

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        port: int,
        *,
        host: str = "127.0.0.1",
        environment: dict[str, str] | None = None,
        progress: Callable[[str], None] = print,
    ) -> None:
        self.port = port
        self.url = f"http://{host}:{port}/v1"
        self.command = [sys.executable, *command]
        self.log = ROOT / ".cache" / "logs" / f"{name}-{port}.log"
        self._host = host
        self._environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1", **(environment or {})}
        self._progress = progress
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self: Server) -> Server:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        start = time.monotonic()
        with self.log.open("wb") as log:
            # A session of its own: the server has children, and all of them are stopped together.
            self._process = subprocess.Popen(
                self.command,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                cwd=self.log.parent,
                start_new_session=True,
            )
        try:
            self._wait_until_ready(start)
        except BaseException:
            self.stop()
            raise
        self._progress(f"server ready after {time.monotonic() - start:.0f} s")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wait_until_ready(self, start: float) -> None:
        assert self._process is not None
        said = start
        while True:
            if self._process.poll() is not None:
                raise ServerError(f"the server ended, status {self._process.returncode}. {self._evidence()}")
            if self._healthy(self.port):
                return
            now = time.monotonic()
            if now - start > START_SECONDS:
                raise ServerError(f"the server is not up after {START_SECONDS:.0f} s. {self._evidence()}")
            if now - said >= PROGRESS_SECONDS:
                said = now
                self._progress(f"  {now - start:3.0f} s  {self._phase()}")
            time.sleep(0.25)

    def wait_for(self, port: int) -> None:
        """Wait for another server of the same process group, on another port."""
        start = time.monotonic()
        while not self._healthy(port):
            if time.monotonic() - start > START_SECONDS:
                raise ServerError(f"nobody answers on port {port}. {self._evidence()}")
            time.sleep(0.25)

    def _healthy(self, port: int) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self._host}:{port}/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def memory(self) -> tuple[int, int]:
        """Resident bytes of the server's own process, which parses, and of its children."""
        assert self._process is not None
        pages: dict[int, int] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended
                if int((folder / "stat").read_text().rpartition(")")[2].split()[2]) == self._process.pid:
                    pages[int(folder.name)] = int((folder / "statm").read_text().split()[1])
        own = pages.pop(self._process.pid, 0)
        size = os.sysconf("SC_PAGE_SIZE")
        return own * size, sum(pages.values()) * size

    def log_tail(self, lines: int = 40) -> str:
        """The last lines of the server's log."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def _evidence(self) -> str:
        return f"The end of {self.log}:\n{self.log_tail()}"

    def _phase(self) -> str:
        """What the server is doing, from its log."""
        log = self.log.read_text(encoding="utf-8", errors="replace")
        return next((phase for sign, phase in self.phases if sign in log), self.first_phase)

    def stop(self) -> None:
        """Stop the server and its children. A second Ctrl-C does not leave them behind."""
        process, self._process = self._process, None
        if process is None:
            return
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            _signal_group(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=STOP_SECONDS)
            _signal_group(process.pid, signal.SIGKILL)
            process.wait()
        finally:
            signal.signal(signal.SIGINT, before)


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):  # all of them may be gone
        os.killpg(group, number)
