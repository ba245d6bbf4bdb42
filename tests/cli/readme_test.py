"""Every command that README.md shows runs, and prints what stands there.

usage: readme_test.py PROGRAM            holds it so; its sentence on GPT-3, too, but for the processor time
       readme_test.py --write PROGRAM    puts in what is printed now
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import program

sys.path.insert(0, str(program.ROOT / "planner"))
import question_table

README = program.ROOT / "README.md"
BLOCK = re.compile(r"(<!-- console -->\n```\n)(.*?)(```\n)", re.S)


def commands(text):
    """Of each block its commands: lines that begin with "$ "."""
    return [[line[2:] for line in match.group(2).splitlines() if line.startswith("$ ")] for match in BLOCK.finditer(text)]


def performed(blocks):
    """The same with what each printed, one block after the other in a scratch folder that sees the profiles."""
    with tempfile.TemporaryDirectory() as scratch:
        (pathlib.Path(scratch) / "profiles").symlink_to(program.ROOT / "profiles")
        there = {**os.environ, "PATH": f"{program.PROGRAM.parent}:{os.environ['PATH']}", "NO_COLOR": "1"}
        for block in blocks:
            printed = ""
            for command in block:
                done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=scratch, env=there, text=True, capture_output=True)
                if done.returncode not in (0, 141):   # 141: head has read enough
                    raise AssertionError(f"{command}\n{done.stdout}{done.stderr}")
                printed += f"$ {command}\n" + "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())
            yield printed


def answered():
    """What the planner says to the first of its questions, GPT-3 on 1,024 GPUs, and the sentence on it."""
    found, seconds = question_table.document(program.PROGRAM, question_table.QUESTIONS[0])
    return question_table.sentence(found, seconds)


def without_seconds(text):
    """Processor time is another on every machine; candidates, what was simulated and the best plan are not."""
    return re.sub(r"[\d.]+ s of processor time( beside other programs)?", "", text)


def renewed(text):
    made = performed(commands(text))
    return BLOCK.sub(lambda match: match.group(1) + next(made) + match.group(3), text)


class Readme(unittest.TestCase):
    maxDiff = None

    def test_it_shows_what_is_printed(self):
        text = README.read_text()
        self.assertEqual(sum(map(len, commands(text))), text.count("\n$ "))
        self.assertGreaterEqual(len(commands(text)), 3)
        self.assertEqual(renewed(text), text, "tests/cli/readme_test.py --write PROGRAM puts it right")

    def test_gpt3_is_answered_so(self):
        self.assertIn(without_seconds(answered()), without_seconds(README.read_text()), "tests/cli/readme_test.py --write PROGRAM puts it right")

    def test_it_is_short(self):
        self.assertLessEqual(README.read_text().count("\n"), 150)

    def test_what_it_names_is_there(self):
        for path in re.findall(r"`((?:docs|gui|python|examples|tests|cmake)/[\w./-]+)`", README.read_text()):
            self.assertTrue((program.ROOT / path).exists(), path)

    def test_a_command_that_fails_is_found(self):
        with self.assertRaises(AssertionError):
            list(performed([["meshwright simulate nowhere.json"]]))


if __name__ == "__main__":
    if "--write" in sys.argv:
        README.write_text(renewed(README.read_text()))
        question_table.marks.between(README, "planner", answered())
    else:
        unittest.main()
