"""The command line in the package, and where it finds its profiles."""
import json
import pathlib
import subprocess
import sys
import unittest

import meshwright
from meshwright import _core


class Module(unittest.TestCase):
    def run_program(self, *words):
        return subprocess.run([sys.executable, "-m", "meshwright", *words], text=True, capture_output=True)

    def test_the_command_line_plans(self):
        model = _core.find_profile("gpt2", ["models"])
        done = self.run_program("plan", "--model", model, "--cluster", "h100-80gb-sxm", "--devices", "2", "--global-batch", "8", "--sequence", "512", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["format"], "meshwright.search/1")

    def test_exit_codes(self):
        self.assertEqual(self.run_program("simulate", "nowhere.json").returncode, 30)
        self.assertEqual(self.run_program("nothing").returncode, 2)

    def test_profiles_are_the_package_s_own(self):
        self.assertTrue(pathlib.Path(_core.find_profile("gpt2", ["models"])).is_relative_to(pathlib.Path(meshwright.__file__).parent))

    def test_everything_says_what_it_is(self):
        for name in meshwright.__all__:
            if name not in ("PHASES", "STREAMS"):
                self.assertTrue(getattr(meshwright, name).__doc__, name)
        stub = (pathlib.Path(meshwright.__file__).parent / "_core.pyi").read_text()
        self.assertIn("def replace(self, **fields: int | float | bool | str) -> Plan", stub)


if __name__ == "__main__":
    unittest.main()
