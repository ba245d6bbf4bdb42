"""g++ and clang++ give the same bytes, and so do one thread and eight: goldens, plans and timelines.

Needs build/planner_check (made by planner_only_test.py) and builds build/clang; where it is not its turn (rotation.py) it is skipped (77).
"""
import pathlib
import subprocess
import sys
import tempfile

import house
import rotation

SEARCH = ["--cluster", "h100-80gb-sxm", "--devices", "16", "--global-batch", "64", "--sequence", "1024", "--precision", "bf16", "--top", "3"]


def build_with_clang():
    for command in (["cmake", "--preset", "clang"], ["cmake", "--build", "--preset", "clang", "--target", "meshwright", "golden_test"]):
        subprocess.run(command, cwd=house.ROOT, check=True)


def outputs(preset, folder, threads):
    """Everything that a user can get out of the planner and the simulator for one model, as bytes by name."""
    program, folder = house.ROOT / "build" / preset / "bin" / "meshwright", pathlib.Path(folder)
    model = house.ROOT / "profiles" / "models" / "gpt2.json"
    plan, trace = folder / "plan.json", folder / "trace.json"

    def capture(*arguments):
        return subprocess.run([program, *map(str, arguments)], cwd=house.ROOT, check=True, stdout=subprocess.PIPE).stdout

    found = {"search": capture("plan", "--model", model, *SEARCH, "--threads", threads, "-o", plan, "--json")}
    found["text"] = capture("simulate", plan, "--text", "--timeline", trace)
    return found | {"plan": plan.read_bytes(), "trace": trace.read_bytes()}


def golden(preset):
    return subprocess.run([house.ROOT / "build" / preset / "bin" / "golden_test"], cwd=house.ROOT).returncode


def main():
    rotation.leave_to_the_next("clang")
    build_with_clang()
    with tempfile.TemporaryDirectory() as folder:
        runs = {name: outputs(preset, folder, threads) for name, preset, threads in
                (("g++, 1 thread", "planner_check", 1), ("g++, 8 threads", "planner_check", 8), ("clang++, 1 thread", "clang", 1))}
    reference = runs["g++, 1 thread"]
    failed = [f"{what} of {name} differs" for name, run in runs.items() for what in run if run[what] != reference[what]]
    failed += [f"goldens of preset {preset} differ" for preset in ("planner_check", "clang") if golden(preset) != 0]
    if reference["search"] == reference["text"]:
        failed.append("the comparison compares nothing")
    print(*(failed or ["equal bytes"]), sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
