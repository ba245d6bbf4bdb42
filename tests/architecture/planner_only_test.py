"""Preset planner configures, builds and passes its tests, and nothing in it knows LibTorch, MPI, CUDA or Qt.

Its longest tests are left to preset dev, which runs them with the same sources in the same pass: `ctest --preset planner` runs all.
"""
import pathlib
import re
import subprocess
import sys

import house

FORBIDDEN = re.compile(r"(?<![a-z])(?:lib|open)?(?:torch|mpi|cuda)|libQt", re.I)  # as words: neither COMPILER nor libicudata
BUILD = house.ROOT / "build" / "planner"
# Ten of 15 minutes (178 + 175 + 93 + 87 + 47 + 17 + 14 s on two cores, 23 November 2026), and none of them asks what is built beside it.
IN_DEV = ("sim_validation_test", "planner_test", "bad_input_readers_test", "sim_recipe_test", "cli_validate_test", "sim_model_transformers_test", "install_test", "programs_test")


def run(*command):
    print("$", " ".join(map(str, command)), flush=True)
    subprocess.run(command, cwd=house.ROOT, check=True)


def foreign_flags():
    """Compile commands that look outside: include paths and definitions only, since file names of ours may say 'compile'."""
    commands = (BUILD / "compile_commands.json").read_text()
    return sorted({flag for flag in re.findall(r"-(?:I|isystem |D)\S+", commands) if FORBIDDEN.search(flag)})


def foreign_libraries():
    listed = subprocess.run(["ldd", str(BUILD / "bin" / "meshwright")], text=True, capture_output=True, check=True).stdout
    return [line.strip() for line in listed.splitlines() if FORBIDDEN.search(pathlib.PurePath(line.split()[0]).name)]


def main():
    run("cmake", "--preset", "planner")
    run("cmake", "--build", "--preset", "planner")
    run("ctest", "--preset", "planner", "-E", f"^({'|'.join(IN_DEV)})$")
    found = foreign_flags() + foreign_libraries()
    if found:
        print("preset planner knows what it must not know:", *found, sep="\n  ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
