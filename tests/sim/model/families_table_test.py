"""docs/families.md is what the tables of families say, and README's count is theirs."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sim" / "model"))
import families_table


class Families(unittest.TestCase):
    def test_the_table_is_of_these_files(self):
        self.assertEqual(families_table.TABLE.read_text(), families_table.table(), "run sim/model/families_table.py")

    def test_readme_counts_them(self):
        total = sum(len(families_table.families_of(kind)) for kind in families_table.KINDS)
        self.assertIn(f"`config.json` of {total} families", (ROOT / "README.md").read_text())

    def test_every_file_of_families_stands_there(self):
        files = {path.name.removesuffix("_families.cpp") for path in (ROOT / "sim/model").glob("*_families.cpp")}
        self.assertEqual(files, set(families_table.KINDS))


if __name__ == "__main__":
    unittest.main()
