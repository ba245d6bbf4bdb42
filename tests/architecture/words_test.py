"""Messages use the field's words (docs/glossary.md): a shard, a chunk, a module, a GPU model, and not a part; close, and not near; scaled positions, and not stretched ones."""
import re
import subprocess
import unittest

import house

SUFFIXES = (".cpp", ".h", ".cu")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
AVOIDED = re.compile(r"\b(parts?|near|nearer|stretch|stretch(?:es|ed|ing))\b", re.I)
WORDS = ("secondary partition", "shard", "GPU model")
ROOMS = ("sim", "planner", "cli", "executor", "gui", "python")


def messages(text):
    """String literals of several words, without what stands in their braces; comments are no messages."""
    code = re.sub(r"//[^\n]*", lambda found: "" if found.group().count('"') % 2 == 0 else found.group(), text)
    code = re.sub(r"#include[^\n]*", "", code)
    return [re.sub(r"\{[^}]*\}", "", literal) for literal in LITERAL.findall(code) if " " in literal.strip()]


def avoided(text):
    return [message for message in messages(text) if AVOIDED.search(message) and not is_code(message)]


def is_code(message):
    """Written into files for other programs, or code that a raw string was cut into."""
    return bool(re.search(r"\bimport\b|::|->", message))


def sources():
    listed = subprocess.run(["git", "ls-files", "-z", *ROOMS], capture_output=True, text=True, check=True, cwd=house.ROOT).stdout.split("\0")
    return [house.ROOT / path for path in listed if path.endswith(SUFFIXES) and (house.ROOT / path).exists()]


class Words(unittest.TestCase):
    def test_messages_use_the_words_of_the_field(self):
        found = {f"{path.relative_to(house.ROOT)}: {message}" for path in sources() for message in avoided(path.read_text())}
        self.assertEqual(found, set(), "docs/glossary.md has the word")

    def test_the_words_are_used_and_explained(self):
        said = "\n".join(message for path in sources() for message in messages(path.read_text()))
        glossary = (house.ROOT / "docs/glossary.md").read_text()
        for word in WORDS:
            self.assertIn(word, glossary)
            self.assertIn(word, said)


class TheTestCanFail(unittest.TestCase):
    def test_finds_a_part_and_nothing_else(self):
        self.assertEqual(avoided('f("give each part a layer", part, "{parts} chunks of it", "part");  // a part of "it all"'), ["give each part a layer"])


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    unittest.main()
