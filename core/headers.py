"""Headers: text that says what the message behind it is, captured and handed to the dialect's Route.

A header is never shown. Text that cannot begin one (in some families any can) is content at once; a header that is
ended by another marker, or cut by the end of the input, is broken: dropped and counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .head import is_name
from .spec import Call, Goto, Route, Sink
from .table import CompiledRegion

if TYPE_CHECKING:
    from .machine import Machine

LIMIT = 256  # characters of a header


def step(machine: Machine, region: CompiledRegion, final: bool) -> bool:
    """Capture a header and let it decide. False: needs more text."""
    buf = machine.buf
    if machine.fresh and region.header.longest:
        if region.header.stands(buf.text, buf.pos):
            machine.fresh = False
        elif not region.header.begins(buf.text, buf.pos):
            buf.restart()
            machine.enter("plain")
            return True
    arc = region.matcher.search(buf, final, machine.accept, limit=buf.pos + LIMIT + 1)
    end = buf.start if arc is not None else buf.hold
    if end - buf.pos > LIMIT:
        buf.restart()
        machine.enter("plain")
        return True
    if arc is None:
        if final and buf.pos < len(buf.text):
            _broken(machine, len(buf.text))
        return False
    header = buf.text[buf.pos:buf.start]
    do = arc.edge.do
    if not isinstance(do, Route):
        if header:
            _broken(machine, buf.end)
        machine.take(arc, buf.start, buf.start, buf.end)
        return True
    action = do.by(header)
    if header and not region.header.longest and not (isinstance(action, Call) and is_name(header)):
        machine.anomalies["dropped_characters"] += len(header)  # any text, and more than a tool's name
    if isinstance(action, Goto):
        if machine.regions[action.region].sink is Sink.DROPPED:
            machine.anomalies["builtin_tool"] += 1
            _keep(machine, buf.pos)
        buf.advance(buf.end)
        machine.enter(action.region)
        return True
    _call(machine, action, buf.pos, buf.end)
    return True


def _call(machine: Machine, action: Call, start: int, end: int) -> None:
    buf = machine.buf
    if not machine.calls_legal:
        buf.advance(start)
        machine.enter("plain")
        machine.show(machine.stack[-1], buf.text[start:end])
        buf.advance(end)
        return
    machine.restore = [machine.regions["plain"]]
    machine.calls.tentative(textual=True)
    buf.mark = start
    machine.opener = end - start
    machine.plain_opener = False
    machine.after = action.then
    buf.advance(end)
    machine.begin_block(action.block, action.name)


def _keep(machine: Machine, at: int) -> None:
    if not machine.out.visible and machine.buf.kept < 0:
        machine.buf.kept = at


def _broken(machine: Machine, end: int) -> None:
    buf = machine.buf
    machine.anomalies["broken_header"] += 1
    machine.anomalies["dropped_characters"] += end - buf.pos
    _keep(machine, buf.pos)
    buf.advance(end)
