"""Two shapes of calls that several families share, each with markers of its own."""

from ..spec import Call, CallBlock, Edge, Pop, Push, Region, Sink, Skip, Tagged, on


def pairs(
    tag: str, *, head: str, argument: str, framing: int, pad: tuple[str, str] = ("", ""), confirm: bool = True
) -> tuple[Edge, ...]:
    """The openers of a family that writes a name, then pairs of key and value, between ``<tag>`` and ``</tag>``.

    ``framing``: newlines in front of a call. A closer written twice is skipped.
    """
    opener, closer = f"<{tag}>", f"</{tag}>"
    call = Tagged(head=head, argument=argument, tail="", around=(opener, closer))
    block = CallBlock(call, close=(closer,), pad=pad, confirm=confirm)
    return on(Call(block), opener, trim=(framing, 0)), on(Skip(), closer, at="after_call")


def wrapped(
    call: Tagged,
    *,
    framing: int,
    between: str = "",
    pad: tuple[str, str] = ("", ""),
    repeat: bool = False,
    also: tuple[Edge, ...] = (),
) -> tuple[tuple[Edge, ...], tuple[Region, ...]]:
    """Openers and regions of a family whose calls stand in the wrapper ``call.around``, which it forgets now and then.

    A call without the wrapper counts only once it goes on behind its head. ``framing``: newlines in front of either.
    ``between``, ``pad`` and ``repeat`` are the section's (see Region), ``also`` is what else may stand in it.
    """
    opener, closer = call.around[:2]
    head = call.head.partition("{name}")[0].rstrip('"')
    openers = (
        on(Push("calls"), opener, trim=(framing, 0)),
        on(Call(CallBlock(call, confirm=True)), head, consume=False, trim=(framing, 0)),
        on(Skip(), closer, at="after_call"),
    )
    inside = (on(Call(CallBlock(call)), head, consume=False), on(Pop(), closer), *also)
    return openers, (Region("calls", Sink.SECTION, inside, between=between, pad=pad, repeat=repeat),)
