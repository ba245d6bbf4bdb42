"""The wheel of CPython 3.12 has the stable interface: one file, installed into 3.12 and into every later version found here, plans GPT-2 in three lines.

Skipped aloud (77) without a Python of 3.12 or later (python3.12, python3.13 in PATH, or ~/.pyenv/versions), or without PyPI.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST_STEPS = """
import meshwright as mw
print(mw.plan("gpt2", "h100-80gb-sxm", devices=8, global_batch=64, sequence=1024))
"""


def version(python):
    done = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], text=True, capture_output=True)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else (0, 0)


def pythons():
    """One of each version from 3.12 on, the oldest first."""
    names = [shutil.which(f"python3.{minor}") for minor in range(12, 16)]
    names += [str(path) for path in sorted((pathlib.Path.home() / ".pyenv/versions").glob("3.*/bin/python3"))]
    found = {}
    for name in filter(None, names):
        if version(name) >= (3, 12):
            found.setdefault(version(name), name)
    return [found[one] for one in sorted(found)]


def skip(why):
    print("skipped: " + why.strip())
    sys.exit(77)


def build():
    done = subprocess.run([ROOT / "python/build_wheel.sh", PYTHONS[0]], text=True, capture_output=True)
    if done.returncode == 77:
        skip(done.stderr)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return pathlib.Path(done.stdout.splitlines()[-1])


class Stable(unittest.TestCase):
    def test_its_name_says_so(self):
        self.assertRegex(WHEEL.name, r"^meshwright-\d.*-cp312-abi3-manylinux_2_\d+_x86_64\.whl$")
        print(f"{WHEEL.name}: {WHEEL.stat().st_size / 1e6:.1f} MB")

    def test_every_later_python_takes_it(self):
        for python in PYTHONS:
            with self.subTest(python), tempfile.TemporaryDirectory() as scratch:
                subprocess.run([python, "-m", "venv", scratch], check=True)
                inside = pathlib.Path(scratch) / "bin/python"
                subprocess.run([inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", WHEEL], check=True)
                done = subprocess.run([inside, "-c", FIRST_STEPS], text=True, capture_output=True, cwd="/")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(re.search("data=8", done.stdout), done.stdout)
                print(f"planned with Python {version(python)}")


if __name__ == "__main__":
    PYTHONS = pythons()
    if not PYTHONS:
        skip("no Python of 3.12 or later is here")
    WHEEL = build()
    unittest.main()
