"""Preset planner configures, builds and passes its tests, and nothing in it knows LibTorch, MPI, CUDA or Qt.

Compiled as preset dev compiles, so that ccache gives the rooms that both have: the wheel and preset clang compile them optimized. What rooms alone ask is left
to preset dev, which asks the same objects: here runs what a program without executor and window can answer otherwise. `ctest --preset planner` runs all.
Where it is not its turn (rotation.py) it is skipped (77), unless clang++ asks for its build.
"""
import json
import pathlib
import re
import subprocess
import sys

import house
import rotation

FORBIDDEN = re.compile(r"(?<![a-z])(?:lib|open)?(?:torch|mpi|cuda)|libQt", re.I)  # as words: neither COMPILER nor libicudata
BUILD = house.ROOT / "build" / "planner_check"
IN_DEV = "^(sim_.*|closed_form_.*|planner_test|moved_numbers_test|bad_input_readers_test|cli_validate_test|cli_claims_test|install_test|programs_test)$"


def as_dev():
    presets = json.loads((house.ROOT / "CMakePresets.json").read_text())["configurePresets"]
    variables = next(preset["cacheVariables"] for preset in presets if preset["name"] == "dev")
    return [f"-D{name}={variables[name]}" for name in ("CMAKE_BUILD_TYPE", "CMAKE_CXX_FLAGS_DEBUG")]


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
    if rotation.build_of(rotation.turn()) != "clang":
        rotation.leave_to_the_next("planner")
    run("cmake", "--preset", "planner", "-B", BUILD, *as_dev())
    run("cmake", "--build", BUILD)
    run("ctest", "--test-dir", BUILD, "-j", "2", "--output-on-failure", "--no-tests=error", "-LE", "^architecture$", "-E", IN_DEV)
    found = foreign_flags() + foreign_libraries()
    if found:
        print("preset planner knows what it must not know:", *found, sep="\n  ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
