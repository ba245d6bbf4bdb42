#!/usr/bin/env python3
"""Makes the figures of docs/figures/trust.md: what was tried to break a run, a checkpoint, a reader or a recipe on this machine, and what came of it.

    examples/trust.py PHASE...      kills flips hangs recipes scripts fuzz ranks; each leaves runs/trust/PHASE.json
    examples/trust.py --table       docs/figures/trust.md from what is there; a phase that was not run keeps what the page says of it

Needs build/dev (tests/run.sh builds it). `recipes` asks the programs of cmake/setup.sh programs, `scripts` those of MESHWRIGHT_SCRIPTS, and `fuzz`
and `ranks` read the sessions of tests/bad_input/fuzz.sh and tests/ranks.sh.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(os.environ.get("MESHWRIGHT", ROOT / "build/dev/bin/meshwright"))
WORKER = PROGRAM.parent / "meshwright-worker"
FOLDER = ROOT / "runs" / "trust"
MODELS = ROOT / "profiles" / "models"
STEPS, EVERY = 40, 4
MACHINE = {"format": "meshwright.hardware/1", "name": "trust-cpu", "kind": "cpu", "source": "for trying alone: not measured", "date": "2026-01-01", "memory": "8 GiB",
           "memory_bandwidth": "20 GB/s", "peak": {"fp64": "40 GFLOP/s", "fp32": "80 GFLOP/s"}, "kernel_overhead": "2 us", "devices_per_node": 8,
           "cores_per_node": 2, "overlaps_communication": False, "intra_node": {"type": "shared memory", "latency": "5 us", "bandwidth": "5 GB/s"}}
LAYOUTS = [  # name, model, ranks, fixed axes
    ("solo", "tiny-gpt2", 1, []),
    ("data 2", "tiny-gpt2", 2, ["data=2", "zero=0"]),
    ("data 2, ZeRO 1", "tiny-gpt2", 2, ["data=2", "zero=1"]),
    ("data 2, ZeRO 2", "tiny-llama", 2, ["data=2", "zero=2"]),
    ("data 2, ZeRO 3", "tiny-gpt2", 2, ["data=2", "zero=3"]),
    ("data 2, ZeRO 1, optimizer on the host", "tiny-gpt2", 2, ["data=2", "zero=1", "offload_optimizer=true"]),
    ("inputs on the host", "tiny-llama", 1, ["recompute=full", "offload_activations=true"]),
    ("tensor 2", "tiny-gpt2", 2, ["tensor=2"]),
    ("context 2", "tiny-llama", 2, ["context=2"]),
    ("pipeline 2", "tiny-llama", 2, ["pipeline=2", "schedule=1f1b"]),
    ("pipeline 2, zbv", "tiny-gpt2", 2, ["pipeline=2", "schedule=zbv"]),
    ("data 2 x pipeline 2", "tiny-gpt2", 4, ["data=2", "pipeline=2", "zero=1"]),
]
KILLED_AT = (5, 14, 23)


def say(text):
    print(text, file=sys.stderr, flush=True)


def call(*words, expect=0):
    done = subprocess.run([str(word) for word in words], cwd=ROOT, text=True, capture_output=True, timeout=300)
    if expect is not None and done.returncode != expect:
        raise RuntimeError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done


def plan_of(name, model, ranks, fixed):
    folder = FOLDER / re.sub(r"\W+", "_", name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "machine.json").write_text(json.dumps(MACHINE, indent=1))
    if not (FOLDER / "tokens.bin").exists():
        call(PROGRAM, "tokenize", ROOT / "LICENSE", "-o", FOLDER / "tokens.bin")
    axes = [word for axis in fixed for word in ("--fix", axis)]
    call(PROGRAM, "plan", "--model", MODELS / f"{model}.json", "--cluster", folder / "machine.json", "--devices", ranks, "--global-batch", 8, "--sequence", 64,
         "--runnable", "--offload", "--checkpoint-interval", EVERY, *axes, "-o", folder / "plan.json")
    return folder


def run_words(folder, run, *more):
    return [str(word) for word in (PROGRAM, "run", folder / "plan.json", "--data", FOLDER / "tokens.bin", "--steps", STEPS, "-o", run, *more)]


def losses(run):
    path = run / "metrics.ndjson"
    return {line["step"]: line["loss"] for line in map(json.loads, path.read_text().splitlines())} if path.exists() else {}


def weights(run):
    """Of the newest checkpoint, whole: what the training came to, to the bit."""
    shutil.rmtree(run / "exported", ignore_errors=True)
    call(PROGRAM, "export", run, "-o", run / "exported")
    return (run / "exported" / "model.safetensors").read_bytes()


def wait_for_step(run, step, process):
    while len(losses_lines(run)) < step and process.poll() is None:
        time.sleep(0.005)


def losses_lines(run):
    path = run / "metrics.ndjson"
    text = path.read_text(errors="replace") if path.exists() else ""
    return [line for line in text.split("\n") if line]


def process_of(run, rank, ranks):
    report = call(WORKER, "report", "--out", run, "--ranks", ranks).stdout
    return int(re.search(rf"rank {rank}: .*\(process (\d+)\)", report).group(1))


def kill_once(folder, ranks, step, dice):
    """A rank, mpirun's caller or everything dies at about that step; then --resume."""
    run = folder / f"killed{step}"
    process = subprocess.Popen(run_words(folder, run), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_step(run, step, process)
    killed = process.poll() is None
    try:
        os.kill(process_of(run, dice.randrange(ranks), ranks), signal.SIGKILL)
    except ProcessLookupError:  # it had ended
        killed = False
    killed = process.wait(timeout=120) != 0 and killed
    reached = max(losses(run), default=0)
    saved = [path.name for path in (run / "checkpoints").glob("*")] if (run / "checkpoints").exists() else []
    call(*run_words(folder, run, *(["--resume"] if saved else [])), expect=0 if saved else None)
    return run, {"asked": step, "reached": reached, "killed": killed, "had_checkpoint": bool(saved)}


def kills():
    dice, points = random.Random(5), []
    for name, model, ranks, fixed in LAYOUTS:
        try:
            folder = plan_of(name, model, ranks, fixed)
        except RuntimeError as error:
            say(f"{name}: no plan\n{error}")
            continue
        call(*run_words(folder, folder / "undisturbed"))
        undisturbed, bits = losses(folder / "undisturbed"), weights(folder / "undisturbed")
        for step in KILLED_AT:
            run, point = kill_once(folder, ranks, step, dice)
            point.update(layout=name, bitwise=losses(run) == undisturbed and weights(run) == bits)
            points.append(point)
            say(str(point))
        shutil.rmtree(folder)
    return points


FLIPS_EACH = 12  # turned bits of each class of byte


def classes_of(name, content):
    """Class of byte -> where it stands. A safetensors file: eight bytes of length, the header, the numbers."""
    if not name.endswith(".safetensors"):
        return {name: range(len(content))}
    header = 8 + int.from_bytes(content[:8], "little")
    return {"tensors: length of the header": range(8), "tensors: header": range(8, header), "tensors: numbers": range(header, len(content))}


def what_a_resume_reads(run, newest):
    return sorted(newest.iterdir()) + [run / name for name in ("plan.json", "versions.json", "history.ndjson", "metrics.ndjson")] + [FOLDER / "tokens.bin"]


def verdict_of(done, run, expected):
    if done.returncode != 0:
        return "refused" if done.returncode == 30 else f"exit {done.returncode}"
    if "other tokens than before" in done.stderr:
        return "told"
    return "harmless" if after_resume(run) == expected else "silent"


def after_resume(run):
    """Losses of the new steps, of the lines that a turned bit left readable, and the weights."""
    new = [line for line in losses_lines(run) if re.match(rf'{{"step": ?({STEPS + 1}|{STEPS + 2})\b', line)]
    return [json.loads(line)["loss"] for line in new], weights(run)


def flips():
    """A bit of each class of byte that a resume reads. Harmless: it goes on to the same bits; told: it says what is new; silent: to others."""
    folder = plan_of("flips", "tiny-gpt2", 2, ["data=2", "zero=1"])
    run, before, dice, found = folder / "run", folder / "before", random.Random(7), []
    call(*run_words(folder, run))
    newest = max((run / "checkpoints").iterdir(), key=lambda path: path.name)
    shutil.copytree(run, before)
    more = [str(word) for word in run_words(folder, run, "--resume")]
    more[more.index("--steps") + 1] = str(STEPS + 2)
    call(*more)
    expected = after_resume(run)
    assert len(expected[0]) == 2, losses_lines(run)
    for path in what_a_resume_reads(run, newest):
        untouched = (before / path.relative_to(run) if path.is_relative_to(run) else path).read_bytes()
        for kind, places in classes_of(path.name, untouched).items():
            for at in sorted(dice.sample(places, min(FLIPS_EACH, len(places)))):
                shutil.rmtree(run)
                shutil.copytree(before, run)
                content = bytearray(untouched)
                content[at] ^= 1 << dice.randrange(8)
                path.write_bytes(content)
                done = call(*more, expect=None)
                found.append({"class": kind, "at": at, "verdict": verdict_of(done, run, expected)})
                say(f"{path.name}, byte {at}: {found[-1]['verdict']}")
                if not path.is_relative_to(run):
                    path.write_bytes(untouched)
    shutil.rmtree(folder)
    return found


def hangs():
    found = []
    for name, model, ranks, fixed in [one for one in LAYOUTS if one[0] in ("data 2", "pipeline 2", "data 2 x pipeline 2")]:
        for limit in (6, 12):
            folder = plan_of(f"hang {name}", model, ranks, fixed)
            run = folder / "run"
            words = run_words(folder, run, "--hang-limit", limit)
            words[words.index("--steps") + 1] = "100000"
            process = subprocess.Popen(words, cwd=ROOT, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            wait_for_step(run, 3, process)
            os.kill(process_of(run, ranks - 1, ranks), signal.SIGSTOP)
            stopped, named = time.monotonic(), None
            for line in process.stderr:
                if f"rank {ranks - 1} holds up the run" in line:
                    named = time.monotonic() - stopped
                    break
            process.communicate(timeout=60)
            found.append({"layout": name, "limit": limit, "named_after": named, "ended_after": time.monotonic() - stopped, "exit": process.returncode})
            say(str(found[-1]))
            shutil.rmtree(folder)
    return found


def test_output(*words, **environment):
    done = subprocess.run([sys.executable, *map(str, words)], cwd=ROOT, text=True, capture_output=True, env={**os.environ, **environment})
    return done.stdout + done.stderr


def recipes():
    said = test_output("tests/sim/recipe/programs_test.py", PROGRAM.parent / "write_recipes")
    read = [{"program": name, "accepted": int(accepted), "of": int(of)} for name, accepted, of in re.findall(r"(\w+): (\d+) of (\d+) accepted and equal", said)]
    trained = re.findall(r"(\w+) on (\d+) ranks: (\d+) of (\d+) trained as one process does", said)
    return read + [{"program": name, "ranks": int(ranks), "accepted": int(accepted), "of": int(of)} for name, ranks, accepted, of in trained] or {"why": said[-300:]}


def scripts():
    said = test_output("tests/cli/recipe_scripts_test.py", PROGRAM)
    found = re.search(r"(\d+) scripts read right, (\d+) beyond a plan and refused", said)
    wrong = len(re.findall(r"^(?:FAIL|ERROR): .*\(megatron", said, re.M))
    return {"program": "Megatron-LM", "right": int(found[1]), "refused": int(found[2]), "wrong": wrong} if found else {"why": said[-300:]}


def standing(title):
    """The part that stands in the document: what was tried on another day keeps its figures."""
    page = ROOT / "docs" / "figures" / "trust.md"
    text = page.read_text() if page.exists() else ""
    found = re.search(rf"^## {title}\n\n(.*?)\n*(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group(1).splitlines() if found else ["Not run."]


def rows_standing(title):
    """The rows of a table that stands in the document, as texts: what other checkouts have found."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in standing(title) if line.startswith("|")]
    return {row[0]: row[1:] for row in cells[2:]}


def fuzz():
    """The sessions of this checkout since they were counted last, on top of what the page says of each reader."""
    told = ROOT / "runs/fuzz/sessions.ndjson"
    sessions = [json.loads(line) for line in told.read_text().splitlines()]
    told.rename(told.with_name("counted.ndjson"))
    inputs, failed = collections.Counter(), collections.Counter()
    for one in sessions:
        inputs[one["reader"]] += one["inputs"]
        failed[one["reader"]] += one["failed"]
    before = {reader: [int(cell.replace(",", "")) for cell in cells] for reader, cells in rows_standing("Readers").items()}
    readers = [*before, *(reader for reader in inputs if reader not in before)]
    return {name: {one: before.get(one, (0, 0))[at] + here[one] for one in readers} for at, (name, here) in enumerate((("inputs", inputs), ("failed", failed)))}


def ranks():
    """The sessions of this checkout; what none of them repeated keeps its count of the page."""
    sessions = [json.loads(line) for line in (ROOT / "runs/ranks/sessions.ndjson").read_text().splitlines()]
    found, here = collections.defaultdict(lambda: {"no": 0, "yes": 0, "failed": 0}), collections.Counter()
    for test, cells in rows_standing("Ranks, again and again").items():
        found[test] = dict(zip(("no", "yes", "failed"), map(int, cells)))
    for one in sessions:
        if not here[one["test"], one["busy"]]:
            found[one["test"]][one["busy"]] = 0
        here[one["test"], one["busy"]] += 1
        found[one["test"]][one["busy"]] += one["passed"]
        found[one["test"]]["failed"] += one["failed"]
    return found


PHASES = {one.__name__: one for one in (kills, flips, hangs, recipes, scripts, fuzz, ranks)}


def table_of_ranks(found):
    lines = ["Tests that start ranks, again and again (`tests/ranks.sh --times 20`; busy: other programs took all cores). Those that are not listed were not repeated so.", "",
             "| test | passed on a quiet machine | passed beside a busy neighbour | failed |", "|---|---|---|---|"]
    return lines + [f"| {test} | {one['no']} | {one['yes']} | {one['failed']} |" for test, one in sorted(found.items())]


def table_of_fuzz(found):
    total = sum(found["inputs"].values())
    lines = [f"libFuzzer with the address and undefined-behaviour sanitizers (`tests/bad_input/fuzz.sh`): {total:,} inputs. A failure is a crash, exit code 40, more than",
             "20 s or more than 2 GB; each was mended, and its input is in `tests/bad_input/corpus`, which the tests replay. Of fairseq, Lightning, the Trainer (trainer: YAML of",
             "Axolotl and LLaMA-Factory; trainer_line: a command) and GPT-NeoX most inputs were read by a build in which `sim/recipe` alone is instrumented.", "",
             "| reader | inputs | sessions that failed |", "|---|---|---|"]
    return lines + [f"| {reader} | {count:,} | {found['failed'][reader]} |" for reader, count in found["inputs"].items()]


def table_of_kills(found):
    with_one = [point for point in found if point["had_checkpoint"]]
    by_layout = collections.defaultdict(list)
    for point in found:
        by_layout[point["layout"]].append(point)
    lines = [f"A rank was killed (SIGKILL) after step 5, 14 or 23 of {STEPS}, checkpoints every {EVERY} steps, then `--resume`: {len(found)} kill points, {len(with_one)} with a checkpoint,",
             f"{sum(point['bitwise'] for point in found)} came to the losses and weights of the undisturbed run, bit by bit. \"killed\": the run had not ended before the kill.", "",
             "| layout | kill points | killed | bitwise |", "|---|---|---|---|"]
    return lines + [f"| {layout} | {len(points)} | {sum(point['killed'] for point in points)} | {sum(point['bitwise'] for point in points)} |" for layout, points in by_layout.items()]


def table_of_flips(found):
    by_class = collections.defaultdict(collections.Counter)
    for one in found:
        by_class[one["class"]][one["verdict"]] += 1
    verdicts = sorted({one["verdict"] for one in found} | {"refused", "harmless", "silent"})
    lines = [f"One bit of what a resume reads was turned, then `--resume`: {len(found)} bits. Harmless: the same losses and weights; told: it goes on and says that the data is another; silent would be others without a word.", "",
             "| bytes | " + " | ".join(verdicts) + " |", "|---" * (1 + len(verdicts)) + "|"]
    return lines + [f"| {kind} | " + " | ".join(str(counts[verdict]) for verdict in verdicts) + " |" for kind, counts in by_class.items()]


def table_of_hangs(found):
    lines = ["A rank was stopped (SIGSTOP); seconds until it was named, and until the run had ended.", "", "| layout | --hang-limit | named after | ended after | exit code |", "|---|---|---|---|---|"]
    return lines + [f"| {one['layout']} | {one['limit']} s | {'never' if one['named_after'] is None else format(one['named_after'], '.1f') + ' s'} | {one['ended_after']:.1f} s | {one['exit']} |" for one in found]


def table_of_recipes(found):
    if isinstance(found, dict):
        return [f"Not asked: {found['why'].splitlines()[-1]}"]
    pinned = [line for name in ("programs.txt", "programs_alone.txt") for line in (ROOT / "tests/sim/recipe" / name).read_text().split()]
    versions = dict(line.split("==") for line in pinned) | {"csv": "of PyTorch 2.11"}
    wheels = {"megatron": "megatron-core", "bridge": "megatron-bridge", "nemo": "nemo-toolkit"}
    named = {one["program"]: wheels.get(one["program"], one["program"]) for one in found}
    lines = ["The programs' own code reads what is exported: accepted, and of the same layout, batch, precision and network as the plan.", "", "| program | accepted and equal | of |", "|---|---|---|"]
    of_ranks = {True: ", trained on {ranks} ranks over gloo as by one process", False: ""}
    return lines + [f"| {named[one['program']]} {versions.get(named[one['program']], '(a table of its fields)')}{of_ranks['ranks' in one].format(**one)} | {one['accepted']} | {one['of']} |" for one in found]


def table_of_scripts(found):
    if "why" in found:
        return [f"Not asked: {found['why'].splitlines()[-1]}"]
    return ["Argument lists of Megatron-LM's own tests, `import`ed and held against what they say.", "", "| program | read right | refused | wrong |", "|---|---|---|---|",
            f"| {scripts_program()} | {found['right']} | {found['refused']} | {found['wrong']} |"]


def scripts_program():
    """The lists are those of the rows `megatron-ci`, which say in which container each test ran."""
    rows = json.loads((ROOT / "profiles" / "published" / "rows2.json").read_text())
    days = sorted(re.search(r"\d{4}-\d\d-\d\d", row["plan"]["software"]["version"])[0] for row in rows if row["source"]["key"] == "megatron-ci")
    return f"Megatron-LM, dev containers of {days[0]} to {days[-1]}"


TABLES = [("Readers", "fuzz", table_of_fuzz), ("Kills", "kills", table_of_kills), ("Turned bits", "flips", table_of_flips), ("Hangs", "hangs", table_of_hangs), ("Ranks, again and again", "ranks", table_of_ranks),
          ("Exports", "recipes", table_of_recipes), ("Imports", "scripts", table_of_scripts),
          ("Recipes of strangers", "by hand", list)]  # no phase counts it: it stands as it was written


def write_table():
    lines = ["# What was tried to break it", "", "Made by `examples/trust.py`; each part says what was done, and nothing is said that was not measured. Kills, turned bits and hangs were made on 30 November 2026, beside compilers that took both cores. The kills of the last layout are of a second try: in the first mpirun did not end the three other ranks, which waited 120 s, as long as the script does; since then `run` ends such a run after 10 s, and the three points were made again.",
             "The planner's memory against every memory row stands in `memory.md`.", ""]
    for title, phase, table in TABLES:
        path = FOLDER / f"{phase}.json"
        lines += [f"## {title}", "", *(table(json.loads(path.read_text())) if path.exists() else standing(title)), ""]
    (ROOT / "docs" / "figures" / "trust.md").write_text("\n".join(lines[:-1]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phase", nargs="*", choices=[*PHASES, []])
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for phase in options.phase:
        (FOLDER / f"{phase}.json").write_text(json.dumps(PHASES[phase](), indent=1))
    if options.table:
        write_table()


if __name__ == "__main__":
    main()
