"""The wheel of CPython 3.12 has the stable interface: one file, installed into empty environments of 3.12 and of a later version, plans GPT-2 in three lines.

It shares the rooms' objects with the wheel of package_test.py. It has a turn (tests/architecture/rotation.py). Skipped aloud (77) without
a Python of 3.12 or later (python3.12, python3.13 in PATH, pyenv's, uv's), or without PyPI.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACES = (".pyenv/versions/3.*/bin/python3", ".local/share/uv/python/cpython-3.*/bin/python3")
FIRST_STEPS = """
import meshwright as mw
print(mw.plan("gpt2", "h100-80gb-sxm", devices=8, global_batch=64, sequence=1024))
"""


def version(python):
    done = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], text=True, capture_output=True)
    return tuple(map(int, done.stdout.split())) if done.returncode == 0 else (0, 0)


def pythons():
    """3.12 or what comes first after it, and the latest: version -> program."""
    names = [shutil.which(f"python3.{minor}") for minor in range(12, 16)] + [str(path) for place in PLACES for path in pathlib.Path.home().glob(place)]
    found = {version(name): name for name in filter(None, names)}
    later = sorted(one for one in found if one >= (3, 12))
    return {one: found[one] for one in later[:1] + later[-1:]}


def skip(why):
    print("skipped: " + why.strip())
    sys.exit(77)


def build(python):
    done = subprocess.run([ROOT / "python/build_wheel.sh", python], text=True, capture_output=True)
    if done.returncode == 77:
        skip(done.stderr)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return pathlib.Path(done.stdout.splitlines()[-1])


class Stable(unittest.TestCase):
    def test_its_name_and_its_module_say_so(self):
        self.assertRegex(WHEEL.name, r"^meshwright-\d.*-cp312-abi3-manylinux_2_\d+_x86_64\.whl$")
        self.assertIn("meshwright/_core.abi3.so", zipfile.ZipFile(WHEEL).namelist())
        print(f"{WHEEL.name}: {WHEEL.stat().st_size / 1e6:.1f} MB")

    def test_every_later_python_takes_it(self):
        for at, python in PYTHONS.items():
            with self.subTest(python), tempfile.TemporaryDirectory() as scratch:
                subprocess.run([python, "-m", "venv", scratch], check=True)
                inside = pathlib.Path(scratch) / "bin/python"
                if subprocess.run([inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", WHEEL]).returncode != 0:
                    skip("NumPy, which the wheel needs, cannot be had from PyPI")
                done = subprocess.run([inside, "-c", FIRST_STEPS], text=True, capture_output=True, cwd="/")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("data=8", done.stdout)
                print(f"planned with Python {at[0]}.{at[1]}")


if __name__ == "__main__":
    sys.path.append(str(ROOT / "tests/architecture"))
    import rotation
    rotation.leave_to_the_next("wheel")
    PYTHONS = pythons()
    if not PYTHONS:
        skip("no Python of 3.12 or later is here:  uv python install 3.12  brings one")
    WHEEL = build(next(iter(PYTHONS.values())))
    unittest.main()
