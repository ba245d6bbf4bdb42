"""The window on a real display: under X11 with a window manager (activation, shortcuts, drops) and under Wayland, both without a screen.

usage: displays_test.py gui_journeys_test
Starts a server of its own for each, which ends with the test. Servers that are not installed are skipped, and that is said.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
JOURNEYS = "DisplayJourney.*:PlanJourney.FromAConfigToTheBestPlan:EditJourney.*:SeeJourney.Zoom*"


class Displays(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        os.chmod(self.folder, 0o700)
        self.environment = os.environ | {"XDG_RUNTIME_DIR": self.folder, "QT_SCALE_FACTOR": "1", "LC_ALL": "C.UTF-8"}

    def serve(self, *command, **more):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed: the window is not tried there")
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def wait_until_it_answers(self, path):
        for _ in range(200):
            with socket.socket(socket.AF_UNIX) as client:
                if client.connect_ex(path) == 0:
                    return
            time.sleep(0.05)
        self.fail(f"no server answers at {path}")

    def journeys(self, platform):
        self.environment["QT_QPA_PLATFORM"] = platform
        done = subprocess.run([PROGRAM, f"--gtest_filter={JOURNEYS}", "--gtest_brief=1"], cwd=ROOT, env=self.environment, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("PASSED", done.stdout)

    def serve_x11(self):
        read, write = os.pipe()
        server = self.serve("Xvfb", "-displayfd", str(write), "-screen", "0", "1920x1080x24", "-nolisten", "tcp", "-noreset", pass_fds=[write])
        os.close(write)
        with os.fdopen(read) as answer:
            number = answer.readline().strip()   # the whole line: the server ends where its newline is not taken
        self.wait_until_it_answers(f"/tmp/.X11-unix/X{number}")
        self.environment |= {"DISPLAY": ":" + number, "QT_QPA_PLATFORM": "xcb"}
        return server

    def test_x11_with_a_window_manager(self):
        self.serve_x11()
        self.serve("openbox", "--sm-disable")
        self.environment["MESHWRIGHT_HAS_WINDOW_MANAGER"] = "1"
        self.journeys("xcb")

    def test_what_was_worked_on_outlives_the_display(self):
        """The program ends by itself, what it started goes on, and the next window shows question, plan and run again."""
        home = pathlib.Path(self.folder, "home")
        home.mkdir()
        self.environment["MESHWRIGHT_TEST_HOME"] = str(home)
        server = self.serve_x11()
        words = [PROGRAM, "--gtest_filter=LostDisplay.WorksUntilItGoes", "--gtest_brief=1"]
        with subprocess.Popen(words, cwd=ROOT, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as window:
            said = []
            for line in window.stdout:
                said.append(line)
                if line == "ready\n":
                    break
            self.assertIn("ready\n", said, "".join(said))
            server.kill()
            self.assertEqual(window.wait(20), 1, "".join(said) + window.stdout.read())   # as Qt ends it: by no signal, with no core
        metrics = home / "run" / "metrics.ndjson"
        steps = len(metrics.read_text().splitlines())
        run = int((home / "run.process").read_text().split()[0]) if (home / "run.process").exists() else 0
        self.addCleanup(lambda: run and os.kill(run, signal.SIGKILL))
        time.sleep(0.5)
        self.assertGreater(len(metrics.read_text().splitlines()), steps, "the run ended with its window")
        self.serve_x11()
        done = subprocess.run([PROGRAM, "--gtest_filter=LostDisplay.ComesBack", "--gtest_brief=1"], cwd=ROOT, env=self.environment, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_wayland(self):
        self.serve("weston", "--backend=headless-backend.so", "--socket=wayland-test", "--width=1920", "--height=1080", "--idle-time=0")
        self.wait_until_it_answers(f"{self.folder}/wayland-test")
        self.environment["WAYLAND_DISPLAY"] = "wayland-test"
        self.journeys("wayland")


if __name__ == "__main__":
    unittest.main()
