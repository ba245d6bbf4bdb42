"""Writes docs/families.md: the families of networks whose config.json is read, by the files that describe them, from these files.

usage: families_table.py            (tests/sim/model/families_table_test.py asks whether the table is as the files are)
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "families.md"
KINDS = {
    "llama": "decoders with RMSNorm and a gate", "dense": "of the same kind, but for a word or two", "gpt": "decoders with LayerNorm, no gate",
    "rotary": "decoders with LayerNorm whose positions are no table, and GPT-2's kin", "expert": "decoders with experts", "routed": "further decoders with experts",
    "hosted": "their class stands beside their weights, not in Transformers", "paired": "encoders with decoders", "sized": "blocks that differ in their heads", "linear": "a state in place of scores, in some layers or all; factors of Granite; Llama 4", "encoder": "encoders", "map": "convolutional networks",
}


def families_of(kind):
    return re.findall(r'\.name = "([^"]+)"', (ROOT / "sim/model" / f"{kind}_families.cpp").read_text())


def with_weights():
    """Those whose weights `run --weights` reads and `export` writes."""
    text = (ROOT / "executor/training/hugging_face_names.cpp").read_text()
    return set(re.findall(r'\{"([^"]+)", k\w+', text.partition("kFamilies[] = {")[2].partition("};")[0]))


def table():
    weights, total, rows = with_weights(), 0, []
    for kind, meaning in KINDS.items():
        names = families_of(kind)
        total += len(names)
        rows.append(f"| {meaning} | {', '.join(name + '*' * (name in weights) for name in names)} |")
    return "\n".join([
        "# Families of networks", "",
        f"The `model_type` of a Hugging Face `config.json` is its family: {total} are read, made by `sim/model/families_table.py`. A file with a `text_config` (`llm_config`, `language_config`,",
        "`thinker_config`) is planned as its text.",
        "With `*`: weights of Hugging Face's names and layouts are read and written, too. What the worker performs of a network, its words say, not its family: `run`",
        "refuses a word that it lacks by name, and planning and simulating hold.", "",
        "Parameters of every family are counted against the network that Transformers builds (`tests/sim/model/transformers_test.py`). To add one: a row in its file, and its name",
        "beside those of `tests/sim/model/families.json` (`transformers_test.py --write NAME ...`).", "",
        "| Families | `model_type` |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    TABLE.write_text(table())
