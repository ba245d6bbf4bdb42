"""Plans and simulates distributed training of large models.

    import meshwright as mw
    ranking = mw.plan("gpt2", "h100-80gb-sxm", devices=8, global_batch=64, sequence=1024)
    print(ranking)

Times are seconds, memory is bytes, ratios go from 0 to 1; amounts that are given are text with a unit ("80 GiB", "20 s", "5 %").
What is wrong with an argument or a file is an InputError with every violation and its remedy. The interpreter's lock is released while a function works.
"""
from .api import calibrate, check, compare, diff, plan, simulate, validate
from .errors import InputError, Violation
from ._core import Check, Comparison, Difference, HardwareProfile, Plan, PHASES, Ranking, Simulation, STREAMS, Timeline, Validation

__all__ = ["Check", "Comparison", "Difference", "HardwareProfile", "InputError", "PHASES", "Plan", "Ranking", "STREAMS", "Simulation", "Timeline", "Validation", "Violation",
           "calibrate", "check", "compare", "diff", "plan", "simulate", "validate"]
