"""sim, planner and cli are clean by .clang-tidy (version 14, Debian 12's): the rooms of changed files, and a sixteenth of all rooms (rotation.py).

A room is read as one source, in the order that it is built: headers are parsed once. Skipped (77) where there is no clang-tidy: cmake/setup.sh tests installs it.

usage: tidy_test.py            changed rooms, and the sixteenth whose turn it is
       tidy_test.py --all      every room: before a release
       tidy_test.py ROOM...    these: sim/plan cli
"""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import house
import rotation

TIDY = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
TOPS = ("sim", "planner", "cli")
FINDING = re.compile(r"^(\S+?):(\d+):\d+: (?:warning|error): (.*)$")
CHECKS = "--checks=-bugprone-suspicious-include"   # of our own way to read a room
FLAGS = ("-std=c++20", "-O1", f"-I{house.ROOT}", *(f'-DMESHWRIGHT_{name}="said by CMake"' for name in ("VERSION", "PARTS", "COMPILER")))
PLANTED = "int planted(const char* text) { if (text = nullptr) return 1; return 1; }\nstd::string planted(std::string text) { return text + text; }\n"


def rooms():
    """Folders with sources, sorted."""
    return sorted({str(path.parent) for path in house.sources((".cpp",), TOPS)})


def changed_rooms():
    return sorted({str(pathlib.PurePath(path).parent) for path in rotation.changed(*TOPS) if path.endswith((".cpp", ".h"))} & set(rooms()))


def sources(room):
    """Its sources in the order of its CMakeLists.txt, and those of its programs."""
    here = {path.name for path in (house.ROOT / room).glob("*.cpp")}
    listed = [name for name in re.findall(r"[\w.]+\.cpp", (house.ROOT / room / "CMakeLists.txt").read_text()) if name in here]
    return list(dict.fromkeys(listed))


def findings(room, more=""):
    """Of the room's sources and headers, as "path:line: what"; of `more`, too, which is read behind them."""
    with tempfile.TemporaryDirectory() as folder:
        whole = pathlib.Path(folder) / "room.cpp"
        whole.write_text("".join(f'#include "{house.ROOT / room / name}"\n' for name in sources(room)) + more)
        done = subprocess.run([TIDY, "--quiet", CHECKS, f"--config-file={house.ROOT / '.clang-tidy'}", f"--header-filter=({house.ROOT}/{room}/|room.cpp)", str(whole), "--", *FLAGS],
                              capture_output=True, text=True, cwd=house.ROOT)
    matches = filter(None, map(FINDING.match, done.stdout.splitlines()))
    return sorted({f"{path.removeprefix(str(house.ROOT) + '/')}:{line}: {what}" for path, line, what in (match.groups() for match in matches)})


def planted_is_missed():
    return not any("bugprone-assignment-in-if-condition" in one or "performance-unnecessary-value-param" in one for one in findings("sim/goodput", PLANTED))


def main():
    chosen = [name for name in sys.argv[1:] if name in rooms()]
    if not chosen:
        chosen = rooms() if "--all" in sys.argv else sorted({*rotation.share(rooms()), *changed_rooms()})
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        found = dict(zip(chosen, pool.map(findings, chosen)))
    for room, ones in found.items():
        print(f"{room}: {len(ones)} findings", *ones, sep="\n  ")
    missed = not set(chosen) & set(sys.argv[1:]) and planted_is_missed()
    print(*["what was planted was not found"] * missed, end="\n" * missed)
    return 1 if missed or any(found.values()) else 0


if __name__ == "__main__":
    version = subprocess.run([TIDY, "--version"], capture_output=True, text=True).stdout if TIDY else ""
    if "version 14." not in version:
        print("skipped: clang-tidy 14 is not here; cmake/setup.sh tests installs it")
        sys.exit(77)
    sys.exit(main())
