"""What the command line asks can be asked from Python, too."""
import inspect
import re
import subprocess
import sys
import unittest

import meshwright as mw

OTHER_NAMES = {"fix": "fixed", "for": "program", "set": "variables", "all": "front"}
# Of files, screens and terminals; elastic writes a folder.
NONE = {"help", "json", "output", "markdown", "why", "price", "elastic"}


class Options(unittest.TestCase):
    def test_each_option_has_its_argument(self):
        for command in ("plan", "check", "diff"):
            text = subprocess.run([sys.executable, "-m", "meshwright", command, "--help"], capture_output=True, text=True).stdout
            options = set(re.findall(r"^ +(?:-\w,)?--([\w-]+)", text, re.M)) - NONE
            self.assertGreater(len(options), 8, command)
            arguments = inspect.signature(getattr(mw, command)).parameters
            for option in options:
                self.assertIn(OTHER_NAMES.get(option, option.replace("-", "_")), arguments, command)


if __name__ == "__main__":
    unittest.main()
