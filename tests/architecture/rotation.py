"""What is too slow for every change goes round: changed files each time, and a share of the house that moves on with every commit.

The number of the commit chooses the share, so that a commit has one verdict and sixteen commits see all. Without a history (an archive, a shallow clone) the day does.
MESHWRIGHT_WHOLE=1 in the environment asks for all of it.
"""
import datetime
import os
import pathlib
import subprocess
import sys

import house

SHARES = 16
QUESTIONS = ("clang", "cuda", "wheel", "address", "clang", "cuda", "wheel", "thread")   # whole builds for one question
# Every second commit one of them, each of which takes four to eight minutes; of the others every second one builds preset planner by itself.
BUILDS = tuple(build for place, question in enumerate(QUESTIONS) for build in (question, "" if place % 2 else "planner"))


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=house.ROOT).stdout


def turn():
    """The number of commits, or of the day."""
    whole = git("rev-parse", "--is-shallow-repository").strip() == "false"
    return int(git("rev-list", "--count", "--first-parent", "HEAD")) if whole else datetime.date.today().toordinal()


def is_whole():
    return bool(os.environ.get("MESHWRIGHT_WHOLE"))


def share(names, at=None, shares=SHARES):
    """Every sixteenth of the names, or another part, from the place that it is the turn of."""
    if at is None and is_whole():
        return sorted(names)
    at = turn() if at is None else at
    return [name for place, name in enumerate(sorted(names)) if place % shares == at % shares]


def build_of(at):
    return BUILDS[at % len(BUILDS)]


def leave_to_the_next(build, *tops):
    """Ends the test of a build whose turn it is not, as skipped; not where something in `tops` changed."""
    if not is_whole() and build_of(turn()) != build and not (tops and changed(*tops)):
        print("skipped: its turn is another commit's (tests/architecture/rotation.py); MESHWRIGHT_WHOLE=1 runs it")
        sys.exit(77)


def changed(*tops):
    """Paths that differ from the last commit, are not in it yet, or that it changed; sorted."""
    listed = [git("diff", "--name-only", "HEAD", "--", *tops), git("ls-files", "--others", "--exclude-standard", "--", *tops), git("diff", "--name-only", "HEAD~1", "HEAD", "--", *tops)]
    return sorted({path for path in "".join(listed).splitlines() if pathlib.Path(house.ROOT, path).exists()})


if __name__ == "__main__":   # rotation.py N: whose turn it is of N; rotation.py: which build's
    print(turn() % int(sys.argv[1]) if sys.argv[1:] else build_of(turn()))
