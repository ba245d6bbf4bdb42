"""What is wrong with something that was given, as the command line says it."""
from __future__ import annotations

from typing import Sequence

from ._core import Violation

__all__ = ["InputError", "Violation"]


class InputError(ValueError):
    """Every violation at once, each with its remedy. The command line ends with 30 where this is raised."""

    def __init__(self, file: str, violations: Sequence[Violation], text: str) -> None:
        super().__init__(text)
        self.file = file
        self.violations = list(violations)
