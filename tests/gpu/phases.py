"""The phases of the first hour on a card. Each takes the programs and its report, writes after every figure, and says what failed."""
import json
import pathlib
import re
import sys
import tempfile

from report import ROOT

REFERENCE = ROOT / "tests/reference"
sys.path.insert(0, str(REFERENCE))
import compare_on_device as reference  # noqa: E402

STATES = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
GTEST = re.compile(r"^(?:\[1,0\]<stdout>:\s*)?\[ +(OK|FAILED|SKIPPED) +\] ([^\s,]+\.[^\s,]+)")
UNITTEST = re.compile(r"^(\w+) \(.*\) \.\.\. (ok|FAIL|ERROR|skipped)")
WORDS = {"ok": "passed", "FAIL": "failed", "ERROR": "failed", "skipped": "skipped"}


def state_of(line):
    """(test, state) of a line of GoogleTest or unittest, or None."""
    found = GTEST.match(line)
    if found:
        return found.group(2), STATES[found.group(1)]
    found = UNITTEST.match(line)
    return (found.group(1), WORDS[found.group(2)]) if found else None


def filled(word, programs, scratch):
    for name, value in {"{bin}": programs.folder, "{build}": scratch, "{source}": ROOT, "{python}": sys.executable}.items():
        word = word.replace(name, str(value))
    return word


def run_test(test, programs, report, scratch, more, limit):
    """Its states as they come, for so many seconds; of a failure the last lines."""
    name, states, last = test["name"], {}, []
    command = [filled(word, programs, scratch) for word in test["command"]]
    for line in programs.lines(command, more | test["environment"], limit):
        status, last = line, [*last[-60:], line]   # what comes last is how it ended
        state = state_of(str(line))
        if state:
            states[state[0]] = state[1]
            report.put("tests", report.figures["tests"] | {name: states})
    figures = {"status": status, **({} if status == 0 else {"words": last})}
    report.put("programs", report.figures["programs"] | {name: figures})
    failed = [test_name for test_name, state in states.items() if state == "failed"]
    if status != 0 or failed:
        report.fail(f"{name}: " + f"ended with {status}; failed: {', '.join(failed) or 'none'}")


def run_tests(programs, report, are_of_ranks, more=None):
    report.put("tests", {})
    report.put("programs", {})
    with tempfile.TemporaryDirectory() as scratch:
        mine = [test for test in programs.tests if test["name"].endswith("_ranks") == are_of_ranks]
        for number, test in enumerate(mine, 1):   # one that hangs takes no more than half of what is left to others
            run_test(test, programs, report, scratch, more or {}, programs.left() / (1 if number == len(mine) else 2))
    counts = [state for states in report.figures["tests"].values() for state in states.values()]
    report.put("counts", {state: counts.count(state) for state in STATES.values()})
    if "passed" not in counts:
        report.fail("no test passed")


def tests(programs, report, device, _):
    """Kernels against their CPU twins, training against the CPU's, the worker: every test labelled gpu of one rank."""
    run_tests(programs, report, are_of_ranks=False, more=device.share_of_tests)


def ranks(programs, report, device, _):
    """Two ranks on one card, staged through the host: every composition of two."""
    run_tests(programs, report, are_of_ranks=True, more=device.share_of_tests)


def rows_of(programs, report, name, command):
    """JSON objects, one a line, as they come."""
    rows = []
    for line in programs.lines(command):
        status = line
        if str(line).startswith("{"):
            rows.append(json.loads(line))
            report.put(name, rows)
        elif isinstance(line, str) and line:
            print(line, file=sys.stderr)
    if status != 0:
        report.fail(f"{name} ended with {status}")


def kernels(programs, report, device, _):
    """Our kernels against a copy; LibTorch's products and attention against what the card can do."""
    if device.name == "cuda":
        rows_of(programs, report, "kernels", [programs.folder / "cuda_kernels_benchmark"])
    rows_of(programs, report, "roofline", [sys.executable, ROOT / "tests/gpu/roofline.py", device.name])


def worker(programs, folder, plan, steps, device, *more):
    """A rank without a launcher. Returns its last words where it failed."""
    status, said = programs.run([programs.folder / "meshwright-worker", "run", "--plan", plan, "--data", folder / "tokens.bin", "--steps", steps, "--out",
                                 folder / "run", "--device", device.name, "--no-checkpoint", *more])
    return "" if status == 0 else f"ended with {status}: {said[-1500:]}"


def compared(programs, case, profile, device):
    """One plan of this card: simulated by what was measured, run, and put beside it. A dictionary, or what went wrong."""
    model, (samples, sequence, steps), fixed = case
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "config.json").write_text(json.dumps(model))
        words = [word for axis in fixed for word in ("--fix", axis)]
        command = [programs.folder / "meshwright", "plan", "--model", folder / "config.json", "--cluster", profile, "--devices", 1, "--global-batch", samples,
                   "--sequence", sequence, "--runnable", *words, "-o", folder / "plan.json"]
        status, said = programs.run(command)
        if status != 0:
            return {"failed": said[-1500:]}
        reference.write_tokens(folder / "tokens.bin", model["vocab_size"])
        failed = worker(programs, folder, folder / "plan.json", steps, device)
        if failed:
            return {"failed": failed}
        status, said = programs.run([programs.folder / "meshwright", "compare", folder / "run", "--warm-up", 4, "--json"])
        if status != 0:
            return {"failed": said[-1500:]}
        found = json.loads(said[said.index("{"):])
    step, memory = found["step"], (found["memory_simulated_bytes"], found["memory_measured_bytes"])
    return {"simulated_seconds": step["simulated_seconds"], "measured_seconds": step["measured_seconds"],
            "time_error": step["simulated_seconds"] / step["measured_seconds"] - 1, "simulated_bytes": memory[0], "measured_bytes": memory[1],
            "memory_error": memory[0] / memory[1] - 1, "kinds": found["kinds"], "memory_composition_bytes": found["memory_composition_bytes"]}


def measure(programs, report, device, _):
    """The card as a hardware profile, and every plan's simulated against measured time and memory by it."""
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "profile.json"
        status, said = programs.run([programs.folder / "meshwright-worker", "measure", "--out", path, "--device", device.name])
        if status != 0:
            return report.fail(f"measure ended with {status}: {said[-1500:]}")
        report.put("profile", json.loads(path.read_text()))   # whole: it belongs into profiles/hardware
        rows, longest = {}, 0.0
        for name, case in device.plans.items():
            before = programs.left()
            if before < 1.5 * longest:   # not begun, rather than killed
                return report.put("plans_left_out", [each for each in device.plans if each not in rows])
            rows[name] = compared(programs, case, path, device)
            report.put("plans", rows)
            if "failed" in rows[name]:
                report.fail(f"{name}: {rows[name]['failed']}")
            longest = max(longest, before - programs.left())


def speed(programs, report, device, model):
    """Executor (tasks, one graph a step, products in 8 bit) against PyTorch: eager, strong eager, compiled; interleaved rounds until the time is over."""
    def call(command):
        status, said = programs.run(command)
        if status != 0:
            raise reference.Failure(f"{pathlib.Path(str(command[0])).name} ended with {status}: {said[-1500:]}")
        return said

    try:
        for found in reference.compare(programs.folder, device.models[model], device.name, call, programs.left):
            report.put(model, found)
        if "failed" in report.figures[model]:
            report.fail(f"{model}: {report.figures[model]['failed']}")
    except reference.Failure as failure:
        report.fail(f"{model}: {failure}")
