"""The whole loop over every composition (see performed.py).
With what the parity tests reported it makes the table of docs/figures/compositions.md, which must stand there; of a mesh that they left to another turn
(tests/in_turn.sh) it need not. --write after MESHWRIGHT_WHOLE=1 ctest -R parity.

loop_test.py <plans/loop> <folder of parity reports> <meshwright> <perform_plans> [--write]
"""
import json
import pathlib
import re
import sys
import tempfile

from performed import perform_all

PLANS, REPORTS, PROGRAMS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:5]
FIGURES = pathlib.Path(__file__).parents[2] / "docs/figures/compositions.md"
BEGIN, END = "<!-- compositions: made by tests/parity/loop_test.py -->\n", "<!-- /compositions -->\n"


def parity_results():
    """(test, composition) -> passed; what no job ran is not there."""
    results = {}
    for report in REPORTS.glob("parity_*.json"):
        for suite in json.loads(report.read_text())["testsuites"]:
            for test in suite["testsuite"] if suite["name"] == "All/Compositions" else []:
                name, composition = test["name"].split("/")
                if test["result"] == "COMPLETED":
                    results[name, composition] = not test.get("failures")
    return results


def table(loop, parity):
    compositions = [name for name in loop if not re.search(r"_zero\d$", name)]
    meshes = sorted({name.split("_")[0] for name in compositions}, key=lambda mesh: (len(mesh), mesh))

    def verdict(members, passed):
        known = [name for name in members if passed(name) is not None]
        failed = [name for name in known if not passed(name)]
        return "no: " + ", ".join(failed) if failed else "yes" if known else "-"

    lines = ["| Ranks | with | fp64 <= 1e-10 of one process | ZeRO-1, 2, 3 = DDP, every bit | keys and ledger equal, memory <= 2 % (16 and 8 bit: + 24 KiB; convolutions: + 48 KiB) |", "|---|---|---|---|---|"]
    for mesh in meshes:
        members = [name for name in compositions if name.split("_")[0] == mesh]
        variants = ", ".join(name[len(mesh) + 1:].replace("_", " ") or "plain" for name in members)
        fp64 = verdict(members, lambda name: min((passed for (test, at), passed in parity.items() if at == name and "Agrees" in test), default=None))
        zero = verdict(members, lambda name: parity.get(("ZeroStagesAreBitwiseEqual", name)))
        whole = verdict([name for name in loop if name.split("_")[0] == mesh], lambda name: not loop[name])
        lines.append(f"| {mesh} | {variants} | {fp64} | {zero} | {whole} |")
    return "\n".join(lines) + "\n"


def holds(standing, made):
    """Cell by cell; "-" says nothing of a mesh that was left to another turn."""
    lines = [[line.split("|") for line in table.splitlines()] for table in (standing, made)]
    return len(lines[0]) == len(lines[1]) and all(len(a) == len(b) and all(x == y or y == " - " for x, y in zip(a, b)) for a, b in zip(*lines))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        loop = perform_all(*PROGRAMS, PLANS, pathlib.Path(scratch))
    made = table(loop, parity_results())
    before, _, rest = FIGURES.read_text().partition(BEGIN)
    standing, _, after = rest.partition(END)
    if "--write" in sys.argv:
        FIGURES.write_text(before + BEGIN + made + END + after)
    elif not holds(standing, made):
        print(f"docs/figures/compositions.md does not hold this table; write it with --write\n{made}")
        return 1
    return 1 if not loop or any(loop.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
