"""Every phase of tests/run_gpu.sh --rehearse writes its report, whole after each figure, and nothing fails; a failing or a killed program is told."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from unittest import mock

import devices
import main
import pack
import phases
import programs
from report import ROOT, Report

MOST_FILES, MOST_BYTES = 8, 16 << 20   # that come back from a borrowed machine
MOST_CARRIED = 64 << 20   # bytes that go there
PRINTS = ["/bin/sh", "-c"]


class Fake(programs.Programs):
    """One program that prints a few words."""

    def __init__(self, words, seconds=60):
        super().__init__("/bin", [{"name": "fake", "command": [*PRINTS, words], "environment": {}}], pathlib.Path("/nowhere"), seconds)


class Phases(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def read(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())

    def test_a_report_has_every_state(self):
        report = Report(self.folder / "tests.json")
        phases.tests(Fake("echo '[       OK ] A.one (3 ms)'; echo '[  FAILED  ] A.two (1 ms)'; echo '[1,0]<stdout>:[  SKIPPED ] B/C.three/4 (0 ms)'; exit 1"), report,
                     devices.REHEARSAL, "")
        self.assertEqual(self.read("tests")["tests"]["fake"], {"A.one": "passed", "A.two": "failed", "B/C.three/4": "skipped"})
        self.assertEqual(report.failures, ["fake: ended with 1; failed: A.two"])
        self.assertIn("[  FAILED  ] A.two (1 ms)", self.read("tests")["programs"]["fake"]["words"])

    def test_what_hangs_is_ended_and_leaves_what_it_said(self):
        report, began = Report(self.folder / "tests.json"), time.monotonic()
        phases.tests(Fake("echo '[       OK ] A.one (3 ms)'; sleep 60", seconds=1), report, devices.REHEARSAL, "")
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(self.read("tests")["tests"]["fake"], {"A.one": "passed"})
        self.assertIn("the time was over", report.failures[0])

    def test_one_that_hangs_leaves_time_to_the_next(self):
        fake, report = Fake("sleep 60", seconds=4), Report(self.folder / "tests.json")
        fake.tests.append({"name": "next", "command": [*PRINTS, "echo '[       OK ] B.two (3 ms)'"], "environment": {}})
        phases.tests(fake, report, devices.REHEARSAL, "")
        self.assertEqual(self.read("tests")["tests"]["next"], {"B.two": "passed"})

    def test_nothing_that_ran_is_a_failure(self):
        report = Report(self.folder / "tests.json")
        phases.tests(Fake("exit 0"), report, devices.REHEARSAL, "")
        self.assertEqual(report.failures, ["no test passed"])

    def test_a_killed_phase_leaves_its_report(self):
        report = Report(self.folder / "kernels.json")
        report.put("kernels", [{"kernel": "copy"}])
        left = self.read("kernels")
        self.assertFalse(left["ended"])
        self.assertEqual(left["kernels"], [{"kernel": "copy"}])

    def test_a_killed_command_leaves_no_program(self):
        """Killed as a time limit does it, which nothing can catch: the next command has the card alone."""
        mark = self.folder / "child"
        words = f"import programs; programs.Programs('/bin', [], programs.pathlib.Path('/nowhere'), 60).run(['/bin/sh', '-c', 'echo $$ > {mark}; exec sleep 60'])"
        command = subprocess.Popen([sys.executable, "-c", words], cwd=ROOT / "tests/gpu")
        while not (mark.exists() and mark.read_text().endswith("\n")):
            time.sleep(0.05)
        command.kill()
        command.wait()
        for _ in range(100):
            state = pathlib.Path(f"/proc/{mark.read_text().strip()}/stat")
            if not state.exists() or state.read_text().split(") ")[1][0] == "Z":
                return
            time.sleep(0.05)
        self.fail("the program goes on")

    def test_figures_that_no_folder_takes_are_printed(self):
        (self.folder / "file").write_text("")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            report = Report(self.folder / "file" / "kernels.json")   # no folder
            report.put("kernels", [{"kernel": "copy"}])
            report.fail("ended with 1")
        lines = [json.loads(line) for line in printed.getvalue().splitlines()]
        self.assertIn([{"kernel": "copy"}], [line.get("kernels") for line in lines])
        self.assertEqual(lines[-1]["failures"], ["ended with 1"])
        self.assertTrue(all(line["report"] == "kernels" for line in lines))

    def test_an_unpacking_that_was_killed_is_done_again(self):
        carry, packed = self.folder / "carry", self.folder / "packed"
        (packed / "bin").mkdir(parents=True)
        (packed / "bin/worker").write_text("whole")
        carry.mkdir()
        with tarfile.open(carry / programs.LIBRARIES_ASIDE, "w:xz") as archive:
            archive.add(packed / "bin", "bin")
        with mock.patch.object(tarfile.TarFile, "extractall", side_effect=lambda where: (where / "bin").mkdir(parents=True) or exec("raise KeyboardInterrupt")):
            self.assertRaises(KeyboardInterrupt, programs.unpack, carry, programs.LIBRARIES_ASIDE)
        self.assertFalse((carry / "bin").exists())
        programs.unpack(carry, programs.LIBRARIES_ASIDE)
        self.assertEqual((carry / "bin/worker").read_text(), "whole")
        self.assertEqual(sorted(path.name for path in carry.iterdir()), ["bin", programs.LIBRARIES_ASIDE])

    def test_what_cannot_be_built_is_in_a_report(self):
        missing = mock.patch.object(programs, "find", side_effect=programs.Missing("cmake ended with 1: no nvcc"))
        with missing, mock.patch.dict(os.environ, {"OUT": str(self.folder)}):
            self.assertEqual(main.main(["--tests"]), main.FAILED)
        self.assertEqual(self.read("programs")["failures"], ["cmake ended with 1: no nvcc"])

    def test_two_commands_are_within_what_a_card_is_lent_for(self):
        start, lent, of_first = 120, 900, 480   # seconds: a machine's start, all of it, of the first with its start
        first, second = (sum(seconds for _, _, seconds in each) for each in (main.FIRST, main.SECOND))
        self.assertLessEqual(start + first, of_first)
        self.assertLessEqual(2 * start + first + second, lent)
        both = main.FIRST + main.SECOND
        self.assertEqual({phase for phase, _, _ in both}, set(main.PHASES))
        self.assertEqual({model for _, model, _ in both if model}, set(devices.CARD.models))

    def test_all_of_it_leaves_few_files(self):
        """Each phase, and each model, says its name; none is lost, and a later command leaves an earlier one's."""
        def says(_, report, __, model):
            report.put(model or "said", report.path.stem)
        found, environment = Fake("exit 0"), mock.patch.dict(os.environ, {"OUT": str(self.folder)})
        with environment, mock.patch.multiple(phases, **dict.fromkeys(main.PHASES, says)), mock.patch.object(programs, "find", return_value=found), \
                mock.patch.object(main, "gpus", return_value=["a card"]):
            self.assertEqual(main.main(["--all"]), 0)
            files = list(self.folder.iterdir())
            self.assertEqual(main.main(["--speed", "llama-1b"]), 0)
        self.assertLessEqual(len(files), MOST_FILES)
        said = [json.loads(path.read_text()) for path in files]
        self.assertTrue(all(each["ended"] for each in said))
        for model in devices.CARD.models:
            self.assertEqual([each[model] for each in said if model in each], ["speed_all"])
        self.assertIn("llama-1b", self.read("speed_llama-1b"))

    def test_sources_and_the_pack_fit_the_machine(self):
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
        sources = sum((ROOT / name).stat().st_size for name in tracked if (ROOT / name).is_file())
        self.assertGreater(sources, 1 << 20)
        self.assertLessEqual(sources + pack.MOST, MOST_CARRIED)

    def test_where_time_ends_every_model_was_looked_at(self):
        first = list(devices.CARD.plans)[:len(devices.CARD.models)]
        self.assertEqual({name.split(",")[0] for name in first}, set(devices.CARD.models))

    def test_an_unknown_phase_is_refused(self):
        for words in (["--nothing"], ["--speed"], ["--speed", "nothing"], ["--tests", "more"], ["--first", "more"]):
            ended = subprocess.run([ROOT / "tests/run_gpu.sh", *words], capture_output=True, text=True)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("--speed with one of gpt2-124m", ended.stderr)

    def test_every_phase_is_rehearsed(self):
        if not (ROOT / "build/dev/bin/meshwright-worker").exists():
            self.skipTest("needs build/dev")
        ended = subprocess.run([ROOT / "tests/run_gpu.sh", "--rehearse"], capture_output=True, text=True, env=os.environ | {"OUT": str(self.folder)})
        self.assertEqual(ended.returncode, 0, ended.stderr)
        files = list(self.folder.iterdir())
        self.assertLessEqual(len(files), MOST_FILES)
        self.assertTrue(all(path.stat().st_size < MOST_BYTES for path in files))
        for name in ("tests", "ranks"):
            self.assertGreater(self.read(name)["counts"]["passed"], 0, name)
        seen = {test for states in self.read("tests")["tests"].values() for test, state in states.items() if state == "passed"}
        for test in ("StepGraph.IsCapturedOnceAndReplayedFromThenOn", "NcclTraining.GraphsHoldSumsOfDataRanks", "NcclTraining.AStepCallsItOnceAnExchange"):
            self.assertIn(test, seen)
        self.assertEqual(len(self.read("measure")["plans"]), len(devices.REHEARSAL.plans))
        self.assertGreater(len(self.read("kernels")["roofline"]), 3)
        for name in devices.REHEARSAL.models:
            self.assertTrue({"executor_over_strong", "executor_fp8_over_strong"} <= self.read("speed_rehearse")[name].keys())


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
