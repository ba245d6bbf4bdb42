"""Writes the table of certificates in docs/figures/planner.md: what searches claim of every candidate of small spaces, held against simulations of all of them (tests/planner/certificate.h).

usage: certificate_table.py PLANNER_TEST   (build/dev/bin/planner_test; a minute)
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sim" / "validation"))
import marks  # noqa: E402

FIGURES = ROOT / "docs" / "figures" / "planner.md"
SPACES = {"IsBruteForceOnManySmallSpaces": "fastest step, gaps of 1 and 10 %", "IsBruteForceByOtherObjectives": "energy and time to train, a gap of 2 %"}
OF_GOOGLETEST = {"name", "file", "line", "status", "result", "timestamp", "time", "classname", "failures"}


def tests(program):
    """What GoogleTest reports of them, by name."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        chosen = ":".join(f"Search.{name}" for name in [*SPACES, "AWrongCertificateIsFound"])
        subprocess.run([program, f"--gtest_filter={chosen}", f"--gtest_output=json:{report}"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return {test["name"]: test for suite in json.loads(report.read_text())["testsuites"] for test in suite["testsuite"]}


def rows(found):
    yield "| questions of | certificates | candidates that they judge | claims that do not hold |\n|---|---|---|---|"
    for name, what in SPACES.items():
        faults = len(found[name].get("failures", []))
        yield f"| {what} | {found[name]['certificates']} | {int(found[name]['candidates']):,} | {faults} |"
    planted = {what: int(count) for what, count in found["AWrongCertificateIsFound"].items() if what not in OF_GOOGLETEST}
    kinds = ", ".join(f"{what} {count}" for what, count in sorted(planted.items()))
    yield f"\nFalse claims that were planted, and how many of them: {kinds}. {'All are' if not found['AWrongCertificateIsFound'].get('failures') else 'Not all are'} found."


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    marks.between(FIGURES, "certificates", "\n".join(rows(tests(str(pathlib.Path(sys.argv[1]).resolve())))))
