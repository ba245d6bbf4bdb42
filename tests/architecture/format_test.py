"""Every source is as clang-format writes it (version 14, Debian 12's: others differ in details)."""
import pathlib
import shutil
import subprocess
import sys
import unittest

import house

FORMATTER = shutil.which("clang-format-14") or shutil.which("clang-format")
SUFFIXES = (".h", ".cpp", ".cu", ".cuh")


def deviations(*paths):
    done = subprocess.run([FORMATTER, "--dry-run", "-Werror", *map(str, paths)], capture_output=True, text=True, cwd=house.ROOT)
    return sorted({line.split(":")[0] for line in done.stderr.splitlines() if "-Wclang-format-violations" in line})


class Format(unittest.TestCase):
    def test_every_source_is_formatted(self):
        listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True, cwd=house.ROOT).stdout.split("\0")
        sources = [path for path in listed if path.endswith(SUFFIXES) and (house.ROOT / path).exists()]
        self.assertGreater(len(sources), 800)
        self.assertEqual(deviations(*sources), [], "clang-format -i puts them right")

    def test_a_deviation_is_found(self):
        path = pathlib.Path(house.ROOT, "tests", "architecture", "deviation.cpp.tmp.cpp")
        path.write_text("int  f( ){return 1;}\n")
        self.addCleanup(path.unlink)
        self.assertEqual(deviations(path), [str(path)])


if __name__ == "__main__":
    version = subprocess.run([FORMATTER, "--version"], capture_output=True, text=True).stdout if FORMATTER else ""
    if "version 14." not in version:
        print("skipped: clang-format 14 is not here" + (f", but {version.strip()}" if version else ""))
        sys.exit(77)
    unittest.main()
