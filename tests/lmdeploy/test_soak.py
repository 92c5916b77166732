"""Thousands of responses through LMDeploy's parser objects in one process, 200 at a time, some of them cancelled."""

from __future__ import annotations

from functools import cache
from typing import Any

import soak
from lmdeploy_driving import ask, joined
from written import written


def test_soak(tokenizer: Any) -> None:
    @cache
    def asked(dialect: str) -> tuple[Any, Any]:
        line = {"tools": soak.tools(dialect), "options": written(dialect).options}
        found = ask(dialect, line, tokenizer)
        assert found is not None
        parser = found.parser
        # A server has one choice of parsers, on a class; here every dialect has a class of its own.
        choice = {name: getattr(parser, name) for name in ("chosen", "tool_parser_cls", "reasoning_parser_cls")}
        return type(dialect, (parser,), choice), found.request

    class Open:
        """One response, as LMDeploy's ChatRunner parses it."""

        def __init__(self, stream: soak.Stream) -> None:
            parser, request = asked(stream.dialect)
            self._parser = parser(request)
            self._emitted: list[Any] = []

        def feed(self, chunk: str) -> None:
            self._emitted += self._parser.stream_chunk(chunk, [1], final=False)

        def finish(self) -> tuple[str, list[tuple[str, str]]]:
            self._emitted += self._parser.stream_chunk("", [], final=True)
            result = joined(self._emitted)
            return f"{result.content}{result.reasoning}", result.calls

    finished, cancelled, grown = soak.growth(Open)
    soak.report("LMDeploy", finished, cancelled, grown)
    assert finished + cancelled == soak.STREAMS and cancelled > soak.STREAMS // 5
    assert grown < soak.GROWTH
