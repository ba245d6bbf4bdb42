"""The whole loop over every composition (see performed.py); a third of the plans takes its turn (architecture/rotation.py).
With what the parity tests reported it makes the table of docs/figures/compositions.md, which must stand there; of a mesh that they left to another turn
(tests/in_turn.sh) it need not. --write after MESHWRIGHT_WHOLE=1 ctest -R parity, with MESHWRIGHT_WHOLE=1.

loop_test.py <plans/loop> <folder of parity reports> <meshwright> <perform_plans> [--write]
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "architecture"))
import composition_table  # noqa: E402
import rotation  # noqa: E402
from performed import perform_all  # noqa: E402

PLANS, REPORTS, PROGRAMS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:5]
PARTS = 3
FIGURES = pathlib.Path(__file__).parents[2] / "docs/figures/compositions.md"
BEGIN, END = "<!-- compositions: made by tests/parity/loop_test.py -->\n", "<!-- /compositions -->\n"


def main():
    plans = {plan.stem: plan for plan in PLANS.glob("*.json")}
    with tempfile.TemporaryDirectory() as scratch:
        loop = perform_all(*PROGRAMS, [plans[name] for name in rotation.share(plans, shares=PARTS)], pathlib.Path(scratch))
    made = composition_table.table(sorted(plans), loop, composition_table.results(REPORTS))
    before, _, rest = FIGURES.read_text().partition(BEGIN)
    standing, _, after = rest.partition(END)
    if "--write" in sys.argv:
        FIGURES.write_text(before + BEGIN + made + END + after)
    elif not composition_table.holds(standing, made):
        print(f"docs/figures/compositions.md does not hold this table; write it with --write\n{made}")
        return 1
    return 1 if not loop or any(loop.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
