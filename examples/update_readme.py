#!/usr/bin/env python3
"""Puts real output into docs/figures: what examples/quickstart.sh prints now, and examples/figures.md where it was made.

    examples/update_readme.py [--figures-only]

The page changes only when the quickstart ran to its end; lines that name the machine's folders are kept as they are printed.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIGURES = ROOT / "docs" / "figures"


def replace_block(text, name, content):
    pattern = re.compile(rf"(<!-- {name}:[^>]*-->\n).*?(<!-- /{name} -->)", re.S)
    if not pattern.search(text):
        sys.exit(f"the page has no block {name}")
    return pattern.sub(lambda match: match.group(1) + content.rstrip("\n") + "\n" + match.group(2), text)


def quickstart_output():
    done = subprocess.run([ROOT / "examples" / "quickstart.sh"], cwd=ROOT, text=True, stdout=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"the quickstart ended with {done.returncode}; docs/figures/quickstart.md is unchanged")
    return "```\n" + done.stdout.strip("\n") + "\n```"


def put(page, name, content):
    (FIGURES / page).write_text(replace_block((FIGURES / page).read_text(), name, content))


def main():
    if "--figures-only" not in sys.argv[1:]:
        put("quickstart.md", "quickstart", quickstart_output())
    figures = ROOT / "examples" / "figures.md"
    if figures.exists():
        put("executed.md", "figures", figures.read_text())


if __name__ == "__main__":
    main()
