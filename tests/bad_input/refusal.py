"""What every refusal has in common. Used by the tests of this folder."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import program  # noqa: E402

CRASH = re.compile(r"terminate called|Segmentation|Assertion|Traceback|core dumped|unexpected:|std::|json\.exception")


class RefusalTest(program.ProgramTest):
    def judge_files(self):
        """Plans are broken here on purpose."""

    def refused(self, arguments, *parts, expect=30, **options):
        """The program ends with `expect`, prints nothing on stdout, names every part and a remedy on stderr, and is brief."""
        done = self.run_program(*arguments, expect=expect, **options)
        self.assertEqual(done.stdout, "")
        for part in parts:
            self.assertRegex(done.stderr, part)
        if expect == 30:
            self.assertRegex(done.stderr, r"remedy:|; ")
        self.assertNotRegex(done.stderr, CRASH)
        self.assertLess(len(done.stderr), 4000)
        return done
