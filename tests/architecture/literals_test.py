"""Efficiencies are data: the code of sim/clock holds counts of passes and bytes, whole or half, and fractions only where a line below says why.
All others stand in profiles/, with where each comes from.
"""
import re
import unittest

import house

FRACTION = re.compile(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?(?![\w.])")
KNOWN = {
    ("spread.cpp", "1.2816"): "standard deviations to either side that hold 80 % of a normal distribution",
    ("operator_clock.cpp", "1.6"): "passes of a norm's backward over those of its forward, counted",
}


def fractions(text):
    """Literals that are no multiple of a half."""
    return [literal for literal in FRACTION.findall(house.code(text)) if float(literal) * 2 % 1]


class Literals(unittest.TestCase):
    def test_fractions_are_data(self):
        found = {(path.name, literal) for path in house.sources((".cpp",)) if path.parts[:2] == ("sim", "clock") and not path.name.endswith("_json.cpp")
                 for literal in fractions(house.text(path))}
        self.assertEqual(found, set(KNOWN))


class TheTestCanFail(unittest.TestCase):
    def test_finds_a_share(self):
        self.assertEqual(fractions("double f() { return 0.35 * x + 1.5 * y + 2 * z; }  // 0.7 of it"), ["0.35"])


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    unittest.main()
