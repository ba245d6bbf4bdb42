"""The program `meshwright`, in the package: `python -m meshwright`."""
import sys

from . import _core


def main() -> int:
    return _core.command_line(["meshwright", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
