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
CALLS = re.compile(rf"\b(?:tr|said|words|spoken|told|phrase|worded|inWords|inContext)\(\s*((?:{LITERAL}\s*)+)")
NOOPS = re.compile(rf"\b(?:QT_TRANSLATE_NOOP|translate)\(\s*{LITERAL},\s*((?:{LITERAL}\s*)+)")
# What sim, planner and core say, and the window translates: file, pattern of the literals.
TABLES = [
    ("gui/core/work_kind.cpp", rf"\{{WorkKind::\w+, ({LITERAL})"),
    ("gui/core/rank_metrics.cpp", rf"^    \{{({LITERAL}), \w+"),
    ("gui/core/answers.cpp", r'((?:"[^"\n]*"\s*)*"[^"\n]*[.?]")'),   # questions and sentences
    ("gui/core/answers.cpp", r'"(?:no layer|embedding|head)"|format\(("(?:stage|layer) \{\}"|"data=\{\} [^"]*")'),
    ("gui/core/planner_answers.cpp", r'((?:"[^"\n]*"\s*)*"[^"\n]*[.?]")'),
    ("gui/core/planner_answers.cpp", rf'asItIs[^{{]*\{{\s+Variant variant = variantOf\(({LITERAL})|\{{({LITERAL}), request\}}|\.why_not = ({LITERAL})'),
    ("sim/model/config_notes_json.cpp", rf'^    \{{"\w+", {LITERAL}, ({LITERAL})'),
    ("sim/model/config_notes_json.cpp", rf'format\(({LITERAL})|\? ("an? \w+")|: ("an object");'),
    ("planner/what_if.cpp", rf'ask\(({LITERAL})\)'),
    ("sim/clock/link_clock.cpp", rf'return (?:gain_ > 1 \? )?({LITERAL})'),
    ("gui/core/trace_join.cpp", rf'why_not_ =\s+fmt::format\(({LITERAL})'),
    ("gui/session.cpp", rf'format\(({LITERAL}), name'),
    ("gui/core/this_machine.cpp", rf"return fmt::format\(\s*((?:{LITERAL}\s*)+)"),
    ("gui/core/simulated_plan.cpp", rf"format\(\s*((?:{LITERAL}\s*)+)"),
    ("gui/core/compared_steps.cpp", rf"format\(({LITERAL})|\.name = ({LITERAL})"),
    ("gui/core/compared_steps.cpp", r'("[AB] \{\}")'),
    ("gui/core/counter.cpp", rf"\.name = ({LITERAL})"),
    ("planner/reason.cpp", rf'^    \{{"[\w.]+",\s*((?:{LITERAL}\s*)+)'),
    ("planner/proof.cpp", rf"format\(\s*((?:{LITERAL}\s*)+)"),
    ("sim/timeline/comparison.cpp", r'row\(fmt::format\(("stage \{\}")'),
    ("sim/task_graph/task.h", r'("(?:compute|gather|reduce|send|receive)")(?=[,}])'),
    *[(f"sim/model/{room}_families.cpp", rf'\{{"\w+", (?:true|false), ({LITERAL})\}}') for room in ("gpt", "llama", "expert", "encoder")],
    ("sim/model/linear_families.cpp", rf'\{{"\w+", {LITERAL}, ("[^"]* [^"]*")\}}'),
    ("sim/model/config_notes_json.cpp", rf'path_of_text\(whole\)\.front\(\),\s+({LITERAL})|^ +("[^"]* [^"]*")\}}\);$'),
    ("sim/model/model_words.cpp", rf'^    \{{"\w+",\s*({LITERAL})'),
    ("sim/plan/plan_fields.cpp", rf'^    \{{"\w+", {LITERAL}, ({LITERAL}),[^\n]*\n     Layout'),
    ("sim/plan/plan_fields.cpp", rf'^    \{{"(?!order|cut|data|microbatches)\w+", {LITERAL}, {LITERAL}, ({LITERAL}),\n     Layout'),
    ("sim/plan/field_words.cpp", rf'\{{"\w+", ({LITERAL}), k'),
    ("sim/plan/violations.cpp", rf'(?:format\(|[,{{?:] |^\s+)({LITERAL})(?=[,)])'),
    ("sim/plan/step_rules.cpp", rf'(?:format\(|[,{{?:] |^\s+)({LITERAL})(?=[,)])'),
    ("sim/plan/recompute_rules.cpp", rf'(?:format\(|[,{{?:] |^\s+)({LITERAL})(?=[,)])'),
    ("sim/plan/host_rules.cpp", rf'(?:format\(|[,{{?:] |^\s+)({LITERAL})(?=[,)])'),
    ("sim/plan/steps_in_backward.cpp", rf'(?:format\(|[,{{?:] |^\s+)({LITERAL})(?=[,)])'),
    ("sim/plan/network_rules.cpp", rf'(?:format\(|[,{{?:] |^\s+)({LITERAL})(?=[,)])'),
    ("sim/plan/pipeline_rules.cpp", rf'(?:format\(|[,{{?:] |^\s+)({LITERAL})(?=[,)])'),
    ("sim/recipe/recipe.cpp", r'^       ("[^"]* [^"]*")[,}]'),
    ("sim/plan/group_shares.cpp", rf'(?:format\(|[,{{?:] |^\s+)({LITERAL})(?=[,)])'),
]
# Arrays of names: every literal, with spaces for its underscores.
NAMES = [("sim/plan/parallel_plan.h", "kOnDriveNames"), ("sim/timeline/timeline.h", "kMemoryCategoryNames"), ("sim/task_graph/task.h", "kPhaseNames"), ("sim/model/operation.h", "kOperationNames"),
         ("sim/plan/device_mesh.h", "kMeshAxisNames"), ("sim/plan/parallel_plan.h", "kRecomputeNames"), ("sim/plan/parallel_plan.h", "kAccumulationNames"),
         ("sim/plan/parallel_plan.h", "kContextAlgorithmNames"), ("sim/plan/parallel_plan.h", "kCudaGraphsNames"),
         ("sim/plan/parallel_plan.h", "kTokenDispatcherNames"), ("sim/plan/parallel_plan.h", "kTensorOverlapNames"), ("sim/plan/parallel_plan.h", "kReshardAfterBackwardNames")]
SYMBOLS = re.compile(r"/[a-z_/0-9]+|csv|[\W\d_]*|A|B|B / A|Ctrl\+.*|Shift\+Esc|%1|P|TP|MFU|ZeRO|Meshwright|PNG.*|CSV.*|JSON.*|N|#")


def text_of(literals):
    joined = "".join(part[1:-1] for part in re.findall(LITERAL, literals))
    joined = re.sub(r"\{:[^}]*\}", "{}", joined)
    return re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code.group(1), 16)), joined.replace('\\"', '"').replace("\\\\", "\\"))


def source(path):
    return (ROOT / path).read_text(encoding="utf-8")


def names(path, array):
    body = re.search(rf"{array}\[\] = \{{([^}}]*)\}}", source(path)).group(1)
    return [literal[1:-1].replace("_", " ") for literal in re.findall(LITERAL, body)]


# Everything that these say is a problem or a remedy, apart from a few pieces of syntax.
SENTENCES = ["sim/plan/runnable.cpp", "sim/plan/precision_policy.cpp", "sim/units/json_reader.cpp", "sim/units/json_file.cpp", "sim/units/text_file.cpp", "sim/units/output_file.cpp", "sim/model/family_json.cpp", "sim/model/block_parts_json.cpp", "sim/model/linear_form_json.cpp",
             "sim/cluster/cluster_json.cpp", "sim/timeline/comparison.cpp", "sim/schedule/shape_rules.cpp"]


def sentences(path):
    code = re.sub(r"//[^\n]*|#include[^\n]*|'(?:\\.|[^'\n])'", "", source(path))
    found = [text_of(match.group(0)) for match in re.finditer(rf"(?:{LITERAL}\s*)+", code)]
    return [text for text in found if len(re.findall(r"\b[a-z]{2,}\b", text)) > 1 and not text.startswith(("line 3", "parse error", "meshwright."))]


def refusals(path):
    """Problems and remedies: sentences in statements that throw an InputError."""
    found = []
    for statement in re.split(r";\s*\n", source(path)):
        if re.search(r"refuse\w*\(|InputError\(", statement):
            found += [text_of(match.group(0)) for match in re.finditer(rf"(?:{LITERAL}\s*)+", statement)]
    return [text for text in found if " " in text and "<" not in text]


def judgements(path):
    """What an exporter or an importer of sim/recipe says: sentences in the statements that judge."""
    found = []
    for statement in re.split(r";\s*\n", re.sub(r"//[^\n]*", "", source(path))):
        if re.search(r"judgement\.|wrong|note\(|notes\.push_back|refuse\(|InputError\(", statement):
            found += [text_of(match.group(0)) for match in re.finditer(rf"(?:{LITERAL}\s*)+", statement)]
    return [text for text in found if re.search(r"[a-z{}'] |is '", text) and not re.fullmatch(r"([\w-]+_\w+ ?)+|, .*| .*", text)]


# What sim::counted() says one or many of.
COUNTED = re.compile(r'\bcounted\([^"()]*(?:\([^()]*\)[^"()]*)*"([\w ]+)"\)')


def counted_forms():
    texts = [path.read_text(encoding="utf-8") for room in ("sim", "gui") for path in (ROOT / room).rglob("*.cpp")]
    return ["{} " + form for text in texts for one in COUNTED.findall(text) for form in (one, one + ("es" if one.endswith(("ch", "s")) else "s"))]


def shown():
    """Every English string that the sources show, once."""
    found = []
    for path in sorted((ROOT / "gui").rglob("*.cpp")):
        cpp = path.read_text(encoding="utf-8")
        found += [text_of(match.group(1)) for pattern in (CALLS, NOOPS) for match in pattern.finditer(cpp)]
        if path.parent.name in ("core", "import") or path.name in ("share.cpp", "session.cpp"):
            found += refusals(path.relative_to(ROOT))
    for path in sorted((ROOT / "sim/recipe").glob("*.cpp")):
        found += judgements(path.relative_to(ROOT))
    for path in SENTENCES:
        found += sentences(path)
    for path, pattern in TABLES:
        found += [text_of(next(filter(None, [*match.groups(), match.group(0)]))) for match in re.finditer(pattern, COUNTED.sub("counted()", source(path)), re.M)]
    for path in sorted((ROOT / "sim/schedule").glob("*.cpp")):
        found += [text_of(literal) for literal in re.findall(rf"\.summary = ({LITERAL})", path.read_text(encoding="utf-8"))]
    for path, array in NAMES:
        found += names(path, array)
    found += counted_forms()
    found += re.findall(r'sums\["(\w+)"\]', source("sim/timeline/critical_path.cpp"))
    found += [family.replace("_", " ") for family in re.findall(r'^    \{"(\w+)', source("planner/reason.cpp"), re.M)]
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
