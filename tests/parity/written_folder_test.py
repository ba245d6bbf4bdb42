"""The programs that write what tests read take no liberty with a folder. written_folder_test.py WRITE_EMITTED_PLANS WRITER..."""
import pathlib
import subprocess
import sys
import tempfile
import unittest


class Folders(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def refused(self, program, *words):
        done = subprocess.run([program, *words], cwd=self.place, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, f"{program} {words}: {done.stderr}")
        return done.stderr

    def test_no_word_is_taken_for_a_folder(self):
        for program in WRITERS:
            for words in ([], ["--help"], [""]):
                self.assertIn("usage:", self.refused(program, *words))
        self.assertEqual(list(self.place.iterdir()), [])

    def test_what_lies_in_a_folder_stays(self):
        (self.place / "mine").mkdir()
        (self.place / "mine" / "thesis.txt").write_text("all of it")
        self.assertIn("not removed", self.refused(WRITERS[0], "mine"))
        self.assertEqual([path.name for path in (self.place / "mine").iterdir()], ["thesis.txt"])

    def test_a_file_is_no_folder(self):
        (self.place / "file").write_text("all of it")
        for program in WRITERS:
            self.assertIn("no folder", self.refused(program, "file"))


if __name__ == "__main__":
    WRITERS = [pathlib.Path(word).resolve() for word in sys.argv[1:]]
    unittest.main(argv=sys.argv[:1])
