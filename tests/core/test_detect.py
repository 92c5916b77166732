"""Finding the dialect: right on every family, or refused with the candidates; never wrong."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import write_docs
from families import CHATML, FAMILIES, HERMES_CALLS, IM_TURN, REFUSED, Family, chatml, lit

from toolglot.core import ConfigurationError, get_dialect, list_dialects
from toolglot.core import registry as dialects
from toolglot.core.chat_template import compile_template
from toolglot.core.detect import detect, reads_back
from toolglot.core.model_files import Model, find_model, read_model
from toolglot.core.probes import probe
from toolglot.core.spec import Dialect, Reasoning, Start

BY_NAME = {family.name: family for family in (*FAMILIES, *REFUSED)}


def names(families: list[Family]) -> list[Any]:
    return [pytest.param(family, id=family.name) for family in families]


@pytest.mark.parametrize("family", names(FAMILIES))
def test_families(family: Family) -> None:
    found = detect(family.model())
    assert found.dialect == (family.dialect if family.certain else None), str(found)
    assert found.reasons
    assert family.dialect in found.candidates


@pytest.mark.parametrize("family", names([family for family in FAMILIES if family.template is not None]))
def test_families_by_their_template_alone(family: Family) -> None:
    found = detect(family.model(vocabulary=False))
    assert found.dialect == (family.dialect if family.alone else None), str(found)


@pytest.mark.parametrize("family", names(REFUSED))
def test_refused(family: Family) -> None:
    for vocabulary in (True, False):
        found = detect(family.model(vocabulary))
        assert found.dialect is None, str(found)
        assert found.reasons and all(found.reasons)


def test_every_dialect_has_a_family() -> None:
    """A new dialect comes with the template or markers of a model that writes it."""
    assert {family.dialect for family in FAMILIES} == set(list_dialects())


def test_candidates_are_named() -> None:
    for family, candidates in (
        ("Hermes calls, a turn of its own", {"granite4", "hermes"}),
        ("Hunyuan's calls, another turn", {"hunyuan_a13b"}),
        ("DeepSeek's tokens, no template", {"deepseek_v3", "deepseek_v31"}),
        ("ChatML without tools, Qwen's tokens", set()),
    ):
        found = detect(BY_NAME[family].model())
        assert candidates <= set(found.candidates), family
        assert ", ".join(found.candidates or ["no candidate"]) in str(found)


# What tells dialects apart


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Registers a dialect for one test."""
    list_dialects()
    monkeypatch.setattr(dialects, "_dialects", dict(dialects._dialects))
    monkeypatch.setattr(dialects, "_aliases", dict(dialects._aliases))
    return dialects.register


def twin(of: str = "hermes", **changes: Any) -> Dialect:
    return replace(get_dialect(of), **{"name": "twin", "aliases": (), **changes})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"start": Start("plain", turn="<|twin|>")}, "its prompt ends in another way"),
        ({"start": Start("reasoning", turn=IM_TURN)}, "its prompt ends in another way"),
        ({"reasoning": None}, ""),
        ({"reasoning": Reasoning("<thought>", "</thought>")}, ""),
        ({"between": ""}, "they part two calls in another way"),
        ({"openers": get_dialect("llama3_json").openers}, ""),
    ],
)
def test_a_twin_is_told_apart(registered: Any, changes: dict[str, Any], reason: str) -> None:
    """Two dialects that differ in one trait, on the template of one of them."""
    registered(twin(**changes))
    found = detect(BY_NAME["Qwen3"].model())
    assert found.dialect == "hermes", str(found)
    if reason:
        assert any(line.startswith("not ") and "twin" in line and reason in line for line in found.reasons), str(found)


def test_a_twin_that_differs_in_nothing(registered: Any) -> None:
    registered(twin())
    found = detect(BY_NAME["Qwen3"].model())
    assert found.dialect is None
    assert found.candidates == ("hermes", "twin")
    assert "nothing tells these apart" in found.reasons


def test_a_second_dialect_with_the_same_tokens(registered: Any) -> None:
    found = detect(BY_NAME["Mistral, no template"].model())
    assert found.dialect == "mistral"
    assert found.reasons == ("its tokenizer has [TOOL_CALLS], of no other dialect",)
    assert found.notes == ("no call could be read back",)
    registered(twin("mistral"))
    found = detect(BY_NAME["Mistral, no template"].model())
    assert (found.dialect, found.candidates) == (None, ("mistral", "twin"))


def test_a_tokenizer_without_the_control_tokens() -> None:
    """The template alone would do; a vocabulary that contradicts it is stronger."""
    family = replace(BY_NAME["Kimi K2"], special=CHATML)
    found = detect(family.model())
    assert found.dialect is None
    assert "<|tool_calls_section_begin|>" in str(found)
    model = family.model()
    assert detect(replace(model, complete=False)).dialect == "kimi_k2"


# Rendering


def test_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Texts of other dialects are no anomalies of a response; those of other threads are."""
    with caplog.at_level(logging.DEBUG, "toolglot"):
        for family in FAMILIES:
            detect(family.model())
    assert not caplog.records


@pytest.mark.parametrize(
    "source",
    [
        "{{ raise_exception('never') }}",
        "{{ messages[0].nosuch.further }}",
        "{% for m in messages %}{{ m.content.upper() + 1 }}{% endfor %}",
        "",
        "always the same",
        "{{ messages }}",
        "{{ tools }}{{ messages[-1].tool_calls }}",
    ],
)
def test_odd_templates(source: str) -> None:
    found = detect(Model(template=source, render=compile_template(source, {})))
    assert found.dialect is None
    assert found.reasons


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update({'role': 'system'}) }}",
        "{{ cycler.__init__.__globals__.os.getcwd() }}",
    ],
)
def test_the_sandbox(source: str) -> None:
    """A template reaches nothing but what it is given, and changes nothing."""
    render = compile_template(source, {})
    messages = [{"role": "user", "content": "Hello"}]
    with pytest.raises(Exception, match=r"unsafe|undefined"):
        render(messages, None, True)
    assert messages == [{"role": "user", "content": "Hello"}]


def test_rendered_as_by_transformers() -> None:
    source = (
        "{{ bos_token }}\n{% for m in messages %}\n    {% if loop.index > 1 %}{% break %}{% endif %}\n"
        "{% generation %}{{ m.content }}{% endgeneration %}\n{% endfor %}\n{{ tools | tojson(indent=1) }}"
        "{{ strftime_now('%Y') | length }}{{ add_generation_prompt }}{{ '<é>' | tojson }}"
    )
    messages = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    text = compile_template(source, {"bos_token": "<s>"})(messages, [{"x": 1}], True)
    assert text == '<s>\na[\n {\n  "x": 1\n }\n]4True"<é>"'


def test_a_template_that_is_none() -> None:
    with pytest.raises(ConfigurationError, match="cannot be compiled"):
        compile_template("{% if %}", {})


def test_the_response_is_cut_out() -> None:
    """Header and end of the turn are not part of a probe; a prompt may have opened what the history does not show."""
    template = chatml(HERMES_CALLS, lit(IM_TURN + "<think>\n"))
    found = probe(compile_template(template, {}))
    (item,) = {(item.header, item.text) for item in found.written[0] if '{"query"' in item.text}
    assert item == (IM_TURN, '<tool_call>\n{"name": "look_up", "arguments": {"query": "Rome, Italy", "limit": 3}}\n'
                             "</tool_call>")  # fmt: skip


def test_reads_back_is_exact() -> None:
    item = probe(compile_template(chatml(HERMES_CALLS), {})).written[0][0]
    hermes = get_dialect("hermes")
    assert reads_back(hermes, item) and reads_back(hermes, item, exact=True)
    for text in (
        item.text.replace("3", '"3"'),
        item.text.replace("look_up", "look"),
        item.text + "<|other|>",
        "Well, " + item.text,
        item.text + item.text,
        item.text[:-15],
    ):
        assert not reads_back(hermes, replace(item, text=text)), text
    assert reads_back(hermes, replace(item, text="\n\n" + item.text))
    assert not reads_back(hermes, replace(item, text="I will look that up. " + item.text), exact=True)


# A model's files


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return folder


QWEN = BY_NAME["Qwen2.5"].template
ADDED = {"0": {"content": "<tool_call>", "special": False}, "1": {"content": "<|im_end|>", "special": True}}


@pytest.mark.parametrize(
    "files",
    [
        {"tokenizer_config.json": {"chat_template": QWEN, "added_tokens_decoder": ADDED}},
        {"tokenizer_config.json": {"added_tokens_decoder": ADDED}, "chat_template.jinja": QWEN},
        {"tokenizer_config.json": {"added_tokens_decoder": ADDED}, "chat_template.json": {"chat_template": QWEN}},
        {"tokenizer_config.json": {"added_tokens_decoder": ADDED, "chat_template": [
            {"name": "default", "template": "no tools"}, {"name": "tool_use", "template": QWEN}]}},
        {"tokenizer_config.json": {"added_tokens_decoder": ADDED}, "chat_template.jinja": "no tools",
         "additional_chat_templates/tool_use.jinja": QWEN},
    ],
)  # fmt: skip
def test_template_places(tmp_path: Path, files: dict[str, Any]) -> None:
    model = read_model(str(write(tmp_path, files)))
    assert model.template == QWEN
    assert "<tool_call>" in model.vocabulary and not model.complete
    assert model.special == {"<|im_end|>"}
    assert detect(model).dialect == "hermes"


def test_vocabularies(tmp_path: Path) -> None:
    fast = {"added_tokens": [{"content": "[TOOL_CALLS]", "special": True}], "model": {"vocab": {"a": 0}}}
    model = read_model(str(write(tmp_path / "fast", {"tokenizer.json": fast})))
    assert model.complete and model.vocabulary == {"a", "[TOOL_CALLS]"} and model.special == {"[TOOL_CALLS]"}
    assert model.notes == ("there is no chat template",)
    assert detect(model).dialect == "mistral"
    unigram = {"model": {"vocab": [["a", -1.0], ["b", -2.0]]}}
    assert read_model(str(write(tmp_path / "unigram", {"tokenizer.json": unigram}))).vocabulary == {"a", "b"}
    tekken = {"vocab": [], "special_tokens": [{"rank": 9, "token_str": "[TOOL_CALLS]", "is_control": True}]}
    assert detect(read_model(str(write(tmp_path / "tekken", {"tekken.json": tekken})))).dialect == "mistral"


def test_special_tokens_reach_the_template(tmp_path: Path) -> None:
    config = {"bos_token": {"content": "<s>"}, "eos_token": "</s>", "chat_template": "{{ bos_token }}{{ eos_token }}"}
    model = read_model(str(write(tmp_path, {"tokenizer_config.json": config, "vocab.json": {"a": 0}})))
    assert model.render is not None
    assert model.render([], None, False) == "<s></s>"


def test_hugging_face_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    repository = tmp_path / "models--some--model"
    write(repository, {"refs/main": "abc", "snapshots/abc/chat_template.jinja": QWEN, "snapshots/old/x": "y"})
    assert find_model("some/model") == repository / "snapshots" / "abc"
    assert detect(read_model("some/model")).dialect == "hermes"
    with pytest.raises(ConfigurationError, match="downloads nothing"):
        find_model("some/other")


def test_wrong_folders(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no tokenizer files"):
        read_model(str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json is not JSON"):
        read_model(str(write(tmp_path, {"tokenizer.json": "{"})))


def test_without_jinja(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be verified is said, and not guessed."""
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    model = read_model(str(write(tmp_path, {"chat_template.jinja": QWEN})))
    found = detect(model)
    assert found.dialect is None
    assert found.reasons == ("its chat template could not be rendered",)
    assert any("pip install jinja2" in note for note in found.notes)


# The pages made from all this


@pytest.mark.parametrize("page", write_docs.PAGES)
def test_docs_are_up_to_date(page: str) -> None:
    made = write_docs.PAGES[page]()
    assert (write_docs.ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") == made, "run scripts/write_docs.py"
