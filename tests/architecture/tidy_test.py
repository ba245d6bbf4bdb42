"""sim, planner and cli are clean by .clang-tidy (version 14, Debian 12's): the rooms of changed files, and an eighth of all rooms that goes round with the days.

A room is read as one source, as the presets build it: headers are parsed once. Skipped (77) where there is no clang-tidy: cmake/setup.sh tests installs it.

usage: tidy_test.py            changed rooms and today's eighth
       tidy_test.py --all      every room, before a release
       tidy_test.py ROOM...    these: sim/plan cli
"""
import concurrent.futures
import datetime
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import house

TIDY = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
EIGHTHS = 8
MOST_CHANGED = 3   # rooms: a change of many is for --all
FINDING = re.compile(r"^(\S+?):(\d+):\d+: (?:warning|error): (.*)$")


def rooms():
    """Folders with sources, sorted."""
    return sorted({str(path.parent) for path in house.sources((".cpp",), ("sim", "planner", "cli"))})


def eighth(names, day):
    return [name for at, name in enumerate(names) if at % EIGHTHS == day % EIGHTHS]


def changed():
    """Rooms of files that differ from the last commit, or that it changed."""
    listed = ""
    for revisions in (["HEAD"], ["HEAD~1", "HEAD"]):
        listed += subprocess.run(["git", "diff", "--name-only", *revisions, "--", "sim", "planner", "cli"], capture_output=True, text=True, cwd=house.ROOT).stdout
    return sorted({str(pathlib.PurePath(path).parent) for path in listed.split() if path.endswith((".cpp", ".h"))})


def findings(room, more=""):
    """Of the room's sources and headers, as "path:line: what"."""
    sources = sorted(path for path in (house.ROOT / room).glob("*.cpp"))
    with tempfile.TemporaryDirectory() as folder:
        whole = pathlib.Path(folder) / "room.cpp"
        whole.write_text("".join(f'#include "{path}"\n' for path in sources) + more)
        done = subprocess.run([TIDY, "--quiet", f"--config-file={house.ROOT / '.clang-tidy'}", f"--header-filter=({house.ROOT}/{room}/|room.cpp)", str(whole), "--",
                               "-std=c++20", "-O1", f"-I{house.ROOT}", f"-I{house.ROOT}/build/planner/generated"], capture_output=True, text=True, cwd=house.ROOT)
    found = {f"{path.removeprefix(str(house.ROOT) + '/')}:{line}: {what}" for path, line, what in (match.groups() for match in map(FINDING.match, done.stdout.splitlines()) if match)}
    return sorted(one for one in found if "bugprone-suspicious-include" not in one)   # of our own way to read a room


def main():
    asked = [name for name in sys.argv[1:] if (house.ROOT / name).is_dir() and not pathlib.PurePath(name).is_absolute()]
    day = datetime.date.today().toordinal()
    chosen = asked or (rooms() if "--all" in sys.argv else sorted({*eighth(rooms(), day), *changed()[:MOST_CHANGED]}))
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        found = dict(zip(chosen, pool.map(findings, chosen)))
    for room, ones in found.items():
        print(f"{room}: {len(ones)} findings", *ones, sep="\n  ")
    planted = "" if asked else findings("sim/units", "int planted(const char* text) { if (text = nullptr) return 1; return 1; }\nstd::string planted(std::string text) { return text + text; }\n")
    if not asked and not any("room.cpp" in one for one in planted):
        print("what was planted was not found")
        return 1
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    version = subprocess.run([TIDY, "--version"], capture_output=True, text=True).stdout if TIDY else ""
    if "version 14." not in version:
        print("skipped: clang-tidy 14 is not here; cmake/setup.sh tests installs it")
        sys.exit(77)
    sys.exit(main())
