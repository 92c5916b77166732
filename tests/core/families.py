"""Chat templates and markers of model families, rebuilt from public facts: what detection is tested with.

A template here writes turns and calls as the family's does; it leaves out what detection does not look at (the wording
of instructions, dates, media). It is built from pieces, so that a family is what differs: how a turn begins and ends,
how a call is spelled, what the generation prompt opens. ``source`` names where the facts are from. ``dialect`` is None
for models that detection must refuse.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from toolglot.core.chat_template import compile_template
from toolglot.core.model_files import Model

NAME = "{{ f.name }}"
ARGUMENTS = "{{ f.arguments if f.arguments is string else f.arguments | tojson }}"
VALUE = "{{ v if v is string else v | tojson }}"
PYTHON_VALUE = "{{ v }}"
SAID = "{{ m.content or '' }}"
THOUGHT = "{% set thought = m.reasoning_content or '' %}"


def lit(text: str) -> str:
    """Text that jinja leaves as it is."""
    return "{{ " + json.dumps(text, ensure_ascii=False) + " }}"


def calls(one: str, between: str = "", before: str = "", after: str = "") -> str:
    """All calls of a message."""
    return (
        f"{{% if m.tool_calls %}}{before}{{% for t in m.tool_calls %}}{{% set f = t.function %}}"
        f"{{% if not loop.first %}}{between}{{% endif %}}{one}{{% endfor %}}{after}{{% endif %}}"
    )


def pairs(one: str, between: str = "") -> str:
    """All arguments of a call."""
    return (
        "{% for k, v in f.arguments.items() %}"
        f"{{% if not loop.first %}}{between}{{% endif %}}{one}{{% endfor %}}"
    )


def keyed(gap: str, end: str) -> str:
    """All arguments of a call, as GLM writes them: ``gap`` inside a pair, ``end`` behind it."""
    return pairs(lit("<arg_key>") + "{{ k }}" + lit(f"</arg_key>{gap}<arg_value>") + VALUE + lit(f"</arg_value>{end}"))


def chat(
    assistant: str,
    calls: str,
    end: str,
    *,
    user: str,
    user_end: str | None = None,
    generation: str | None = None,
    body: str = SAID,
    tools: str = "Tools:",
    first: str = "",
) -> str:
    """A template: ``first``, the tools, then turn by turn; ``generation`` is the generation prompt."""
    closing = lit(end if user_end is None else user_end)
    listed = "{% for t in tools %}{{ '\\n' ~ (t | tojson) }}{% endfor %}"
    shown = f"{{% if tools %}}{lit(user + tools)}{listed}{closing}{{% endif %}}" if tools else ""
    return (
        f"{lit(first)}{shown}{{% for m in messages %}}{{% if m.role == 'assistant' %}}{lit(assistant)}{body}{calls}"
        f"{lit(end)}{{% else %}}{lit(user)}{{{{ m.content }}}}{closing}{{% endif %}}{{% endfor %}}"
        f"{{% if add_generation_prompt %}}{lit(assistant) if generation is None else generation}{{% endif %}}"
    )


def chatml(calls: str, generation: str | None = None, body: str = SAID, tools: str = "Tools:") -> str:
    """ChatML, as Qwen and many others write it."""
    return chat("<|im_start|>assistant\n", calls, "<|im_end|>\n", user="<|im_start|>user\n", generation=generation,
                body=body, tools=tools)  # fmt: skip


def switched(turn: str, name: str, on: str, off: str, default: str = "true") -> str:
    """A generation prompt with a switch for reasoning."""
    return f"{lit(turn)}{{% if {name} | default({default}) %}}{lit(on)}{{% else %}}{lit(off)}{{% endif %}}"


@dataclass(frozen=True)
class Family:
    """One model family, or one template of it.

    ``special`` and ``plain``: tokens that detokenizers leave out, and others. ``certain``: whether its dialect can be
    told with its vocabulary, ``alone``: by its template alone; else detection must refuse.
    """

    name: str
    dialect: str | None
    source: str
    template: str | None
    special: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    certain: bool = True
    alone: bool = True

    def model(self, vocabulary: bool = True) -> Model:
        """What detection gets to see."""
        special = frozenset((*self.special, "<s>", "</s>")) if vocabulary else frozenset()
        known = special | {*self.plain, "the", "a", "Rome", "{", "}", '"'} if vocabulary else frozenset()
        variables = {"bos_token": "<s>", "eos_token": "</s>"}
        render = None if self.template is None else compile_template(self.template, variables)
        return Model(frozenset(known), vocabulary, special, self.template, render)

    def tokenizer(self) -> Any:
        """A tokenizer of transformers with these tokens and this template, for the engines' tests."""
        from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
        from transformers import PreTrainedTokenizerFast

        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        raw = Tokenizer(models.BPE(vocab={char: number for number, char in enumerate(alphabet)}, merges=[]))
        raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        raw.decoder = decoders.ByteLevel()
        raw.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in self.special])
        raw.add_tokens([AddedToken(text, special=False, normalized=False) for text in self.plain])
        made = PreTrainedTokenizerFast(tokenizer_object=raw, clean_up_tokenization_spaces=False)
        made.chat_template = self.template
        return made


CHATML = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
TOOL_CALL = ("<tool_call>", "</tool_call>")
THINK = ("<think>", "</think>")
KEYED = (*TOOL_CALL, *THINK, "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
DEEPSEEK = ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>")
DEEPSEEK_CALLS = tuple(
    f"<｜tool▁{name}｜>" for name in ("calls▁begin", "calls▁end", "call▁begin", "call▁end", "sep", "outputs▁begin")
)
LLAMA3 = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>", "<|python_tag|>")
KIMI = tuple(
    f"<|{name}|>"
    for name in ("tool_calls_section_begin", "tool_calls_section_end", "tool_call_begin", "tool_call_end",
                 "tool_call_argument_begin", "im_end", "im_user", "im_assistant", "im_system", "im_middle")
)  # fmt: skip
HARMONY = tuple(f"<|{name}|>" for name in ("start", "end", "message", "channel", "constrain", "return", "call"))
GIGACHAT = ("<|message_sep|>\n\n", "<|role_sep|>\n")
INKLING = tuple(
    f"<|{name}|>"
    for name in ("message_model", "message_user", "end_message", "content_text", "content_thinking",
                 "content_invoke_tool_json", "content_invoke_tool_text", "content_model_end_sampling")
)  # fmt: skip
COHERE_TURN = "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"
COHERE = tuple(
    f"<|{name}|>"
    for name in ("START_OF_TURN_TOKEN", "END_OF_TURN_TOKEN", "CHATBOT_TOKEN", "USER_TOKEN", "START_THINKING",
                 "END_THINKING", "START_ACTION", "END_ACTION", "START_RESPONSE", "END_RESPONSE")
)  # fmt: skip
GRANITE = ("<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>")

JSON_CALL = lit('{"name": "') + NAME + lit('", "arguments": ') + ARGUMENTS + lit("}")
PARAMETERS_CALL = lit('{"name": "') + NAME + lit('", "parameters": ') + ARGUMENTS + lit("}")
HERMES_CALLS = calls(
    lit("<tool_call>\n") + JSON_CALL + lit("\n</tool_call>"), lit("\n"), "{% if m.content %}{{ '\\n' }}{% endif %}"
)
XML_PAIR = lit("<parameter=") + "{{ k }}" + lit(">\n") + VALUE + lit("\n</parameter>\n")
XML_CALL = (
    lit("<tool_call>\n<function=") + NAME + lit(">\n") + pairs(XML_PAIR) + lit("</function>\n</tool_call>")
)
QWEN_THOUGHT = THOUGHT + "{% if thought %}" + lit("<think>\n") + "{{ thought }}" + lit("\n</think>\n\n") + "{% endif %}"
QWEN35_BODY = THOUGHT + lit("<think>\n") + "{{ thought }}" + lit("\n</think>\n\n") + SAID
GAP = "{% if m.content %}" + lit("\n\n") + "{% endif %}"
IF_OFF = "{% if enable_thinking is defined and not enable_thinking %}"
QWEN3_OFF = IF_OFF + lit("<think>\n\n</think>\n\n") + "{% endif %}"
IM_TURN = "<|im_start|>assistant\n"



def cohere(before: str, after: str, reasoning: bool = False) -> str:
    """Command: the tags around an answer, and whether the prompt opens the reasoning."""
    one = (
        lit('    {"tool_call_id": "') + "{{ loop.index0 }}" + lit('", "tool_name": "') + NAME + lit('", "parameters": ')
        + ARGUMENTS + lit("}")
    )  # fmt: skip
    thought = lit("<|START_THINKING|>") + "{{ thought }}" + lit("<|END_THINKING|>")
    return chat(COHERE_TURN, calls(one, lit(",\n"), lit("<|START_ACTION|>[\n"), lit("\n]<|END_ACTION|>")),
                "<|END_OF_TURN_TOKEN|>", user="<|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
                body=THOUGHT + "{% if m.tool_calls %}" + thought + "{% else %}" + before + SAID + after + "{% endif %}",
                generation=switched(COHERE_TURN, "reasoning", "<|START_THINKING|>",
                                    "<|START_THINKING|><|END_THINKING|>") if reasoning else None)  # fmt: skip


def hunyuan3(suffix: str) -> str:
    """Hunyuan 3: every marker carries the checkpoint's suffix."""
    one = (
        lit(f"<tool_call{suffix}>") + NAME + lit(f"<tool_sep{suffix}>\n")
        + pairs(lit(f"<arg_key{suffix}>") + "{{ k }}" + lit(f"</arg_key{suffix}>\n<arg_value{suffix}>") + VALUE
                + lit(f"</arg_value{suffix}>\n"))
        + lit(f"</tool_call{suffix}>")
    )  # fmt: skip
    section = calls(one, lit("\n"), lit(f"<tool_calls{suffix}>\n"), lit(f"\n</tool_calls{suffix}>"))
    return chat(f"<｜hy_Assistant{suffix}｜>", section, f"<｜hy_eos{suffix}｜>", user=f"<｜hy_User{suffix}｜>")


def hunyuan3_tokens(suffix: str) -> tuple[str, ...]:
    """Its special tokens."""
    names = ("tool_calls", "tool_call", "arg_key", "arg_value", "think")
    roles = tuple(f"<｜hy_{name}{suffix}｜>" for name in ("Assistant", "User", "eos"))
    return (*roles, *(f"<{slash}{name}{suffix}>" for name in names for slash in ("", "/")), f"<tool_sep{suffix}>")


def deepseek_dsml(block: str, gap: str) -> str:
    """DSML: the word of the block, and what stands in front of the words of the other tags."""
    mark = "｜DSML｜"
    value = "{{ v if v is string else v | tojson }}"
    one = (
        lit(f'<{mark}{gap}invoke name="') + NAME + lit('">\n')
        + pairs(lit(f'<{mark}{gap}parameter name="') + "{{ k }}" + lit('" string="')
                + "{{ 'true' if v is string else 'false' }}" + lit('">') + value + lit(f"</{mark}{gap}parameter>"),
                lit("\n"))
        + lit(f"\n</{mark}{gap}invoke>")
    )  # fmt: skip
    section = calls(one, lit("\n"), lit(f"\n\n<{mark}{block}>\n"), lit(f"\n</{mark}{block}>"))
    return chat("<｜Assistant｜>", section, "<｜end▁of▁sentence｜>", user="<｜User｜>", user_end="",
                first="<｜begin▁of▁sentence｜>", body=THOUGHT
                + "{% if thought %}" + lit("<think>") + "{{ thought }}" + "{% endif %}" + lit("</think>") + SAID,
                generation=switched("<｜Assistant｜>", "thinking", "<think>", "</think>", "false"))  # fmt: skip


FAMILIES = [
    # Hermes: JSON in <tool_call>
    Family("Qwen2.5", "hermes", "Qwen documentation, function calling; Qwen/Qwen2.5-7B-Instruct model card",
           chatml(HERMES_CALLS), CHATML, TOOL_CALL),
    Family("Qwen3", "hermes", "Qwen/Qwen3-8B model card (switching thinking); Qwen documentation, function calling",
           chatml(HERMES_CALLS, lit(IM_TURN) + QWEN3_OFF, QWEN_THOUGHT + SAID), CHATML, (*TOOL_CALL, *THINK)),
    Family("Qwen3-Thinking-2507, QwQ", "hermes", "Qwen/Qwen3-4B-Thinking-2507 model card",
           chatml(HERMES_CALLS, lit(IM_TURN + "<think>\n"), QWEN_THOUGHT + SAID), CHATML, (*TOOL_CALL, *THINK)),
    Family("Hermes 3 (Llama 3.1)", "hermes", "NousResearch/Hermes-3-Llama-3.1-8B model card, prompt format",
           chatml(HERMES_CALLS), ("<|im_start|>", "<|im_end|>", *LLAMA3), TOOL_CALL),
    Family("Granite 4.0", "granite4", "ibm-granite/granite-4.0-h-small model card, tool-calling example",
           chat("<|start_of_role|>assistant<|end_of_role|>", HERMES_CALLS, "<|end_of_text|>\n",
                user="<|start_of_role|>user<|end_of_role|>"), GRANITE, TOOL_CALL),
    Family("ERNIE 4.5 Thinking", "ernie45", "baidu/ERNIE-4.5-21B-A3B-Thinking model card; vLLM's ernie45 parsers",
           chatml(calls(lit("<tool_call>\n") + JSON_CALL + lit("\n</tool_call>\n"), "", lit("\n")),
                  lit(IM_TURN + "<think>\n"),
                  THOUGHT + lit("<think>\n") + "{{ thought }}" + lit("\n</think>\n\n")
                  + "{% if m.content %}" + lit("<response>\n") + SAID + lit("\n</response>\n") + "{% endif %}"),
           CHATML, (*TOOL_CALL, *THINK, "<response>", "</response>")),
    # Qwen XML
    Family("Qwen3-Coder", "qwen3_coder", "Qwen/Qwen3-Coder-30B-A3B-Instruct model card and its published tool parser",
           chatml(calls(XML_CALL, lit("\n"), GAP)), CHATML, TOOL_CALL),
    Family("Qwen3.5", "qwen3_coder", "Qwen/Qwen3.5 model cards; vLLM documentation, tool calling",
           chatml(calls(XML_CALL, lit("\n"), GAP),
                  switched(IM_TURN, "enable_thinking", "<think>\n", "<think>\n\n</think>\n\n"), QWEN35_BODY),
           CHATML, (*TOOL_CALL, *THINK)),
    Family("Nemotron 3 Nano", "qwen3_coder", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B model card (parser qwen3_coder)",
           chatml(calls(XML_CALL + lit("\n"), "", "{% if m.content %}" + lit("\n") + "{% endif %}"),
                  switched(IM_TURN, "enable_thinking", "<think>\n", "<think></think>"),
                  THOUGHT + "{% if thought %}" + lit("<think>\n") + "{{ thought }}" + lit("\n</think>\n") + "{% else %}"
                  + lit("<think></think>") + "{% endif %}" + SAID),
           CHATML, (*TOOL_CALL, *THINK)),
    Family("Step-3.5", "step3p5", "stepfun-ai/Step-3.5-Flash model card; vLLM's step3p5 parsers",
           chatml(calls(XML_CALL), lit(IM_TURN + "<think>\n"),
                  THOUGHT + lit("<think>\n") + "{{ thought }}" + lit("\n</think>\n") + SAID),
           CHATML, (*TOOL_CALL, *THINK)),
    Family("MiMo-V2.6", "mimo", "XiaomiMiMo model cards; xgrammar's builtin tag `mimo`",
           chatml(calls(lit("<tool_call><function=") + NAME + lit(">")
                        + pairs(lit("<parameter=") + "{{ k }}" + lit(">") + VALUE + lit("</parameter>"))
                        + lit("</function></tool_call>")),
                  lit(IM_TURN) + "{% if enable_thinking is defined and not enable_thinking %}"
                  + lit("<think></think>") + "{% endif %}",
                  THOUGHT + lit("<think>") + "{{ thought }}" + lit("</think>") + SAID),
           CHATML, (*TOOL_CALL, *THINK)),
    Family("Seed-OSS", "seed_oss", "ByteDance-Seed/Seed-OSS-36B-Instruct model card",
           chat("<seed:bos>assistant\n",
                calls(lit("\n<seed:tool_call>\n<function=") + NAME + lit(">\n")
                      + pairs(lit("<parameter=") + "{{ k }}" + lit(">") + PYTHON_VALUE + lit("</parameter>\n"))
                      + lit("</function>\n</seed:tool_call>")),
                "<seed:eos>", user="<seed:bos>user\n",
                body=THOUGHT + "{% if thought %}" + lit("<seed:think>") + "{{ thought }}" + lit("</seed:think>\n")
                + "{% endif %}" + SAID),
           ("<seed:bos>", "<seed:eos>", "<seed:think>", "</seed:think>", "<seed:tool_call>", "</seed:tool_call>")),
    # GLM: keys and values
    Family("GLM-4.5, GLM-4.6", "glm45", "zai-org/GLM-4.5 model card; SGLang's glm4_moe detector",
           chat("<|assistant|>",
                calls(lit("\n<tool_call>") + NAME + lit("\n")
                      + pairs(lit("<arg_key>") + "{{ k }}" + lit("</arg_key>\n<arg_value>") + VALUE
                              + lit("</arg_value>\n"))
                      + lit("</tool_call>")),
                "", user="<|user|>\n", first="[gMASK]<sop>",
                generation=lit("<|assistant|>") + "{% if enable_thinking is defined and not enable_thinking %}"
                + lit("\n<think></think>") + "{% endif %}",
                body=THOUGHT + lit("\n<think>") + "{{ thought }}" + lit("</think>")
                + "{% if m.content %}" + lit("\n") + SAID + "{% endif %}"),
           ("[gMASK]", "<sop>", "<|assistant|>", "<|user|>", "<|observation|>", "<|endoftext|>"),
           KEYED),
    Family("GLM-4.7, GLM-5", "glm47", "zai-org/GLM-4.7 model card; xgrammar's builtin tag `glm_4_7`",
           chat("<|assistant|>",
                calls(lit("<tool_call>") + NAME
                      + pairs(lit("<arg_key>") + "{{ k }}" + lit("</arg_key><arg_value>") + VALUE
                              + lit("</arg_value>"))
                      + lit("</tool_call>")),
                "", user="<|user|>", first="[gMASK]<sop>",
                generation=switched("<|assistant|>", "enable_thinking", "<think>", "</think>"),
                body=THOUGHT + "{% if thought %}" + lit("<think>") + "{{ thought }}" + "{% endif %}" + lit("</think>")
                + SAID),
           ("[gMASK]", "<sop>", "<|assistant|>", "<|user|>", "<|observation|>", "<|endoftext|>"),
           KEYED),
    Family("Laguna-XS-2.1, S-2.1", "poolside_v1", "poolside/Laguna-S-2.1 model card; vLLM's poolside_v1 parser",
           chat("<assistant>",
                calls(lit("<tool_call>") + NAME + keyed("", "") + lit("</tool_call>")),
                "</assistant>\n", user="<user>", user_end="</user>\n", first="〈|EOS|〉",
                generation=switched("<assistant>", "enable_thinking", "<think>", "</think>", "false"),
                body=THOUGHT + "{% if thought %}" + lit("<think>") + "{{ thought }}" + "{% endif %}" + lit("</think>")
                + SAID),
           ("〈|EOS|〉",), KEYED),
    Family("Laguna-XS.2", "poolside_v1", "poolside/Laguna-XS.2 model card; Ollama's renderer for Laguna",
           chat("<assistant>\n",
                calls(lit("<tool_call>") + NAME + lit("\n") + keyed("\n", "\n") + lit("</tool_call>\n")),
                "</assistant>\n", user="<user>\n", user_end="\n</user>\n", first="〈|EOS|〉",
                generation=switched("<assistant>\n", "enable_thinking", "<think>", "</think>", "false"),
                body=THOUGHT + "{% if thought %}" + lit("<think>\n") + "{{ thought }}" + lit("\n") + "{% endif %}"
                + lit("</think>\n") + "{% if m.content %}" + SAID + lit("\n") + "{% endif %}"),
           ("〈|EOS|〉",), KEYED),
    Family("Ling 3", "ling3", "inclusionAI/Ling-3.0-flash model card; ms-swift's agent template for Ling 3",
           chat("<role>ASSISTANT</role>\n",
                calls(lit("<tool_call>") + NAME + keyed("\n", "") + lit("\n</tool_call>"), lit("\n"),
                      "{% if m.content %}" + lit("\n") + "{% endif %}"),
                "<|role_end|>", user="<role>HUMAN</role>",
                generation=switched("<role>ASSISTANT</role>\n", "enable_thinking", "<think>", "<think></think>"),
                body=THOUGHT + lit("<think>") + "{{ thought }}" + lit("</think>") + SAID),
           ("<role>", "</role>", "<|role_end|>"), KEYED),
    Family("Spark-X2.5", "spark25", "XHToken/Spark-X2.5-4B model card; SGLang's spark25 parser",
           chat("<|Bot|>",
                calls(lit("<tool_call>") + NAME + lit("\n") + keyed("", "\n") + lit("</tool_call>"), lit("\n")),
                "<｜end▁of▁sentence｜>", user="<|User|>",
                generation=switched("<|Bot|>", "enable_thinking", "<think>", "<think></think>"),
                body=THOUGHT + lit("<think>") + "{{ thought }}" + lit("</think>") + SAID),
           ("<|Bot|>", "<|User|>", "<｜end▁of▁sentence｜>"), KEYED),
    Family("IQuest-Q1", "iquest_q1", "IQuestLab/IQuest-Q1 model card; SGLang's iquest_q1 parser",
           chat("<|iquest_assistant|>",
                calls(lit("<iquest_tool_call>") + NAME + keyed("", "") + lit("</iquest_tool_call>")),
                "<|iquest_end|>", user="<|iquest_user|>",
                generation=switched("<|iquest_assistant|>", "enable_thinking", "<think>", "<think></think>"),
                body=THOUGHT + lit("<think>") + "{{ thought }}" + lit("</think>") + SAID),
           ("<|iquest_assistant|>", "<|iquest_user|>", "<|iquest_end|>", "<iquest_tool_call>", "</iquest_tool_call>"),
           THINK),
    Family("LongCat-Flash-Chat", "longcat", "meituan-longcat/LongCat-Flash-Chat model card",
           chat(" ASSISTANT:",
                calls(lit("<longcat_tool_call>\n") + JSON_CALL + lit("\n</longcat_tool_call>"), lit("\n")),
                "</longcat_s>", user="[Round 0] USER:", user_end=""),
           ("<longcat_s>", "</longcat_s>", "<longcat_tool_call>", "</longcat_tool_call>"), alone=False),
    Family("LongCat-Flash-Thinking-2601", "longcat", "LongCat-Flash-Thinking-2601 model card; mlx-lm's parser",
           chat("<longcat_assistant>",
                calls(lit("<longcat_tool_call>") + NAME + lit("\n")
                      + pairs(lit("<longcat_arg_key>") + "{{ k }}" + lit("</longcat_arg_key>\n<longcat_arg_value>")
                              + VALUE + lit("</longcat_arg_value>\n"))
                      + lit("</longcat_tool_call>"), lit("\n")),
                "</longcat_s>", user="<longcat_user>", user_end="",
                generation=switched("<longcat_assistant>", "enable_thinking", "<longcat_think>\n",
                                    "<longcat_think>\n\n</longcat_think>\n"),
                body=THOUGHT + "{% if thought %}" + lit("<longcat_think>\n") + "{{ thought }}"
                + lit("\n</longcat_think>\n") + "{% endif %}" + SAID),
           ("</longcat_s>", "<longcat_user>", "<longcat_assistant>", "<longcat_tool_call>", "</longcat_tool_call>",
            "<longcat_think>", "</longcat_think>")),
    Family("K2-Horizon", "k2_horizon", "IFM/K2-Horizon-7B model card; vLLM's and SGLang's k2_horizon parsers",
           chat("<|ifm|im_start|>assistant\n",
                calls(lit("<ifm|tool_call>") + NAME + lit("\n")
                      + pairs(lit("<ifm|arg_key>") + "{{ k }}" + lit("</ifm|arg_key>\n<ifm|arg_value>") + VALUE
                              + lit("</ifm|arg_value>\n"))
                      + lit("</ifm|tool_call>\n"), "", lit("<ifm|tool_calls>\n"), lit("</ifm|tool_calls>")),
                "<|ifm|im_end|>\n", user="<|ifm|im_start|>user\n", first="<|ifm|begin_of_text|>",
                generation=lit("<|ifm|im_start|>assistant\n<ifm|think>\n"),
                body=THOUGHT + lit("<ifm|think>\n") + "{{ thought }}" + lit("</ifm|think>\n") + SAID),
           ("<|ifm|im_start|>", "<|ifm|im_end|>", *(f"<{slash}ifm|{name}>" for slash in ("", "/")
            for name in ("think", "think_fast", "think_faster", "tool_calls", "tool_call", "arg_key", "arg_value")))),
    Family("dots3", "dots", "dots-studio/dots3-note-prev model card; vLLM's dots parser",
           chat("<|response|>",
                calls(lit('<invoke name="') + NAME + lit('">\n')
                      + pairs(lit('<parameter name="') + "{{ k }}" + lit('">') + VALUE + lit("</parameter>\n"))
                      + lit("</invoke>\n"), "",
                      "{% if m.content %}" + lit("\n") + "{% endif %}" + lit("<dots_function_call>\n"),
                      lit("</dots_function_call>")),
                "<|endofresponse|>", user="<|userprompt|>", user_end="<|endofuserprompt|>",
                generation=switched("<|response|>", "enable_thinking", "", "<think>\n\n</think>\n\n"),
                body=QWEN_THOUGHT + SAID),
           ("<|response|>", "<|endofresponse|>", "<|userprompt|>", "<|endofuserprompt|>")),
    Family("GigaChat 3.5", "gigachat35", "ai-sage/GigaChat3.5-432B-A28B model card; llama.cpp's parser for it",
           chat("assistant<|role_sep|>\n",
                calls(lit('<｜GCML｜invoke name="') + NAME + lit('">\n')
                      + pairs(lit('<｜GCML｜parameter name="') + "{{ k }}" + lit('" string="')
                              + "{{ 'true' if v is string else 'false' }}" + lit('">') + VALUE
                              + lit("</｜GCML｜parameter>\n"))
                      + lit("</｜GCML｜invoke>\n"), "",
                      "{% if m.content %}" + lit("\n\n") + "{% endif %}" + lit("<｜GCML｜tool_calls>\n"),
                      lit("</｜GCML｜tool_calls>")),
                "<|message_sep|>\n\n", user="user<|role_sep|>\n",
                generation=switched("assistant<|role_sep|>\n", "reasoning", "<think>", "", "false"),
                body=THOUGHT + "{% if thought %}" + lit("<think>") + "{{ thought }}" + lit("</think>\n\n")
                + "{% endif %}" + SAID),
           ("<|role_sep|>", "<|message_sep|>", "｜GCML｜"), THINK),
    Family("MiniCPM5", "minicpm5", "openbmb/MiniCPM5-2B model card; vLLM's and SGLang's minicpm5 parsers",
           chatml(calls(lit('<function name="') + NAME + lit('">')
                        + pairs(lit('<param name="') + "{{ k }}" + lit('">')
                                + "{% if v is string and ('<' in v or '&' in v or '\\n' in v) %}" + lit("<![CDATA[")
                                + "{{ v }}" + lit("]]>") + "{% else %}" + VALUE + "{% endif %}" + lit("</param>"))
                        + lit("</function>"), lit("\n"), "{% if m.content %}" + lit("\n") + "{% endif %}"),
                  switched(IM_TURN, "enable_thinking", "<think>\n", "<think>\n\n</think>\n\n"), QWEN_THOUGHT + SAID),
           (*CHATML, "<function", "</function>", "<param", "</param>", "<![CDATA[", "]]>"), THINK),
    Family("EXAONE 4", "exaone", "LGAI-EXAONE/EXAONE-4.0-32B model card; Ollama's renderer for EXAONE 4",
           chat("[|assistant|]\n",
                calls(lit("<tool_call>") + JSON_CALL + lit("</tool_call>"), lit("\n"),
                      "{% if m.content %}" + lit("\n") + "{% endif %}"),
                "[|endofturn|]\n", user="[|user|]\n",
                generation=switched("[|assistant|]\n", "enable_thinking", "<think>\n", "<think>\n\n</think>\n\n",
                                    "false"),
                body=QWEN35_BODY),
           ("[|assistant|]", "[|user|]", "[|endofturn|]"), (*TOOL_CALL, *THINK)),
    Family("Hunyuan 3", "hy_v3", "tencent/Hy3 model card; vLLM's hy_v3 parsers", hunyuan3(":opensource"),
           hunyuan3_tokens(":opensource")),
    Family("Hunyuan 3 preview", "hy_v3", "tencent/Hy3-preview model card: the markers have no suffix", hunyuan3(""),
           hunyuan3_tokens(""), alone=False),
    Family("Hunyuan 4", "hy_v4", "tencent/Hy4-preview model card; vLLM's hy_v4 parsers",
           chat("<｜hy_Assistant:6124c78e｜>",
                calls(lit("<tool_call:6124c78e>") + NAME
                      + pairs(lit("<arg_key:6124c78e>") + "{{ k }}"
                              + lit("</arg_key:6124c78e><arg_value:6124c78e>") + VALUE
                              + lit("</arg_value:6124c78e>"))
                      + lit("</tool_call:6124c78e>"), "", lit("<tool_calls:6124c78e>"),
                      lit("</tool_calls:6124c78e>")),
                "<｜hy_eos:6124c78e｜>", user="<｜hy_User:6124c78e｜>",
                generation=lit("<｜hy_Assistant:6124c78e｜><think:6124c78e>")),
           ("<｜hy_Assistant:6124c78e｜>", "<｜hy_User:6124c78e｜>", "<｜hy_eos:6124c78e｜>",
            *(f"<{slash}{name}:6124c78e>" for slash in ("", "/")
              for name in ("tool_calls", "tool_call", "arg_key", "arg_value", "think")))),
    # invoke and parameter
    Family("MiniMax-M2", "minimax_m2", "MiniMaxAI/MiniMax-M2, tool calling guide",
           chat("]~b]ai\n",
                calls(lit('<invoke name="') + NAME + lit('">\n')
                      + pairs(lit('<parameter name="') + "{{ k }}" + lit('">') + VALUE + lit("</parameter>\n"))
                      + lit("</invoke>\n"), "", lit("\n<minimax:tool_call>\n"), lit("</minimax:tool_call>")),
                "[e~[\n", user="]~b]user\n", first="]~!b[", generation=lit("]~b]ai\n<think>\n"),
                body=THOUGHT + "{% if thought %}" + lit("<think>\n") + "{{ thought }}" + lit("\n</think>\n\n")
                + "{% endif %}" + SAID),
           ("]~b]", "[e~[", "]~!b["), ("<minimax:tool_call>", "</minimax:tool_call>", *THINK)),
    Family("Step3", "step3", "stepfun-ai/step3 model card; vLLM's and SGLang's step3 parsers",
           chat("<|BOT|>assistant\n",
                calls(lit('<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="') + NAME + lit('">\n')
                      + pairs(lit('<steptml:parameter name="') + "{{ k }}" + lit('">') + VALUE
                              + lit("</steptml:parameter>\n"))
                      + lit("</steptml:invoke><｜tool_call_end｜>\n"), "", lit("<｜tool_calls_begin｜>\n"),
                      lit("<｜tool_calls_end｜>")),
                "<|EOT|>", user="<|BOT|>user\n", generation=lit("<|BOT|>assistant\n<think>\n")),
           ("<|BOT|>", "<|EOT|>", "<｜tool_calls_begin｜>", "<｜tool_calls_end｜>", "<｜tool_call_begin｜>",
            "<｜tool_call_end｜>", "<｜tool_sep｜>"), THINK),
    Family("DeepSeek-V3.2", "deepseek_v32", "deepseek-ai/DeepSeek-V3.2, its prompt encoder",
           deepseek_dsml("function_calls", ""), (*DEEPSEEK, *DEEPSEEK_CALLS, "｜DSML｜"), THINK),
    Family("DeepSeek-V4", "deepseek_v4", "deepseek-ai/DeepSeek-V4-Pro, its prompt encoder",
           deepseek_dsml("tool_calls", ""), (*DEEPSEEK, "｜DSML｜"), THINK),
    Family("DeepSeek-V4.1", "deepseek_v41", "deepseek-ai/DeepSeek-V4.1-Flash, its prompt encoder",
           deepseek_dsml(" calls", " "), (*DEEPSEEK, "｜DSML｜"), THINK),
    Family("MiniMax-M3", "minimax_m3", "MiniMaxAI/MiniMax-M3 model card; xgrammar's builtin tag `minimax_m3`",
           chat("]~b]ai\n",
                calls(lit(']<]minimax[>[<invoke name="') + NAME + lit('">')
                      + pairs(lit("]<]minimax[>[<") + "{{ k }}" + lit(">") + VALUE + lit("]<]minimax[>[</") + "{{ k }}"
                              + lit(">"))
                      + lit("]<]minimax[>[</invoke>\n"), "", lit("\n]<]minimax[>[<tool_call>\n"),
                      lit("]<]minimax[>[</tool_call>")),
                "[e~[\n", user="]~b]user\n", first="]~!b[",
                generation=lit("]~b]ai\n") + "{% if thinking_mode == 'enabled' %}" + lit("<mm:think>") + "{% endif %}",
                body=THOUGHT + "{% if thought %}" + lit("<mm:think>") + "{{ thought }}" + lit("</mm:think>")
                + "{% endif %}" + SAID),
           ("]~b]", "[e~[", "]~!b["), ("]<]minimax[>[", "<mm:think>", "</mm:think>")),
    Family("Kimi K3", "kimi_k3", "moonshotai/Kimi-K3, its prompt encoder",
           chat('<|open|>message role="assistant"<|sep|>',
                lit("<|close|>response<|sep|>")
                + calls(lit('<|open|>call tool="') + NAME + lit('" index="') + "{{ loop.index }}" + lit('"<|sep|>')
                        + pairs(lit('<|open|>argument key="') + "{{ k }}" + lit('" type="')
                                + "{{ 'string' if v is string else 'number' }}" + lit('"<|sep|>') + VALUE
                                + lit("<|close|>argument<|sep|>"))
                        + lit("<|close|>call<|sep|>"), "", lit("<|open|>tools<|sep|>"), lit("<|close|>tools<|sep|>")),
                "<|close|>message<|sep|><|end_of_msg|>", user='<|open|>message role="user"<|sep|>',
                user_end="<|close|>message<|sep|><|end_of_msg|>",
                generation=switched('<|open|>message role="assistant"<|sep|>', "thinking", "<|open|>think<|sep|>",
                                    "<|open|>response<|sep|>"),
                body=THOUGHT + lit("<|open|>think<|sep|>") + "{{ thought }}"
                + lit("<|close|>think<|sep|><|open|>response<|sep|>") + SAID),
           ("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>")),
    # a name, then JSON
    Family("DeepSeek-V3, R1", "deepseek_v3", "deepseek-ai/DeepSeek-V3-0324 and R1-0528 repositories, chat template",
           chat("<｜Assistant｜>",
                calls(lit("<｜tool▁call▁begin｜>function<｜tool▁sep｜>") + NAME + lit("\n```json\n") + ARGUMENTS
                      + lit("\n```<｜tool▁call▁end｜>"), lit("\n"), lit("<｜tool▁calls▁begin｜>"),
                      lit("<｜tool▁calls▁end｜>")),
                "<｜end▁of▁sentence｜>", user="<｜User｜>", user_end="", first="<｜begin▁of▁sentence｜>", tools=""),
           (*DEEPSEEK, *DEEPSEEK_CALLS), THINK),
    Family("DeepSeek-V3.1", "deepseek_v31", "deepseek-ai/DeepSeek-V3.1 model card, tool call section",
           chat("<｜Assistant｜>",
                calls(lit("<｜tool▁call▁begin｜>") + NAME + lit("<｜tool▁sep｜>") + ARGUMENTS
                      + lit("<｜tool▁call▁end｜>"), "", lit("<｜tool▁calls▁begin｜>"), lit("<｜tool▁calls▁end｜>")),
                "<｜end▁of▁sentence｜>", user="<｜User｜>", user_end="", first="<｜begin▁of▁sentence｜>",
                body=lit("</think>") + SAID,
                generation=switched("<｜Assistant｜>", "thinking", "<think>", "</think>", "false")),
           (*DEEPSEEK, *DEEPSEEK_CALLS), THINK),
    Family("Kimi K2", "kimi_k2", "moonshotai/Kimi-K2-Instruct, tool call guidance",
           chat("<|im_assistant|>assistant<|im_middle|>",
                calls(lit("<|tool_call_begin|>") + "{{ t.id }}" + lit("<|tool_call_argument_begin|>") + ARGUMENTS
                      + lit("<|tool_call_end|>"), "", lit("<|tool_calls_section_begin|>"),
                      lit("<|tool_calls_section_end|>")),
                "<|im_end|>", user="<|im_user|>user<|im_middle|>"),
           KIMI),
    Family("Kimi K2 Thinking", "kimi_k2", "moonshotai/Kimi-K2-Thinking, chat template",
           chat("<|im_assistant|>assistant<|im_middle|>",
                calls(lit("<|tool_call_begin|>") + "{{ t.id }}" + lit("<|tool_call_argument_begin|>") + ARGUMENTS
                      + lit("<|tool_call_end|>"), "", lit("<|tool_calls_section_begin|>"),
                      lit("<|tool_calls_section_end|>")),
                "<|im_end|>", user="<|im_user|>user<|im_middle|>",
                body=THOUGHT + lit("<think>") + "{{ thought }}" + lit("</think>") + SAID),
           KIMI, THINK),
    Family("Kimi K2.5", "kimi_k2", "moonshotai/Kimi-K2.5 model card, thinking switch",
           chat("<|im_assistant|>assistant<|im_middle|>",
                calls(lit("<|tool_call_begin|>") + "{{ t.id }}" + lit("<|tool_call_argument_begin|>") + ARGUMENTS
                      + lit("<|tool_call_end|>"), "", lit("<|tool_calls_section_begin|>"),
                      lit("<|tool_calls_section_end|>")),
                "<|im_end|>", user="<|im_user|>user<|im_middle|>",
                generation=switched("<|im_assistant|>assistant<|im_middle|>", "thinking", "<think>", "<think></think>"),
                body=THOUGHT + lit("<think>") + "{{ thought }}" + lit("</think>") + SAID),
           KIMI, THINK),
    Family("gpt-oss", "gpt_oss", "OpenAI's Harmony response format, guide",
           chat("<|start|>assistant",
                "{% if m.tool_calls %}{% set f = m.tool_calls[0].function %}" + lit(" to=functions.") + NAME
                + lit("<|channel|>commentary json<|message|>") + ARGUMENTS + lit("<|call|>") + "{% endif %}",
                "", user="<|start|>user<|message|>", user_end="<|end|>",
                body="{% if m.thinking %}" + lit("<|channel|>analysis<|message|>") + "{{ m.thinking }}"
                + lit("<|end|><|start|>assistant") + "{% endif %}{% if not m.tool_calls %}"
                + lit("<|channel|>final<|message|>") + SAID + lit("<|return|>") + "{% endif %}"),
           HARMONY),
    Family("Inkling", "inkling", "vLLM's encoder for thinkingmachines/Inkling",
           chat("",
                calls(lit("<|message_model|>") + NAME + lit("<|content_invoke_tool_json|>{\"name\":\"") + NAME
                      + lit('","args":') + ARGUMENTS + lit("}<|end_message|>")),
                "<|content_model_end_sampling|>", user="<|message_user|><|content_text|>", user_end="<|end_message|>",
                body=THOUGHT + "{% if thought %}" + lit("<|message_model|><|content_thinking|>") + "{{ thought }}"
                + lit("<|end_message|>") + "{% endif %}{% if m.content %}" + lit("<|message_model|><|content_text|>")
                + SAID + lit("<|end_message|>") + "{% endif %}",
                generation=lit("<|message_model|>")),
           INKLING),
    Family("Muse", "muse", "vLLM's example template for meta-models/Muse-Glimmer-30B",
           chat("",
                calls(lit("<|start|>assistant to=") + NAME
                      + lit('<|message|><atem:function_calls>\n<atem:invoke name="') + NAME + lit('">\n')
                      + pairs(lit('<atem:parameter name="') + "{{ k }}" + lit('">') + VALUE
                              + lit("</atem:parameter>\n"))
                      + lit("</atem:invoke>\n</atem:function_calls>")
                      + "{% if loop.last %}" + lit("<|eot|>") + "{% else %}" + lit("<|eom|>") + "{% endif %}"),
                "", user="<|start|>user<|message|>", user_end="<|eot|>",
                body=THOUGHT + "{% if thought %}" + lit("<|start|>assistant to=self<|message|>") + "{{ thought }}"
                + lit("<|eom|>") + "{% endif %}{% if not m.tool_calls %}" + lit("<|start|>assistant to=user<|message|>")
                + SAID + lit("<|eot|>") + "{% endif %}",
                generation=lit("<|start|>assistant")),
           ("<|start|>", "<|message|>", "<|eom|>", "<|eot|>")),
    # JSON with the name inside
    Family("Mistral v3 to v7", "mistral", "mistral-common documentation, tokenizers v3 to v7",
           chat("", calls(JSON_CALL, lit(", "), lit("[TOOL_CALLS] ["), lit("]")), "</s>", user="[INST] ",
                user_end="[/INST]", first="<s>"),
           ("[INST]", "[/INST]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]")),
    Family("Mistral v11, v13", "mistral", "mistral-common documentation, tokenizers v11 and v13",
           chat("", calls(lit("[TOOL_CALLS]") + NAME + lit("[ARGS]") + ARGUMENTS), "</s>", user="[INST]",
                user_end="[/INST]", first="<s>"),
           ("[INST]", "[/INST]", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]")),
    Family("Mistral, no template", "mistral", "mistralai/Devstral-Small-2507: tekken.json and no chat template", None,
           ("[INST]", "[/INST]", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]")),
    Family("Llama 3.1 to 3.3", "llama3_json", "Meta's prompt format pages for Llama 3.1 and 3.3",
           chat("<|start_header_id|>assistant<|end_header_id|>\n\n", calls(PARAMETERS_CALL), "<|eot_id|>",
                user="<|start_header_id|>user<|end_header_id|>\n\n", first="<|begin_of_text|>",
                body="{% if m.tool_calls | default([]) | length > 1 %}{{ raise_exception('one call only') }}{% endif %}"
                "{% if not m.tool_calls %}" + SAID + "{% endif %}"),
           LLAMA3),
    Family("Llama 4, pythonic", "llama4_pythonic", "Meta's prompt format page for Llama 4",
           chat("<|header_start|>assistant<|header_end|>\n\n",
                calls(NAME + lit("(") + pairs("{{ k }}" + lit("=") + "{{ v | tojson }}", lit(", ")) + lit(")"),
                      lit(", "), lit("["), lit("]")),
                "<|eot|>", user="<|header_start|>user<|header_end|>\n\n", first="<|begin_of_text|>",
                body="{% if not m.tool_calls %}" + SAID + "{% endif %}"),
           ("<|begin_of_text|>", "<|header_start|>", "<|header_end|>", "<|eot|>", "<|eom|>", "<|python_start|>",
            "<|python_end|>")),
    Family("Llama 4, numbers in quotes", "llama4_pythonic", "vLLM's example template for Llama 4's pythonic calls",
           chat("<|header_start|>assistant<|header_end|>\n\n",
                calls(NAME + lit("(") + pairs("{{ k }}" + lit('="') + "{{ v }}" + lit('"'), lit(", ")) + lit(")"),
                      lit(", "), lit("["), lit("]")),
                "<|eot|>", user="<|header_start|>user<|header_end|>\n\n", first="<|begin_of_text|>"),
           ("<|begin_of_text|>", "<|header_start|>", "<|header_end|>", "<|eot|>", "<|python_start|>",
            "<|python_end|>")),
    Family("Granite 3.x", "granite", "ibm-granite/granite-3.1-8b-instruct model card; vLLM's granite template",
           chat("<|start_of_role|>assistant<|end_of_role|>",
                calls(JSON_CALL, lit(", "), lit("<|tool_call|>["), lit("]")), "<|end_of_text|>\n",
                user="<|start_of_role|>user<|end_of_role|>"),
           (*GRANITE, "<|tool_call|>")),
    Family("Granite 3.3, calls not rendered", "granite", "ibm-granite/granite-3.3-2b-instruct: tools, no earlier calls",
           chat("<|start_of_role|>assistant<|end_of_role|>", "", "<|end_of_text|>\n",
                user="<|start_of_role|>user<|end_of_role|>"),
           (*GRANITE, "<|tool_call|>"), certain=False, alone=False),
    Family("Granite 20B function calling", "granite_20b_fc", "vLLM's example template for granite-20b-functioncalling",
           chat("\nASSISTANT:", calls(lit("<function_call> ") + JSON_CALL + lit("\n")), "<|endoftext|>",
                user="\nUSER: ", user_end="", generation=lit("\nASSISTANT: "),
                body="{% if not m.tool_calls %}" + lit(" ") + SAID + lit(" ") + "{% endif %}"),
           ("<|endoftext|>",)),
    Family("GigaChat 3", "gigachat3", "ai-sage/GigaChat3-10B-A1.8B model card, chat template",
           chat("assistant<|role_sep|>\n",
                "{% if m.tool_calls %}{% set f = m.tool_calls[0].function %}"
                + lit("<|message_sep|>\n\nfunction call<|role_sep|>\n") + JSON_CALL + "{% endif %}",
                "<|message_sep|>\n\n", user="user<|role_sep|>\n"),
           GIGACHAT),
    Family("GigaChat 3.1", "gigachat31", "the pull requests that brought its parser to vLLM and SGLang",
           chat("assistant<|role_sep|>\n",
                "{% if m.tool_calls %}{% set f = m.tool_calls[0].function %}" + lit("<|function_call|>") + JSON_CALL
                + "{% endif %}",
                "<|message_sep|>\n\n", user="user<|role_sep|>\n"),
           (*GIGACHAT, "<|function_call|>")),
    Family("Command R7B", "cohere_command", "CohereForAI/c4ai-command-r7b-12-2024 chat template, tool_use",
           cohere(lit("<|START_RESPONSE|>"), lit("<|END_RESPONSE|>")), COHERE),
    Family("Command A Reasoning", "cohere_command", "cohere-ai/melody, its cmd3 templates",
           cohere(lit("<|START_RESPONSE|>"), lit("<|END_RESPONSE|>"), reasoning=True), COHERE),
    Family("Command A Plus, North", "cohere_command", "cohere-ai/melody, its cmd4 templates",
           cohere(lit("<|START_TEXT|>"), lit("<|END_TEXT|>"), reasoning=True),
           (*COHERE, "<|START_TEXT|>", "<|END_TEXT|>")),
    Family("Command, cmd5", "cofl", "cohere-ai/melody, its cmd5 template",
           chat(COHERE_TURN,
                calls(lit('<cofl:tool_call id="') + "{{ loop.index0 }}" + lit('" name="') + NAME + lit('">')
                      + pairs(lit('<cofl:tool_param name="') + "{{ k }}" + lit('" string="')
                              + "{{ 'true' if v is string else 'false' }}" + lit('">') + VALUE
                              + lit("</cofl:tool_param>"))
                      + lit("</cofl:tool_call>"), "", lit("<cofl:tool_calls>"), lit("</cofl:tool_calls>")),
                "<|END_OF_TURN_TOKEN|>", user="<|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
                body=THOUGHT + lit("<|START_THINKING|>") + "{{ thought }}" + lit("<|END_THINKING|>")
                + "{% if not m.tool_calls %}" + lit("<|START_TEXT|>") + SAID + lit("<|END_TEXT|>") + "{% endif %}",
                generation=switched(COHERE_TURN, "reasoning", "<|START_THINKING|>",
                                    "<|START_THINKING|><|END_THINKING|>")),
           (*COHERE[:6], "<|START_TEXT|>", "<|END_TEXT|>")),
    Family("PLaMo 3", "plamo3", "vLLM's plamo3 parser; pfnet/plamo-3-nict-2b-base chat template for the turns",
           chat("assistant<|plamo:msg|>",
                calls(lit("<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>") + NAME
                      + lit("<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>")
                      + lit("<|plamo:constrain|>json<|plamo:msg|>") + ARGUMENTS
                      + lit("<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>"), "",
                      lit("<|plamo:begin_tool_requests:plamo|>"), lit("<|plamo:end_tool_requests:plamo|>")),
                "<|plamo:tag|>", user="user<|plamo:msg|>"),
           ("<|plamo:begin_", "<|plamo:end_", ":plamo|>", "<|plamo:tag|>", "<|plamo:msg|>", "<|plamo:constrain|>")),
    Family("InternLM2, Intern-S1", "internlm2", "InternLM repository, chat format document",
           chatml(calls(lit("<|action_start|><|plugin|>\n") + PARAMETERS_CALL + lit("<|action_end|>"), lit("\n"))),
           ("<|im_start|>", "<|im_end|>", "<|action_start|>", "<|action_end|>", "<|plugin|>", "<|interpreter|>")),
    Family("Hunyuan-A13B", "hunyuan_a13b", "tencent/Hunyuan-A13B-Instruct, function calling document",
           chat("<|extra_0|>", calls(JSON_CALL, lit(", "), lit("<tool_calls>["), lit("]</tool_calls>")), "<|eos|>",
                user="<|startoftext|>", user_end="",
                generation=lit("<|extra_0|>") + "{% if enable_thinking is defined and not enable_thinking %}"
                + lit("<think>\n\n</think>\n") + "{% endif %}"),
           ("<|extra_0|>", "<|eos|>", "<|startoftext|>")),
    Family("Jamba 1.5 to 1.7", "jamba", "ai21labs/AI21-Jamba-Large-1.7 model card, tool use; vLLM's jamba parser",
           chat("<|bom|><|assistant|> ",
                calls(JSON_CALL, lit(",\n    "), lit("<tool_calls>[\n    "), lit("\n]</tool_calls>")), "<|eom|>",
                user="<|bom|><|user|> ", first="<|startoftext|>"),
           ("<|bom|>", "<|eom|>", "<|assistant|>", "<|user|>", "<|startoftext|>", "<tool_calls>", "</tool_calls>")),
    Family("Apertus", "apertus", "swiss-ai/Apertus-8B-Instruct-2509 model card; vLLM's apertus parser",
           chat("<|assistant_start|>",
                calls(lit('{"') + NAME + lit('": ') + ARGUMENTS + lit("}"), lit(", "), lit("<|tools_prefix|>["),
                      lit("]<|tools_suffix|>")),
                "<|assistant_end|>", user="<|user_start|>", user_end="<|user_end|>"),
           ("<|assistant_start|>", "<|assistant_end|>", "<|user_start|>", "<|user_end|>", "<|tools_prefix|>",
            "<|tools_suffix|>", "<|inner_prefix|>", "<|inner_suffix|>")),
    Family("xLAM 2 (Qwen)", "xlam", "vLLM's example template for xLAM on Qwen",
           chatml(calls(JSON_CALL, lit(", "), lit("["), lit("]")),
                  body="{% if not m.tool_calls %}" + SAID + "{% endif %}"),
           CHATML, TOOL_CALL),
    Family("xLAM 2 (Llama)", "xlam", "vLLM's example template for xLAM on Llama: the turns of Llama 3",
           chat("<|start_header_id|>assistant<|end_header_id|>\n\n", calls(JSON_CALL, lit(", "), lit("["), lit("]")),
                "<|eot_id|>", user="<|start_header_id|>user<|end_header_id|>\n\n", first="<|begin_of_text|>",
                body="{% if not m.tool_calls %}" + SAID + "{% endif %}"),
           LLAMA3, certain=False, alone=False),
    Family("Phi-4-mini", "phi4_mini", "microsoft/Phi-4-mini-instruct model card; vLLM's template for it",
           chat("<|assistant|>", calls(JSON_CALL, lit(", "), lit("functools["), lit("]")), "<|end|>", user="<|user|>"),
           ("<|assistant|>", "<|user|>", "<|end|>", "<|tool|>", "<|/tool|>", "<|tool_call|>", "<|/tool_call|>")),
    Family("Phi-4-mini, earlier calls in another spelling", "phi4_mini", "vLLM's example template for Phi-4-mini",
           chat("<|assistant|>\n", calls(lit("\n") + JSON_CALL, lit(",")), "<|end|>", user="<|user|>\n",
                tools="Prefix calls with functools, in one JSON list: functools[{...}]"),
           ("<|assistant|>", "<|user|>", "<|end|>", "<|tool|>", "<|/tool|>", "<|tool_call|>", "<|/tool_call|>"),
           certain=False, alone=False),
    # calls as a programming language writes them
    Family("OLMo 3", "olmo3", "allenai/Olmo-3-7B-Instruct model card, tool use",
           chatml(calls(NAME + lit("(") + pairs("{{ k }}" + lit("=") + "{{ v | tojson }}", lit(", ")) + lit(")"),
                        lit("\n"), lit("<function_calls>"), lit("</function_calls>"))),
           CHATML),
    Family("OLMo 3, calls on lines of their own", "olmo3", "vLLM's example template for OLMo 3",
           chatml(calls(NAME + lit("(")
                        + pairs("{{ k }}" + lit("=") + "{% if v is string %}'{{ v }}'{% else %}{{ v }}{% endif %}",
                                lit(", ")) + lit(")"),
                        lit("\n"), lit("<function_calls>\n"), lit("\n</function_calls>")),
                  body="{% if not m.tool_calls %}" + SAID + "{% endif %}"),
           CHATML),
    Family("LFM2.5", "lfm2", "LiquidAI documentation, tool use",
           chatml(calls(NAME + lit("(") + pairs("{{ k }}" + lit("=") + "{{ v | tojson }}", lit(", ")) + lit(")"),
                        lit(", "), lit("<|tool_call_start|>["), lit("]<|tool_call_end|>"))),
           (*CHATML, "<|tool_call_start|>", "<|tool_call_end|>", "<|tool_list_start|>", "<|tool_list_end|>")),
    Family("LFM2, calls not rendered", "lfm2", "LiquidAI/LFM2-8B-A1B model card: tools, no earlier calls",
           chatml(""), (*CHATML, "<|tool_call_start|>", "<|tool_call_end|>", "<|tool_list_start|>"), alone=False),
    Family("Gemma 4", "gemma4", "Google's documentation, function calling with Gemma 4",
           chat("<|turn>model\n",
                calls(lit("<|tool_call>call:") + NAME + lit("{")
                      + pairs("{{ k }}" + lit(":") + "{% if v is string %}" + lit('<|"|>') + "{{ v }}" + lit('<|"|>')
                              + "{% else %}{{ v | tojson }}{% endif %}", lit(",")) + lit("}<tool_call|>")),
                "<turn|>\n", user="<|turn>user\n",
                generation=lit("<|turn>model\n") + "{% if not enable_thinking %}" + lit("<|channel>thought\n<channel|>")
                + "{% endif %}"),
           ("<|turn>", "<turn|>", "<|tool_call>", "<tool_call|>", '<|"|>', "<|channel>", "<channel|>",
            "<|tool_response>")),
    Family("FunctionGemma", "functiongemma", "Google's documentation, FunctionGemma formatting and best practices",
           chat("<start_of_turn>model\n",
                calls(lit("<start_function_call>call:") + NAME + lit("{")
                      + pairs("{{ k }}" + lit(":") + "{% if v is string %}" + lit("<escape>") + "{{ v }}"
                              + lit("<escape>") + "{% else %}{{ v | tojson }}{% endif %}", lit(","))
                      + lit("}<end_function_call>")),
                "<end_of_turn>\n", user="<start_of_turn>user\n"),
           ("<start_of_turn>", "<end_of_turn>", "<start_function_call>", "<end_function_call>", "<escape>",
            "<start_function_response>")),
]  # fmt: skip

# Models that detection must refuse, whatever it can see of them.
REFUSED = [
    Family("ChatML without tools", None, "an ordinary chat model", chatml("", tools=""), CHATML),
    Family("ChatML without tools, Qwen's tokens", None, "a chat model fine-tuned from Qwen3, its tools left out",
           chatml("", tools=""), CHATML, (*TOOL_CALL, *THINK)),
    Family("Llama 2", None, "meta-llama/Llama-2-7b-chat-hf model card, prompt format",
           chat("", "", " </s>", user="<s>[INST] ", user_end=" [/INST]", body=" " + SAID, tools=""), ("[INST]",)),
    Family("Gemma 2", None, "google/gemma-2-2b-it model card, chat template",
           chat("<start_of_turn>model\n", "", "<end_of_turn>\n", user="<start_of_turn>user\n", tools=""),
           ("<start_of_turn>", "<end_of_turn>")),
    Family("R1-Distill, tools not shown", None, "deepseek-ai/DeepSeek-R1-Distill-Llama-8B: DeepSeek's tokens, no calls",
           chat("<｜Assistant｜>", "", "<｜end▁of▁sentence｜>", user="<｜User｜>", user_end="", tools="",
                generation=lit("<｜Assistant｜><think>\n")), (*DEEPSEEK, *DEEPSEEK_CALLS), THINK),
    Family("refuses tools", None, "a template that raises for tools",
           "{% if tools %}{{ raise_exception('no tools') }}{% endif %}" + chatml("", tools=""),
           CHATML),
    Family("ReAct", None, "Action and Action Input, as in the ReAct paper",
           chatml(calls(lit("Action: ") + NAME + lit("\nAction Input: ") + ARGUMENTS)), CHATML),
    Family("functionary v3.2", None, "meetkai/functionary-medium-v3.2 model card, prompt template version v3.llama3",
           chat("<|start_header_id|>assistant<|end_header_id|>\n\n",
                calls(lit(">>>") + NAME + lit("\n") + ARGUMENTS), "<|eot_id|>",
                user="<|start_header_id|>user<|end_header_id|>\n\n", body=""), LLAMA3),
    Family("calls as tojson", None, "a template that prints the list of calls as it is",
           chatml("{{ m.tool_calls | tojson }}", body=SAID), CHATML),
    Family("Hermes calls, a turn of its own", None, "a model that shares Hermes' calls with several dialects",
           chat("ASSISTANT: ", HERMES_CALLS, "</s>\n", user="USER: ", user_end="\n")),
    Family("Hunyuan's calls, another turn", None, "ServiceNow-AI/Apriel-1.5-15b-Thinker model card",
           chat("<|assistant|>\n", calls(JSON_CALL, lit(", "), lit("\n<tool_calls>["), lit("]</tool_calls>")),
                "<|end|>", user="<|user|>\n"), ("<|assistant|>", "<|user|>", "<|end|>")),
    Family("no template, plain tokens", None, "a base model with Qwen's tokens", None, CHATML, (*TOOL_CALL, *THINK)),
    Family("DeepSeek's tokens, no template", None, "several dialects share these tokens", None,
           (*DEEPSEEK, *DEEPSEEK_CALLS), THINK),
    Family("DeepSeek-V3.2's tokens, no template", None, "deepseek-ai/DeepSeek-V3.2: no chat template", None,
           (*DEEPSEEK, *DEEPSEEK_CALLS, "｜DSML｜"), THINK),
    Family("DeepSeek-V4's tokens, no template", None, "deepseek-ai/DeepSeek-V4-Pro: no chat template", None,
           (*DEEPSEEK, "｜DSML｜"), THINK),
    Family("nothing known", None, "neither template nor markers", None),
]  # fmt: skip
