"""A sample of what the planner emits, run and compared as loop_test.py does: none is refused. emitted_test.py <plans> <meshwright> <perform_plans>"""
import pathlib
import sys
import tempfile

from performed import perform_all

UNEXPLAINED = 4 << 10   # bytes that a few plans of less than a megabyte lack beyond 2 %: docs/decisions/137


def main():
    with tempfile.TemporaryDirectory() as scratch:
        found = perform_all(*sys.argv[2:4], sorted(pathlib.Path(sys.argv[1]).glob("*.json")), pathlib.Path(scratch), UNEXPLAINED)
    return 1 if not found or any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
