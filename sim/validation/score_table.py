"""Writes the score of `meshwright validate` on the published runs into sim/validation/README.md.

usage: score_table.py MESHWRIGHT   (build/planner/bin/meshwright)
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "sim" / "validation" / "README.md"


def main(program):
    done = subprocess.run([program, "validate", ROOT / "profiles" / "published" / "rows.json"], text=True, capture_output=True, check=True)
    text = README.read_text()
    table = f"<!-- score -->\n{done.stdout.strip()}\n<!-- end -->"
    README.write_text(re.sub(r"<!-- score -->.*<!-- end -->", lambda _: table, text, flags=re.S))


if __name__ == "__main__":
    main(*sys.argv[1:])
