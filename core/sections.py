"""Inside a section, outside its calls: blanks, the next call, the closer, or something else.

Before the first call the section is tentative: what is neither (beyond the noise the dialect tolerates) refutes it.
Behind a call, text is held as noise until a call or the closer follows; then it is dropped and counted. If neither
follows in time the section is over, without its closer, and the text is text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .markers import Verdict
from .spec import Pop
from .table import Arc, CompiledRegion

if TYPE_CHECKING:
    from .machine import Machine

NOISE = 256  # characters tolerated behind a call: one bad block must not cost the good ones that follow


def step(machine: Machine, region: CompiledRegion, final: bool) -> bool:
    """Inside a section, outside its calls. False: needs more text."""
    buf = machine.buf
    machine.gap = False
    if not machine.noise:
        arc = region.after_call.after_blanks(buf, final)
        if arc is Verdict.MORE:
            return False
        assert not isinstance(arc, Verdict)
        if arc is not None:
            _marker(machine, arc, buf.pos)
            return True
        if final and region.after_call.begins(buf.text, buf.scan):
            return _ends(machine, final=True)
        if not region.noise and (buf.mark >= 0 or not region.repeat):
            if buf.mark >= 0:
                buf.advance(buf.scan)
            return _ends(machine, final=False)
        machine.noise = True
        if buf.mark < 0:
            buf.mark = buf.pos  # held until a call or the closer follows
            machine.opener = 0
        buf.scan = buf.pos
    tolerated = region.noise or NOISE
    arc = region.matcher.search(buf, final, limit=buf.pos + tolerated + 1)
    noise_end = buf.start if arc is not None else len(buf.text) if final else buf.hold
    if noise_end - buf.pos > tolerated:
        machine.noise = False
        buf.advance(buf.pos + tolerated)
        return _ends(machine, final=False)
    if arc is not None:
        machine.noise = False
        machine.held_noise += buf.start - buf.pos
        if not machine.opener:
            buf.mark = -1
            machine.count_noise()
        _marker(machine, arc, buf.start)
        return True
    if not final:
        return False
    machine.noise = False
    buf.advance(len(buf.text))
    return _ends(machine, final=False)


def _marker(machine: Machine, arc: Arc, start: int) -> None:
    """A marker of the section at ``buf.start``."""
    buf = machine.buf
    do = arc.edge.do
    if isinstance(do, Pop):
        machine.stack.pop()
        buf.advance(buf.end)
        if buf.mark >= 0:  # an empty section
            buf.mark = -1
            machine.count_noise()
        machine.opener = 0
        machine.then = None
        machine.gap = True
        machine.fresh = False
    else:
        machine.take(arc, start, buf.start, buf.end)


def _ends(machine: Machine, final: bool) -> bool:
    """Something other than a call or the closer follows: no section at all, or one without its closer."""
    buf = machine.buf
    if machine.opener:  # no call yet
        if final:
            machine.cut()
            return False
        machine.refute()
        return True
    if buf.mark >= 0:
        buf.advance(buf.mark)
        buf.mark = -1
    else:
        buf.restart()
    machine.stack.pop()
    machine.then = None
    machine.gap = True
    return True
