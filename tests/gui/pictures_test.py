"""The pictures of the READMEs are those that the journeys draw, and the script that makes them runs without a display.

usage: pictures_test.py build-folder      after gui_journeys_test, which leaves its pictures in build-folder/screenshots
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop()).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
JOURNEYS = 10


class Pictures(unittest.TestCase):
    def setUp(self):
        self.journeys = re.findall(r'src="pictures/(\w+)\.png"', (ROOT / "gui/README.md").read_text(encoding="utf-8"))
        self.shown = {*self.journeys, *re.findall(r"gui/pictures/(\w+)\.png", (ROOT / "README.md").read_text(encoding="utf-8"))}

    def test_every_journey_has_one(self):
        self.assertEqual(len(set(self.journeys)), JOURNEYS)
        self.assertEqual(sorted(self.shown), sorted(path.stem for path in (ROOT / "gui/pictures").glob("*.png")))

    def test_the_journeys_drew_them(self):
        made = {path.stem: path.read_bytes() for path in (BUILD / "screenshots").glob("*.png")}
        self.assertEqual([name for name in self.shown if name not in made], [])
        self.assertEqual([name for name in self.shown if not made[name].startswith(b"\x89PNG") or len(made[name]) < 20000], [])

    def test_the_script_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([ROOT / "examples/screenshots.sh", folder, BUILD], cwd=ROOT, env=os.environ | {"GTEST_FILTER": "ShareJourney.*"},
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("share.png", done.stdout)


if __name__ == "__main__":
    unittest.main()
