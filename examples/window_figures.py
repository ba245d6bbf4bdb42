#!/usr/bin/env python3
"""Makes the figures of the desktop program: builds its benchmarks, runs them offscreen and puts the table into gui/README.md.

    examples/window_figures.py [--build build/figures] [--run runs/quickstart/run] [--as-built]

Builds what is missing in a folder of its own (release, without LibTorch), writes a trace of 1 GB, as JSON and as gzip, and a snapshot of 230 MB into runs/figures
and removes them again. Times are processor time where a busy machine would stretch them. --run: a run folder that the window compares, if it is there. --as-built: takes the benchmarks that lie in the build folder, and the table says how they were built.
"""
import argparse
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time

from update_readme import replace_block

ROOT = pathlib.Path(__file__).resolve().parents[1]
README = ROOT / "gui" / "README.md"
FOLDER = ROOT / "runs" / "figures"
IMPORTS = ROOT / "tests" / "gui" / "import"
BENCHMARKS = ["timeline_benchmark", "table_benchmark", "import_benchmark", "window_benchmark"]


def say(text):
    print(text, file=sys.stderr, flush=True)


def build(folder):
    subprocess.run(["cmake", "--preset", "release", "-B", folder, "-DBUILD_TESTING=ON", "-DMESHWRIGHT_EXECUTOR=OFF"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", *BENCHMARKS], cwd=ROOT, check=True)


def how_built(folder):
    """The flags that tell builds apart: "-O3"."""
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (folder / "CMakeCache.txt").read_text(), re.M))
    kind = cache["CMAKE_BUILD_TYPE"].upper()
    optimized = re.search(r"-O\w", cache[f"CMAKE_CXX_FLAGS_{kind}"])
    return (optimized.group(0) if optimized else "-O0") + (", with assertions" if "ASSERTIONS" in cache[f"CMAKE_CXX_FLAGS_{kind}"] else "")


def printed(folder, name, *words):
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": "1", "LC_ALL": "C.UTF-8"}
    say(f"{name} {' '.join(map(str, words))}")
    text = subprocess.run([folder / "bin" / name, *words], cwd=ROOT, env=environment, check=True, text=True, stdout=subprocess.PIPE).stdout
    say(text)
    return text


def found(pattern, text):
    """The figures of the first line that matches."""
    match = re.search(pattern, text)
    if not match:
        sys.exit(f"no {pattern} in:\n{text}")
    return match.groups()


@contextlib.contextmanager
def files():
    """A trace, the same as gzip, a snapshot; gone afterwards."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = trace, packed, snapshot = [FOLDER / name for name in ("trace.json", "trace.json.gz", "snapshot.pickle")]
    try:
        subprocess.run([sys.executable, IMPORTS / "make_trace.py", "1000", trace], check=True)
        subprocess.run(["gzip", "--fast", "--keep", "--force", trace], check=True)
        subprocess.run([sys.executable, IMPORTS / "make_snapshot.py", "3500000", snapshot], check=True)
        trace.read_bytes()   # warm
        yield made
    finally:
        for path in made:
            path.unlink(missing_ok=True)


def rows(folder, run):
    timeline, table = printed(folder, "timeline_benchmark"), printed(folder, "table_benchmark")
    with files() as (trace, packed_trace, snapshot_file):
        plain, packed, snapshot = [printed(folder, "import_benchmark", path) for path in (trace, packed_trace, snapshot_file)]
        window = printed(folder, "window_benchmark", *([run] if run.exists() else []), trace, snapshot_file)
    frames = [float(found(rf"\b{slices} slices +{lines} rows .*p99 +([\d.]+)", timeline)[0])
              for slices, lines in ((4_000_000, 64), (16_000_000, 64), (16_000_000, 256))]
    (tasks, knob), (ranks, unfolded_tasks, unfolded) = (
        found(r"a turned knob, \d devices, (\d+) tasks: worst of 10 +([\d.]+)", timeline),
        found(r"a turned knob, (\d{4}) devices, (\d+) tasks: worst of 10 +([\d.]+)", timeline))
    arranged = [float(found(rf"{what}.*: +([\d.]+) ms", table)[0]) for what in ("sort by number", "sort by text", "filter")]
    size, slices, seconds, kept = found(r"([\d.]+) MB, (\d+) slices, .*: ([\d.]+) s, .* ([\d.]+) bytes", plain)
    snapshot_size, snapshot_seconds = found(r"([\d.]+) MB, .*: ([\d.]+) s", snapshot)
    started, = found(r"drawn window: (\d+) ms", window)
    seen, = found(r"a turned knob, every rank by itself: seen after (\d+) ms", window)
    ranks_shown, dense = found(r"a line a rank, (\d+) ranks .*: p99 ([\d.]+)", window)
    grouped, = found(r"a line a group, .*: p99 ([\d.]+)", window)
    busy, = found(r"in one go, at most: ([\d.]+) ms", window)
    return [("lines of a frame of 1920 pixels, p99: 4 million slices in 64 rows; 16 million in 64; in 256",
             ", ".join(f"{value:.1f}" for value in frames) + " ms", "16, 16, 33 ms"),
            (f"a turned knob, GPT-3 on 1,024 devices: folded ({int(tasks):,} tasks); {int(ranks):,} ranks one by one ({int(unfolded_tasks):,} tasks); until they are drawn",
             f"{float(knob):.0f} ms; {float(unfolded):.0f} ms; {seen} ms", "200 ms"),
            (f"a frame with {int(ranks_shown):,} ranks one by one, p99: a line a rank; a line a group", f"{float(dense):.1f} ms; {float(grouped):.1f} ms", "16 ms"),
            (f"{float(size) / 1000:.1f} GB of Kineto JSON ({int(slices) / 1e6:.2f} million slices); as gzip; kept; a memory snapshot of {snapshot_size} MB",
             f"{float(seconds):.1f} s; {float(found(r': ([0-9.]+) s', packed)[0]):.1f} s; {float(kept):.0f} bytes a slice; {float(snapshot_seconds):.1f} s",
             "5 s; -; 48; 5 s"),
            ("arrange 100,000 rows: sort by number, by text, filter", ", ".join(f"{value:.0f}" for value in arranged) + " ms", "100 ms"),
            ("the window's thread busy in one go, over all journeys; start to a drawn window", f"{float(busy):.0f} ms; {started} ms", "50 ms; 1 s")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "figures")
    parser.add_argument("--run", type=pathlib.Path, default=ROOT / "runs" / "quickstart" / "run")
    parser.add_argument("--as-built", action="store_true")
    options = parser.parse_args()
    if not options.as_built:
        build(options.build)
    got_rows = rows(options.build.resolve(), options.run.resolve())
    waiting = os.getloadavg()[2]   # of the last quarter of an hour: what ran here, and beside
    beside = f", beside other programs (load {waiting:.0f})" if waiting > os.cpu_count() else ""
    head = f"| Measured on {time.strftime('%Y-%m-%d')}, g++ {how_built(options.build)}, {os.cpu_count()} shared cores{beside} | Got | Goal |\n|---|---|---|\n"
    text = head + "\n".join(f"| {what} | {got} | {goal} |" for what, got, goal in got_rows)
    README.write_text(replace_block(README.read_text(), "figures", text))
    print(text)


if __name__ == "__main__":
    main()
