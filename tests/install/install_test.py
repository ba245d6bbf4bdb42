"""What `cmake --install` and the packages bring works where the source is not: it is hidden in a mount namespace.

usage: install_test.py CMAKE BUILD   (the build folder; parts that it has not built are left out, and said)
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BUILD = pathlib.Path(sys.argv.pop()).resolve()
CMAKE = pathlib.Path(sys.argv.pop())
ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "profiles" / "models" / "gpt2.json"
TORCH = sorted((ROOT / ".deps/venv/lib").glob("python3*/site-packages/torch"))
HIDE = 'mount -t tmpfs none "$1" && shift && cd / && exec "$@"'


def hides():
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


class Installed(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        shutil.copy(MODEL, self.folder / "config.json")

    def install(self, component):
        subprocess.run([CMAKE, "--install", BUILD, "--prefix", self.folder / "usr", "--component", component], check=True, capture_output=True)
        return self.folder / "usr" / "bin"

    def away(self, *command, **variables):
        """Runs it with nothing of the source, the build or a home in sight."""
        there = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **variables}
        return subprocess.run(["unshare", "-m", "bash", "-c", HIDE, "bash", ROOT, *map(str, command)], env=there, text=True, capture_output=True)

    def plan(self, program):
        return self.away(program, "plan", "--model", self.folder / "config.json", "--cluster", "h100-80gb-sxm", "--devices", 2, "--global-batch", 8,
                         "--sequence", 512, "-o", self.folder / "plan.json")

    @unittest.skipUnless(hides(), "no mount namespaces here")
    def test_the_command_line_plans(self):
        done = self.plan(self.install("cli") / "meshwright")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "usr/share/man/man1/meshwright.1").is_file())

    @unittest.skipUnless(hides(), "no mount namespaces here")
    def test_without_profiles_it_says_so(self):
        program = self.install("cli") / "meshwright"
        shutil.rmtree(self.folder / "usr/share/meshwright")
        self.assertIn("no profiles were found", self.plan(program).stderr)

    @unittest.skipUnless(hides() and shutil.which("dpkg-shlibdeps"), "no mount namespaces, or no dpkg-dev, here")
    def test_the_package_plans(self):
        subprocess.run(["cpack", "-G", "DEB", "-D", "CPACK_COMPONENTS_ALL=cli", "-B", self.folder], cwd=BUILD, check=True, capture_output=True)
        package = next(self.folder.glob("meshwright_*.deb"))
        needs = subprocess.run(["dpkg-deb", "-f", package, "Depends"], text=True, capture_output=True, check=True).stdout
        self.assertIn("libfmt", needs)
        for foreign in ("torch", "mpi", "qt"):
            self.assertNotIn(foreign, needs)
        subprocess.run(["dpkg-deb", "-x", package, self.folder / "root"], check=True)
        done = self.plan(self.folder / "root/usr/bin/meshwright")
        self.assertEqual(done.returncode, 0, done.stderr)

    @unittest.skipUnless((BUILD / "bin/meshwright-worker").exists(), "no worker was built")
    def test_the_worker_names_what_brings_libtorch(self):
        worker = self.install("worker") / "meshwright-worker"
        done = subprocess.run([worker, "--help"], env={"PATH": os.environ["PATH"], "MESHWRIGHT_TORCH": "/nowhere"}, text=True, capture_output=True)
        self.assertEqual(done.returncode, 30)
        self.assertIn("pip install torch==2.11.0", done.stderr)

    @unittest.skipUnless((BUILD / "bin/meshwright-worker").exists() and TORCH, "no worker was built, or with a LibTorch of elsewhere")
    def test_the_worker_starts_with_a_given_libtorch(self):
        worker = self.install("worker") / "meshwright-worker"
        done = subprocess.run([worker], env={"PATH": os.environ["PATH"], "MESHWRIGHT_TORCH": TORCH[0]}, text=True, capture_output=True)
        self.assertNotIn("error while loading shared libraries", done.stderr)
        self.assertNotIn("LibTorch is missing", done.stderr)

    @unittest.skipUnless((BUILD / "bin/meshwright-gui").exists(), "no window was built")
    def test_the_window_is_known_to_the_desktop(self):
        window = self.install("window") / "meshwright-gui"
        done = subprocess.run([window, "--version"], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        entry = (self.folder / "usr/share/applications/meshwright.desktop").read_text()
        self.assertIn("Exec=meshwright-gui", entry)

    def test_every_type_of_file_has_its_mark_where_it_is_looked_for(self):
        package, run = ROOT / "cmake/package", ROOT / "tests/cli/written_before/run"
        types = {one.get("type"): one for one in xml.etree.ElementTree.parse(package / "meshwright.xml").getroot()}
        self.assertEqual(set(re.search("MimeType=(.*);", (package / "meshwright.desktop").read_text()).group(1).split(";")), set(types))
        for name, file in (("plan", run / "plan.json"), ("trace", run / "trace.0.json")):
            mark = next(one for one in types[f"application/x-meshwright-{name}"].iter() if one.tag.endswith("match"))
            begin, end = map(int, mark.get("offset").split(":"))
            self.assertIn(mark.get("value").encode(), file.read_bytes()[begin:end + len(mark.get("value"))])


if __name__ == "__main__":
    unittest.main()
