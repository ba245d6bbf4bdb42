"""Preset cuda compiles and links, warnings being errors, on a machine without a GPU; its tests labelled gpu pass or are skipped aloud.

Skipped (77) where there is no nvcc: cmake/setup.sh cuda installs it, and tests/run.sh asks for that; and where it is another build's turn (rotation.py). One architecture and nothing optimized, to
spare time: what is compiled and linked is the same.
"""
import os
import shutil
import subprocess
import sys

import house
import rotation

BUILD = house.ROOT / "build" / "cuda_check"
WHEEL = ".deps/venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc"
COMMANDS = [["cmake", "--preset", "cuda", "-B", str(BUILD), "-DCMAKE_CUDA_ARCHITECTURES=90", "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG"],
            ["cmake", "--build", str(BUILD), "--target", "gpu_checks", "meshwright-worker", "counted_cuda"],
            ["ctest", "--test-dir", str(BUILD), "-L", "^gpu$", "--no-tests=error", "--output-on-failure"]]


def has_nvcc():
    return bool(os.environ.get("CUDACXX") or shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc") or list(house.ROOT.glob(WHEEL)))


def main():
    rotation.leave_to_the_next("cuda")
    if not has_nvcc():
        print("skipped: no nvcc; cmake/setup.sh cuda installs it")
        return 77
    for command in COMMANDS:
        done = subprocess.run(command, cwd=house.ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            print(" ".join(command), done.stdout[-6000:], done.stderr[-6000:], sep="\n")
            return 1
    print(done.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
