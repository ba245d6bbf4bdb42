"""Every file compiles by itself: the presets build rooms whole (unity), where a source can lean on what another one includes.

With the commands of a build folder, -fsyntax-only: changed files of the product, and a sixteenth of it (rotation.py). Sources and headers stand without any
precompiled header, but for the executor's, which each of its files has (LibTorch costs 5 to 9 s a file); tests, which are read before a release alone, stand behind theirs (tests/CMakeLists.txt).

usage: alone_test.py BUILD            changed files of the product, and the sixteenth whose turn it is
       alone_test.py BUILD --all      every file, before a release; prints a line with the date for docs/decisions/280-a-rotating-share.md
       alone_test.py BUILD PATH...    these files, or all below these folders: executor sim/plan
"""
import collections
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
import rotation

BEHIND_THEIRS = ("tests", "executor")
UNITY = re.compile(r'#include "([^"]+\.cpp)"')
OF_OUTPUT = ("-o", "-MF", "-MT", "-MQ")
MOST_CHANGED = 24   # of a merge of many, the sixteenth of them whose turn it is


def kept(words, top):
    """A compile command of a room of `top` without what belongs to an output, to warnings or to a precompiled header that it stands without."""
    words, found = iter(words), []
    for word in words:
        if word in OF_OUTPUT or (word == "-include" and top not in BEHIND_THEIRS):
            next(words)
        elif word not in ("-c", "-MD", "-MMD", "-Winvalid-pch"):
            found.append(word)
    return found


def commands(build):
    """Path -> words that compile it, for every source and header of ours that the folder builds. A source of a unity has the unity's, a header its room's."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        paths = UNITY.findall(file.read_text()) if "Unity" in file.parts and file.exists() else [entry["file"]]
        for path in map(pathlib.Path, paths):
            if path.suffix == ".cpp" and path.is_relative_to(house.ROOT) and not path.is_relative_to(build):
                name = path.relative_to(house.ROOT)
                words = [word for word in shlex.split(entry["command"]) if word != entry["file"]]
                found.setdefault(str(name), kept(words, name.parts[0]))
    rooms = {str(pathlib.PurePath(path).parent): words for path, words in found.items()}
    headers = [path for path in house.sources((".h",)) if str(path.parent) in rooms]
    return found | {str(path): rooms[str(path.parent)] for path in headers}


def refusal(path, words):
    """What the compiler says against it; "" where it compiles."""
    done = subprocess.run([*words, "-fsyntax-only", "-w", "-x", "c++", str(path)], cwd=house.ROOT, capture_output=True, text=True)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    return "" if done.returncode == 0 else "\n  ".join([f"{path} does not compile alone:", *errors[:5], *([] if errors else [done.stderr[:500]])])


def chosen(every, asked):
    """Paths to look at."""
    if "--all" in asked:
        return list(every)
    if asked:
        return [path for path in every if any(pathlib.PurePath(path).is_relative_to(one) for one in asked)]
    product = [path for path in every if not path.startswith("tests/")]
    changed = [path for path in rotation.changed(*house.TOPS) if path in product]
    few = changed if len(changed) <= MOST_CHANGED else rotation.share(changed)
    return sorted({*rotation.share(product), *few})


def planted_is_missed(every):
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as planted:
        planted.write("std::string lost();\n")
        planted.flush()
        return not refusal(planted.name, every["sim/units/text_file.cpp"])


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    every = commands(build)
    asked = chosen(every, sys.argv[2:])
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        refused = [one for one in pool.map(lambda path: refusal(house.ROOT / path, every[path]), asked) if one]
    missed = ["what was planted compiles"] * planted_is_missed(every)
    tops = collections.Counter(path.split("/")[0] for path in asked)
    print(*refused, *missed, f"{datetime.date.today()}: {len(asked) - len(refused)} of {len(asked)} files compile alone; {build.name} has {len(every)}; {dict(tops)}", sep="\n")
    return 1 if refused or missed or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
