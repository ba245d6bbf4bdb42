"""Every source has a test of its own, and every test is registered."""
import unittest

import house

# Sources without a test of their own, each with its reason. Short, or the mirror is broken.
EXCEPTIONS = {
    "cli/main.cpp": "one line that calls cli/application.cpp",
    "gui/main.cpp": "starts the window that the journeys drive",
    "executor/launch/main.cpp": "one line that starts a worker",
}


def expected(path):
    """'sim/plan/plan.cpp' -> tests/sim/plan/plan_test.cpp or, where the program is what is tested, .py."""
    base = house.ROOT / "tests" / path.parent / f"{path.stem}_test"
    return [base.with_suffix(".cpp"), base.with_suffix(".py")]


class Mirror(unittest.TestCase):
    def test_every_source_has_a_test(self):
        missing = [str(path) for path in house.sources((".cpp", ".cu"))
                   if str(path) not in EXCEPTIONS and not any(test.exists() for test in expected(path))]
        self.assertEqual(missing, [])

    def test_every_test_is_registered(self):
        lost = []
        for path in sorted((house.ROOT / "tests").rglob("*_test.*")):
            if path.suffix in (".cpp", ".py"):
                lists = path.parent / "CMakeLists.txt"
                if not lists.exists() or path.stem not in lists.read_text():
                    lost.append(str(path.relative_to(house.ROOT)))
        self.assertEqual(lost, [])

    def test_exceptions_are_few(self):
        self.assertLessEqual(len(EXCEPTIONS), 6)


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    unittest.main()
