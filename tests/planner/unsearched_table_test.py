"""Each word that no axis chooses is tried by the table of what it would gain, or says there why not."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "planner"))
import unsearched_table  # noqa: E402


class Unsearched(unittest.TestCase):
    def test_each_word_is_tried_or_says_why_not(self):
        words = re.findall(r'^    \{"(\w+)",', (ROOT / "planner" / "unsearched.cpp").read_text(), re.M)
        tried, untried = set(unsearched_table.TRIED), set(unsearched_table.UNTRIED)
        self.assertGreater(len(words), 15)
        self.assertEqual(set(words), tried | untried)
        self.assertFalse(tried & untried)


if __name__ == "__main__":
    unittest.main()
