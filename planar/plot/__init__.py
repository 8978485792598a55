"""Pictures: ``pl.plot.mechanism(m)``, ``.trace``, ``.reactions``, ``.effort``, ``.energy``, ``.motion``, ``.modes``.

All take ``ax`` and return the axes they drew on; without it they make a figure outside pyplot, which nobody has to close:

    ax = pl.plot.reactions(inv, B)[0]
    ax.figure.savefig("B.pdf")

Nothing is shown or written unasked; in a notebook the returned axes show themselves.  matplotlib is imported by the first
call, not with `planar`.
"""

from planar.plot.curves import effort, energy, motion, reactions, trace
from planar.plot.mechanism import mechanism
from planar.plot.modes import modes
