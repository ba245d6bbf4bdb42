"""Tables that scripts write into documents: each in its place, which is there once, and nothing beside it."""
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402

PLACE = re.compile(r"<!-- ([\w-]+): made by ([\w/.]+) -->\n(.*?)\n<!-- /\1 -->", re.S)


class Marks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = pathlib.Path(folder.name) / "page.md"

    def test_what_lies_between_is_replaced_and_nothing_else(self):
        self.page.write_text("head\n<!-- a: made by x.py -->\nold\n<!-- /a -->\n<!-- b: made by x.py -->\nkept\n<!-- /b -->\n")
        marks.between(self.page, "a", "| \\1 |\n")
        self.assertEqual(self.page.read_text(), "head\n<!-- a: made by x.py -->\n| \\1 |\n<!-- /a -->\n<!-- b: made by x.py -->\nkept\n<!-- /b -->\n")

    def test_a_place_that_is_missing_is_told(self):
        self.page.write_text("nothing\n")
        with self.assertRaises(SystemExit):
            marks.between(self.page, "a", "table")
        self.assertEqual(self.page.read_text(), "nothing\n")

    def test_every_place_of_the_documents_is_found_and_its_script_is_there(self):
        pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        places = [(page, *place) for page in pages for place in PLACE.findall(page.read_text())]
        self.assertGreater(len(places), 12)
        for page, name, script, table in places:
            with self.subTest(page=page.name, name=name):
                self.assertTrue((ROOT / script).is_file())
                self.page.write_text(page.read_text())
                marks.between(self.page, name, table)
                self.assertEqual(self.page.read_text(), page.read_text())


if __name__ == "__main__":
    unittest.main()
