"""Headers that cannot be misused: no neighbouring bare numbers, few abstract classes, a comment that says what it is. No view outlives what it shows."""
import re
import unittest

import functions
import house


# A view that has a name, of a braced list, which ends with its line: read later it is garbage, as soon as the compiler optimizes.
VIEW_OF_A_LIST = re.compile(r"\b(?:Optional)?(?:IntArrayRef|ArrayRef<[^>]*>|TensorList)\s+\w+\s*(?:=\s*)?\{[^}]*[^\s}]")


class Interfaces(unittest.TestCase):
    def test_no_named_view_of_a_list(self):
        found = [f"{path}: {view}" for path in house.sources() for view in VIEW_OF_A_LIST.findall(house.code(house.text(path)))]
        self.assertEqual(found, [], "name the list: std::array")

    def test_no_neighbouring_bare_numbers(self):
        found = [f"{path}:{line} {text}" for path in house.sources((".h",)) for line, text in functions.swappable(house.text(path))]
        self.assertEqual(found, [])

    def test_three_abstract_classes_at_most(self):
        found = [f"{path} {name}" for path in house.sources() for name in functions.abstract_classes(house.text(path))]
        self.assertLessEqual(len(found), 3, found)

    def test_headers_say_what_they_are(self):
        silent = [str(path) for path in house.sources((".h", ".cuh")) if not house.text(path).startswith("// ")]
        self.assertEqual(silent, [])

    def test_headers_are_guarded(self):
        self.assertEqual([str(path) for path in house.sources((".h", ".cuh")) if "#pragma once" not in house.text(path)], [])


class TheTestsCanFail(unittest.TestCase):
    def test_bare_numbers(self):
        self.assertEqual(len(functions.swappable("void f(int rank, std::int64_t stage);")), 1)
        self.assertEqual(len(functions.swappable("std::function<void(double a, double b)> g;")), 1)
        self.assertEqual(functions.swappable("void f(Rank rank, int a, Bytes b, int c = 1);\nint x = g(1, 2);"), [])

    def test_views(self):
        for wrong in ("const at::IntArrayRef sizes{rows, columns};", "at::IntArrayRef turned = {columns, rows};"):
            self.assertEqual(len(VIEW_OF_A_LIST.findall(wrong)), 1, wrong)
        for right in ("at::empty(at::IntArrayRef({20, 7}))", "f(at::IntArrayRef sizes, int a) {\n}", "at::empty({rows, columns})"):
            self.assertEqual(VIEW_OF_A_LIST.findall(right), [], right)

    def test_abstract(self):
        self.assertEqual(functions.abstract_classes("class A {\n virtual void f() = 0;\n};\nstruct B { int x = 0; };"), ["A"])


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    unittest.main()
