"""Thousands of responses through vLLM's parser objects in one process, 200 at a time, some of them cancelled."""

from __future__ import annotations

from functools import cache
from typing import Any

import soak
from driving import ask, joined, parser_for
from written import written


def test_soak(tokenizer: Any) -> None:
    @cache
    def asked(dialect: str) -> Any:
        line = {"tools": soak.tools(dialect), "options": written(dialect).options}
        found = ask(dialect, line, tokenizer)
        assert found is not None
        return found

    class Open:
        """One response, as vLLM's serving class parses it."""

        def __init__(self, stream: soak.Stream) -> None:
            self._asked = asked(stream.dialect)
            self._request = self._asked.request.model_copy(deep=True)
            self._parser = parser_for(stream.dialect, self._request.tools, **self._asked.options)
            self._messages: list[Any] = []

        def feed(self, chunk: str, finished: bool = False) -> None:
            prompt = self._asked.prompt
            message = self._parser.parse_delta(chunk, [1], self._request, prompt_token_ids=prompt, finished=finished)
            self._messages += [message] if message is not None else []

        def finish(self) -> tuple[str, list[tuple[str, str]]]:
            self.feed("", finished=True)
            result = joined(self._messages)
            return f"{result.content}{result.reasoning}", result.calls

    finished, cancelled, grown = soak.growth(Open)
    soak.report("vLLM", finished, cancelled, grown)
    assert finished + cancelled == soak.STREAMS and cancelled > soak.STREAMS // 5
    assert grown < soak.GROWTH
