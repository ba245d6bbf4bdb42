"""Every header compiles alone: it includes what it uses. Needs g++; remembers what passed, by content.

usage: headers_test.py CACHE_FILE [TORCH_FOLDER [QT_FOLDER]]   without LibTorch or Qt (empty or left out) their users are skipped, and that is said
"""
import concurrent.futures
import hashlib
import pathlib
import re
import subprocess
import sys

import house

COMPILER = ["g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{house.ROOT}", "-x", "c++", "-"]


def own_closure(path, seen=None):
    seen = set() if seen is None else seen
    if path not in seen and (house.ROOT / path).exists():
        seen.add(path)
        for _, name in house.includes(house.text(path)):
            if name.split("/")[0] in house.TOPS:
                own_closure(name, seen)
    return seen


def sees_torch(path):
    return any(name.startswith(("ATen/", "torch/", "c10/", "mpi.h")) for own in own_closure(path) for _, name in house.includes(house.text(own)))


def sees_qt(path):
    return any(re.match(r"Q[A-Z]", name) for own in own_closure(path) for _, name in house.includes(house.text(own)))


def digest(path):
    parts = [f"{own}\n{house.text(own)}" for own in sorted(own_closure(path))]
    return hashlib.sha256("\n".join([" ".join(COMPILER), path, *parts]).encode()).hexdigest()


def problem(path, flags):
    done = subprocess.run(COMPILER[:1] + flags + COMPILER[1:], input=f'#include "{path}"\n', text=True, capture_output=True)
    return None if done.returncode == 0 else f"{path} does not compile alone:\n{done.stderr[:2000]}"


def torch_flags(torch):
    mpi = subprocess.run(["mpicc", "--showme:compile"], text=True, capture_output=True).stdout.split()
    return [*mpi, "-DOMPI_SKIP_MPICXX", "-isystem", f"{torch}/include", "-isystem", f"{torch}/include/torch/csrc/api/include"]


def qt_flags(qt):
    return ["-fPIC", "-DQT_NO_KEYWORDS", "-isystem", qt, *(flag for module in ("Core", "Gui", "Widgets") for flag in ("-isystem", f"{qt}/Qt{module}"))]


def without(name, users, headers):
    skipped = [path for path in headers if users(path)]
    print(f"{name} is missing: {len(skipped)} headers are not checked: {' '.join(skipped)}")
    return [path for path in headers if path not in skipped]


def main(cache_file, torch="", qt=""):
    flags = (torch_flags(torch) if torch else []) + (qt_flags(qt) if qt else [])
    assert problem("no/such/header.h", []), "a header that cannot compile must be caught"
    cache = pathlib.Path(cache_file)
    passed = set(cache.read_text().split()) if cache.exists() else set()
    headers = [str(path) for path in house.sources((".h",))]
    if not torch:
        headers = without("LibTorch", sees_torch, headers)
    if not qt:
        headers = without("Qt", sees_qt, headers)
    todo = [path for path in headers if digest(path) not in passed]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        problems = list(pool.map(lambda path: problem(path, flags), todo))
    passed.update(digest(path) for path, wrong in zip(todo, problems) if not wrong)
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text("\n".join(sorted(passed)) + "\n")
    print(f"{len(headers)} headers, {len(todo)} compiled, the others passed before with the same content")
    for wrong in filter(None, problems):
        print(wrong)
    return 1 if any(problems) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
