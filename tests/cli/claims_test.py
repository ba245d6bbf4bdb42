"""docs/figures/claims.md is what examples/claims.py finds. Usage: claims_test.py MESHWRIGHT"""
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "claims.py"


def ask(*words):
    return subprocess.run([sys.executable, SCRIPT, *words], env={**os.environ, "MESHWRIGHT": sys.argv[1]}, text=True, capture_output=True)


class Claims(unittest.TestCase):
    maxDiff = None

    def test_the_page_is_what_is_found(self):
        done = ask("--print")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, (ROOT / "docs/figures/claims.md").read_text(), "make it anew: examples/claims.py")

    def test_a_claim_that_is_none_is_named(self):
        done = ask("C9")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no such claim: C9", done.stderr)


if __name__ == "__main__":
    sys.argv[1] = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1])
