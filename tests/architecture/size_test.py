"""Files and functions stay small: a reader holds one of them in mind."""
import statistics
import unittest

import functions
import house

TESTS = [path.relative_to(house.ROOT) for path in sorted((house.ROOT / "tests").rglob("*")) if path.suffix in (".cpp", ".h", ".py")]


def lines(path):
    return house.text(path).count("\n")


class Files(unittest.TestCase):
    def setUp(self):
        self.files = sorted(house.sources() + TESTS, key=lines)

    def test_median(self):
        self.assertLessEqual(statistics.median(map(lines, self.files)), 120)

    def test_ninety_percent(self):
        self.assertLessEqual(lines(self.files[int(0.9 * (len(self.files) - 1))]), 300)

    def test_longest(self):
        self.assertEqual([f"{path}: {lines(path)} lines" for path in self.files if lines(path) > 500], [])


class Functions(unittest.TestCase):
    def test_length(self):
        found = [(size, f"{path}:{first} {name} {size} lines") for path in house.sources() + [p for p in TESTS if p.suffix == ".cpp"]
                 for first, size, name in functions.bodies(house.text(path))]
        self.assertGreater(len(found), 20, "the scanner finds functions")
        self.assertEqual([what for size, what in found if size > 100], [])
        over = [what for size, what in found if size > 60]
        self.assertLessEqual(len(over), 0.01 * len(found), over)


class Casts(unittest.TestCase):
    def test_few_to_the_size_of_a_container(self):
        """sim/units/at.h does it where a number counts or stands in a container; what is left are enumerators, hashes and the like."""
        found = [str(path) for path in house.sources() for _ in range(house.text(path).count("static_cast<std::size_t>"))]
        self.assertGreater(len(found), 0, "they are found")
        self.assertLessEqual(len(found), 100, found)


class TheTestsCanFail(unittest.TestCase):
    def test_scanner_measures_functions(self):
        cpp = "namespace a {\nclass B {\n  int f() const { return 1; }\n  B() : x_{1}, y_(2) {\n    g();\n  }\n};\nvoid C::f(int a,\n  int b) {\n  if (a) {\n  }\n}\n}\n"
        self.assertEqual([(first, size) for first, size, _ in functions.bodies(cpp)], [(3, 1), (4, 3), (8, 5)])

    def test_scanner_skips_data(self):
        self.assertEqual(functions.bodies("constexpr int kTable[] = {\n1,\n2};\nstruct A { int b = f(1); };\nenum class E { X };"), [])


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    unittest.main()
