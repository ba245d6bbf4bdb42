"""CONTRIBUTING.md has a recipe for each kind of thing that is added, and every file that it names is there; READMEs of rooms fit a screen."""
import re
import unittest

import house

RECIPES = ("A pipeline schedule", "A collective algorithm", "A family of models", "An operator", "A field of the plan", "A kernel",
           "A program to import from and export to", "A subcommand", "A page of the window")


def recipes():
    parts = re.split(r"^## (.*)$", (house.ROOT / "CONTRIBUTING.md").read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def files_of(text):
    return [name for name in re.findall(r"`([\w./-]+)`", text) if "/" in name or re.search(r"\.\w+$", name)]


class Contributing(unittest.TestCase):
    def test_every_kind_has_a_recipe(self):
        self.assertEqual(tuple(recipes()), RECIPES)

    def test_every_file_is_there(self):
        lost = [f"{title}: {name}" for title, text in recipes().items() for name in files_of(text) if not (house.ROOT / name).exists()]
        self.assertEqual(lost, [])

    def test_a_recipe_names_its_files(self):
        self.assertEqual([title for title, text in recipes().items() if len(files_of(text)) < 4], [])

    def test_readmes_fit_a_screen(self):
        readmes = [*house.ROOT.glob("*/README.md"), *(path for top in house.TOPS for path in (house.ROOT / top).rglob("README.md"))]
        self.assertGreater(len(readmes), 10)
        self.assertEqual([str(path) for path in readmes if path.read_text().count("\n") > 40], [])


class TheTestCanFail(unittest.TestCase):
    def test_names_are_read(self):
        self.assertEqual(files_of("`sim/a.cpp`, `README.md`, `run()` and `ParallelPlan`"), ["sim/a.cpp", "README.md"])


if __name__ == "__main__":
    unittest.main()
