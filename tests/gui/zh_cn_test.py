"""Every string that the window shows is translated: what the sources hand to tr() and its like, against gui/translations/zh_CN.tsv.

usage: zh_cn_test.py            checks (unittest)
       zh_cn_test.py --missing  prints what is not translated yet
"""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "gui/translations/zh_CN.tsv"
LITERAL = r'"(?:[^"\\]|\\.)*"'
# Functions whose first literal is shown; QT_TRANSLATE_NOOP and translate() have a context before it.
CALLS = re.compile(rf"\b(?:tr|said|words|spoken|told|phrase|worded|inWords)\(\s*((?:{LITERAL}\s*)+)")
NOOPS = re.compile(rf"\b(?:QT_TRANSLATE_NOOP|translate)\(\s*{LITERAL},\s*((?:{LITERAL}\s*)+)")
# Rows of tables in core whose names and sentences the window translates: file -> pattern of a literal.
TABLES = {
    "gui/core/work_kind.cpp": rf"\{{WorkKind::\w+, ({LITERAL})",
    "gui/core/rank_metrics.cpp": rf"^    \{{({LITERAL}), \w+",
    "gui/core/answers.cpp": r'((?:"[^"\n]*"\s*)*"[^"\n]*[.?]")',   # questions and sentences
    "planner/reason.cpp": rf'^    \{{"[\w.]+",\s*((?:{LITERAL}\s*)+)',
    "sim/task_graph/task.h": r'("(?:compute|gather|reduce|send|receive)")(?=[,}])',
    "sim/plan/violations.cpp": rf'(?:format\(|[,{{?:] |^\s+)({LITERAL})(?=[,)])',
    "gui/core/counter.cpp": rf"\.name = ({LITERAL})",
}
SYMBOLS = re.compile(r"/[a-z_/0-9]+|csv|[\W\d_]*|A|B|B / A|Ctrl\+.*|Shift\+Esc|%1|P|TP|MFU|ZeRO|Meshwright|PNG.*|CSV.*|JSON.*|N|#")


def text_of(literals):
    joined = "".join(part[1:-1] for part in re.findall(LITERAL, literals))
    return joined.replace('\\"', '"').replace("\\\\", "\\")


def shown():
    """Every English string that the sources show, once."""
    found = []
    for path in sorted({*(ROOT / "gui").rglob("*.cpp"), *(ROOT / name for name in TABLES)}):
        cpp = path.read_text(encoding="utf-8")
        found += [text_of(match.group(1)) for pattern in (CALLS, NOOPS) for match in pattern.finditer(cpp)]
        pattern = TABLES.get(str(path.relative_to(ROOT)))
        if pattern:
            found += [text_of(next(filter(None, match.groups()))) for match in re.finditer(pattern, cpp, re.M)]
    return [text for text in dict.fromkeys(found) if not SYMBOLS.fullmatch(text)]


def table():
    lines = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    return dict(line.split("\t") for line in lines if line and not line.startswith("#"))


class Chinese(unittest.TestCase):
    def test_every_string_is_translated(self):
        known = table()
        self.assertGreater(len(shown()), 200, "the scanner finds strings")
        self.assertEqual([text for text in shown() if text not in known], [])

    def test_nothing_is_translated_that_is_not_shown(self):
        self.assertEqual(sorted(set(table()) - set(shown())), [])

    def test_places_for_arguments_are_kept(self):
        places = lambda text: sorted(re.findall(r"%L?(\d)|(\{\w*\})", text))
        self.assertEqual([text for text, chinese in table().items() if places(text) != places(chinese)], [])


if __name__ == "__main__":
    if "--missing" in sys.argv:
        print("\n".join(text for text in shown() if text not in table()))
    else:
        unittest.main()
