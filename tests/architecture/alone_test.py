"""Every source compiles by itself: the presets build rooms whole (unity), where a source can lean on what another one includes.

With the commands of a build folder, -fsyntax-only: an eighth of the product's sources, another one every day. Tests are read whole before a release alone.

usage: alone_test.py BUILD            today's eighth of sim, planner, cli, executor and gui, as far as the folder builds them
       alone_test.py BUILD --all      every source of that build, tests too; prints a line with the date for docs/decisions/252-a-rotating-eighth.md
"""
import concurrent.futures
import datetime
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import house

EIGHTHS = 8
UNITY = re.compile(r'#include "([^"]+)"')


def sources(build):
    """Path -> the command that compiles it, without what belongs to an output. A source of a unity has the unity's."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words, kept = iter(shlex.split(entry["command"])), []
        for word in words:
            if word in ("-o", "-include", "-MF", "-MT"):
                next(words)
            elif word not in ("-c", "-MD", "-Winvalid-pch", entry["file"]):
                kept.append(word)
        file = pathlib.Path(entry["file"])
        ours = [path for path in UNITY.findall(file.read_text()) if path.endswith(".cpp")] if "Unity" in entry["file"] else [entry["file"]]
        for path in ours:
            if pathlib.Path(path).is_relative_to(house.ROOT) and not pathlib.Path(path).is_relative_to(build):
                found.setdefault(str(pathlib.Path(path).relative_to(house.ROOT)), (kept, entry["directory"]))
    return dict(sorted(found.items()))


def eighth(names, day):
    return [name for at, name in enumerate(sorted(names)) if at % EIGHTHS == day % EIGHTHS]


def refusal(path, command, directory):
    """What the compiler says against it; "" where it compiles."""
    words, where = command
    done = subprocess.run([*words, "-fsyntax-only", "-w", str(path)], cwd=directory or where, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{path}: {done.stderr[:1000]}"


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    commands = sources(build)
    product = [name for name in commands if not name.startswith("tests/")]
    chosen = list(commands) if "--all" in sys.argv else eighth(product, datetime.date.today().toordinal())
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        refused = [one for one in pool.map(lambda name: refusal(house.ROOT / name, commands[name], None), chosen) if one]
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as planted:
        planted.write("std::string lost();\n")
        planted.flush()
        if not refusal(planted.name, commands[product[0]], None):
            refused.append("what was planted compiles")
    print(*refused, f"{datetime.date.today()}: {len(chosen) - len(refused)} of {len(chosen)} sources compile alone ({len(commands)} in {build.name})", sep="\n")
    return 1 if refused or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
