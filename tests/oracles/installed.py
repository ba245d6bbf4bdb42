"""Whether the environment of the programs (cmake/setup.sh programs) holds one of them as it is pinned."""
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = pathlib.Path(os.environ.get("MESHWRIGHT_PROGRAMS", HERE.parents[1] / ".deps" / "programs" / "bin" / "python"))


def why_skipped(name):
    if not PYTHON.exists():
        return f"no environment at {PYTHON}: cmake/setup.sh programs makes it"
    pinned = next(line for line in (HERE.parent / "sim" / "recipe" / "programs.txt").read_text().split() if line.startswith(f"{name}=="))
    done = subprocess.run([PYTHON, "-c", f"import importlib.metadata as m; print('{name}==' + m.version('{name}'))"], capture_output=True, text=True)
    return None if done.stdout.strip() == pinned else f"{PYTHON} holds {done.stdout.strip() or 'none'}, and not {pinned}"
