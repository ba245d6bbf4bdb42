"""meshwright-gui says what it is where there is no display: --help, --version, and what is wrong with an option.

usage: command_line_test.py PROGRAM
"""
import os
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop()


def ask(*words):
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    return subprocess.run([PROGRAM, *words], env=environment, capture_output=True, text=True, timeout=60)


class CommandLine(unittest.TestCase):
    def test_help_needs_no_display(self):
        told = ask("--help")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("--devices", told.stdout)

    def test_version_needs_no_display(self):
        told = ask("--version")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stdout, r"meshwright-gui \d+\.\d+")


if __name__ == "__main__":
    unittest.main()
