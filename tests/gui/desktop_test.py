"""examples/desktop.sh as a script: a run of the worker is opened in the window, without a display, and drawn.

usage: desktop_test.py meshwright      skipped (77) where the worker is not built beside it
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAN = ["--model", "profiles/models/tiny-gpt2.json", "--devices", "2", "--global-batch", "8", "--sequence", "64", "--precision", "fp32", "--runnable", "--top", "1"]


def write_profile(path):
    """A profile that the worker's plans may name: figures of no machine in particular, which spares the test a measurement."""
    profile = json.loads((ROOT / "profiles/hardware/a100-80gb-sxm.json").read_text())
    path.write_text(json.dumps(profile | {"kind": "cpu", "name": "some-cpu"}))


def call(*words, **more):
    return subprocess.run([str(word) for word in words], cwd=ROOT, check=True, capture_output=True, text=True, **more)


def draw(picture, run):
    environment = os.environ | {"MESHWRIGHT_RUN_FOLDER": str(run), "MESHWRIGHT_BUILD": str(PROGRAM.parents[1]), "LC_ALL": "C.UTF-8", "HOME": str(run.parent)}
    call("examples/desktop.sh", "--picture", picture, env=environment)
    return picture.read_bytes()


def main():
    if not (PROGRAM.parent / "meshwright-worker").exists():
        print("skipped: meshwright-worker is not built, so there is no run to open")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "tokens.bin").write_bytes(bytes(40000))
        write_profile(folder / "cpu.json")
        call(PROGRAM, "plan", *PLAN, "--cluster", folder / "cpu.json", "-o", folder / "plan.json")
        call(PROGRAM, "run", folder / "plan.json", "--data", folder / "tokens.bin", "--steps", 6, "-o", folder / "run")
        compared = draw(folder / "compared.png", folder / "run")
        (folder / "run" / "trace.1.json").unlink()
        refused = draw(folder / "refused.png", folder / "run")
    assert compared.startswith(b"\x89PNG") and refused.startswith(b"\x89PNG"), "no pictures"
    assert len(compared) > 1.5 * len(refused), f"a compared run fills the window: {len(compared)} bytes; one without a rank's trace is refused: {len(refused)}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
