"""`pip install meshwright`, as a user does it: the wheel goes into an empty environment, plans GPT-2 in three lines where the source is out of sight, and then
every test that is named runs against what is installed. It has a turn (tests/architecture/rotation.py), and comes at once where the package or an option that it must have changed.
Skipped aloud without PyPI.

usage: package_test.py TEST...
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TESTS = sys.argv[1:]
ITS_OWN = ("python", "tests/python", "cli/plan.cpp", "cli/plan_options.cpp", "cli/check.cpp", "cli/diff.cpp")
FIRST_STEPS = """
import meshwright as mw
ranking = mw.plan("gpt2", "h100-80gb-sxm", devices=8, global_batch=64, sequence=1024)
print(ranking)
"""
HIDE = 'mount -t tmpfs none "$1" && shift && cd / && exec "$@"'


def skip(why):
    print("skipped: " + why.strip())
    sys.exit(77)


def environment():
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR", "/tmp/pip-cache"),
            **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "http"))}}


def build_wheel():
    done = subprocess.run([ROOT / "python/build_wheel.sh", sys.executable], text=True, capture_output=True)
    if done.returncode == 77:
        skip(done.stderr)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return pathlib.Path(done.stdout.splitlines()[-1])


def install(wheel, folder):
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin/python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if subprocess.run([*pip, wheel]).returncode != 0:
        skip("NumPy, which the wheel needs, cannot be had from PyPI")
    return python, pip


class Package(unittest.TestCase):
    def test_three_lines(self):
        hidden = subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
        command = ["unshare", "-m", "bash", "-c", HIDE, "bash", str(ROOT)] if hidden else []
        done = subprocess.run([*command, PYTHON, "-c", FIRST_STEPS], text=True, capture_output=True, env=environment(), cwd="/")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("data=8", done.stdout)

    def test_the_wheel_brings_its_libraries_and_says_its_glibc(self):
        self.assertRegex(WHEEL.name, r"^meshwright-\d.*-manylinux_2_\d+_x86_64\.whl$")
        names = zipfile.ZipFile(WHEEL).namelist()
        for part in ("meshwright.libs/libtbb", "meshwright/profiles/models/gpt2.json", "meshwright/schemas/plan.schema.json", "meshwright/_core.pyi", "meshwright/py.typed"):
            self.assertTrue(any(name.startswith(part) for name in names), part)
        print(f"{WHEEL.name}: {WHEEL.stat().st_size / 1e6:.1f} MB")

    def test_the_version_is_the_program_s(self):
        said = re.search(r"project\(meshwright VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        self.assertEqual(WHEEL.name.split("-")[1], said)

    def test_every_file(self):
        for name in TESTS:
            with self.subTest(name):
                done = subprocess.run([PYTHON, HERE / f"{name}.py"], text=True, capture_output=True, env=environment(), cwd=HERE)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    sys.path.append(str(ROOT / "tests/architecture"))
    import rotation
    rotation.leave_to_the_next("wheel", *ITS_OWN)
    WHEEL = build_wheel()
    with tempfile.TemporaryDirectory() as scratch:
        PYTHON, pip = install(WHEEL, pathlib.Path(scratch) / "venv")
        empty = unittest.TestSuite([Package("test_three_lines"), Package("test_the_wheel_brings_its_libraries_and_says_its_glibc"), Package("test_the_version_is_the_program_s")])
        good = unittest.TextTestRunner().run(empty).wasSuccessful()
        if subprocess.run([*pip, "pandas", "nbclient", "ipykernel"]).returncode != 0:
            skip("pandas and nbclient cannot be had from PyPI")
        sys.exit(0 if unittest.TextTestRunner().run(Package("test_every_file")).wasSuccessful() and good else 1)
