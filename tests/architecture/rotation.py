"""What is too slow for every change goes round: changed files each time, and an eighth of the house that moves on with every commit.

The number of the commit chooses the eighth, so that a commit has one verdict and eight commits see all. Without a history (an archive, a shallow clone) the day does.
"""
import datetime
import pathlib
import subprocess
import sys

import house

EIGHTHS = 8


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=house.ROOT).stdout


def turn():
    """The number of commits, or of the day."""
    whole = git("rev-parse", "--is-shallow-repository").strip() == "false"
    return int(git("rev-list", "--count", "HEAD")) if whole else datetime.date.today().toordinal()


def eighth(names, at=None):
    """Every eighth of the names, from the place that it is the turn of."""
    at = turn() if at is None else at
    return [name for place, name in enumerate(sorted(names)) if place % EIGHTHS == at % EIGHTHS]


def changed(*tops):
    """Paths that differ from the last commit, are not in it yet, or that it changed; sorted."""
    listed = [git("diff", "--name-only", "HEAD", "--", *tops), git("ls-files", "--others", "--exclude-standard", "--", *tops), git("diff", "--name-only", "HEAD~1", "HEAD", "--", *tops)]
    return sorted({path for path in "".join(listed).splitlines() if pathlib.Path(house.ROOT, path).exists()})


if __name__ == "__main__":   # rotation.py N: whose turn it is of N
    print(turn() % int(sys.argv[1]))
