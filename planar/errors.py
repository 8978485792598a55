"""The errors of planar: each message says what, where (by name), the number and the remedy."""

from __future__ import annotations


class PlanarError(Exception):
    """Base class of every error that planar raises on purpose."""


class ModelError(PlanarError, ValueError):
    """All problems of a model at once.

    `problems` is the list of single messages; `str(error)` shows them as a numbered list.
    """

    def __init__(self, problems: str | list[str], title: str = "model"):
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        n = len(self.problems)
        if n == 1:
            text = f"{title}: {self.problems[0]}"
        else:
            lines = "\n".join(f"  {k}. {p}" for k, p in enumerate(self.problems, 1))
            text = f"{title}: {n} problems\n{lines}"
        super().__init__(text)


class AssemblyError(PlanarError):
    """The constraints cannot be closed from the drawn pose."""


class ConvergenceError(PlanarError):
    """An iteration stopped before its tolerance was met."""


class SingularError(PlanarError):
    """A matrix has no full rank where it must have one; the message names the joint."""


class CheckError(PlanarError):
    """A law of mechanics is broken beyond its stated tolerance."""


class PlanarWarning(UserWarning):
    """A result is incomplete or not to be trusted without a look; the message says where and why."""
