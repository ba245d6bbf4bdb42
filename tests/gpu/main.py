"""The phases of tests/run_gpu.sh, which says how it is called."""
import itertools
import os
import pathlib
import subprocess
import sys
import time
import traceback

import devices
import phases
import programs
from pack import pack
from report import ROOT, Report, gpus

SECONDS = 460   # a phase by itself; a command on a borrowed machine has ten minutes
# A card is lent for 15 minutes in all, and starting its machine takes up to two of them, each time. So what is worth most is one command of eight minutes
# with its start, and what is worth most then is another: (phase, model, seconds). What a phase leaves of its time is the next one's. Kernels that no card
# has seen, and what is made of them, come before what a card has shown once.
FIRST = (("tests", "", 110), ("kernels", "", 40), ("speed", "gpt2-124m-dropout", 50), ("speed", "gpt2-124m", 80), ("measure", "", 70))
SECOND = (("ranks", "", 100), ("speed", "llama-1b", 80), ("speed", "gpt2-1.3b", 70), ("speed", "gpt2-350m", 60))
BUILDING = 150   # seconds, where packed programs do not start: what is left then is for the first phases
TOGETHER = {"--first": FIRST, "--second": SECOND, "--all": FIRST + SECOND}
PHASES = ("tests", "ranks", "kernels", "measure", "speed")
REHEARSED = 160   # seconds of a phase, and of each model
FAILED, NO_GPU = 1, 77


def say(text):
    print(f"gpu: {text}", file=sys.stderr, flush=True)


def folder_of_reports():
    return pathlib.Path(os.environ.get("OUT", ROOT / "build/gpu_report"))


def file_of(phase, words):
    """A command's report of a phase, of all its models: few files come back from a borrowed machine. No other command's."""
    return f"{phase}_{words[-1].removeprefix('--')}.json" if phase == "speed" else f"{phase}.json"


def perform(phase, found, device, model, until, report):
    began, found.until = time.monotonic(), until
    report.put("ended", False)
    try:
        getattr(phases, phase)(found, report, device, model)
    except Exception:   # whatever it is: the report keeps it, and the next phase begins
        report.fail(traceback.format_exc())
    report.put("seconds", report.figures.get("seconds", 0) + time.monotonic() - began)
    report.put("ended", True)
    say(f"{phase} {model} took {time.monotonic() - began:.0f} s, {len(report.failures)} failures: {report.path}")
    return not report.failures


def each_phase(words, device):
    """(phase, model, seconds) of a command line."""
    models = list(device.models)
    if words == ["--rehearse"]:
        return [(phase, model, REHEARSED) for phase in PHASES for model in (models if phase == "speed" else [""])]
    if len(words) == 1 and words[0] in TOGETHER:
        return list(TOGETHER[words[0]])
    phase, model = words[0].removeprefix("--"), words[1] if len(words) > 1 else ""
    known = phase in PHASES and len(words) < 3 and (model in models if phase == "speed" else not model)
    if not known:
        sys.exit(f"gpu: {' '.join(words)}: --pack, --rehearse, --first, --second, --all, --tests, --ranks, --kernels, --measure, or --speed with one of "
                 f"{', '.join(models)}")
    return [(phase, model, SECONDS)]


def packed():
    build = ROOT / "build/cuda"
    subprocess.run(["cmake", "--preset", "cuda", "-DCMAKE_CUDA_ARCHITECTURES=90", "-DBUILD_TESTING=ON"], cwd=ROOT, check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", str(build), "--target", "gpu_checks", "counted_cuda"], cwd=ROOT, check=True, stdout=sys.stderr)
    counted = ROOT / "tests/gpu/launches_test.py"   # each of their kinds of steps is issued once, without a card
    subprocess.run([sys.executable, str(counted)], cwd=ROOT, env=os.environ | {"COUNTED_PROGRAMS": str(build / "bin")}, check=True, stdout=sys.stderr)
    pack(build, programs.carry_folder())


def rehearsal_programs():
    build = ROOT / "build/dev"
    tests = programs.gpu_tests(build, ("-R", devices.REHEARSED_TESTS))
    beside = [test | {"name": f"{test['name']} beside", "command": [*test["command"], f"--gtest_filter={devices.REHEARSED_BESIDE[test['name']]}"],
                      "environment": test["environment"] | {"GTEST_TOTAL_SHARDS": "1"}} for test in tests if test["name"] in devices.REHEARSED_BESIDE]
    return programs.Programs(build / "bin", tests + beside, pathlib.Path("/nowhere"), 1)


def main(words):
    if words == ["--pack"]:
        return packed()
    began, rehearses = time.monotonic(), words[0] == "--rehearse"
    device = devices.REHEARSAL if rehearses else devices.CARD
    wanted = each_phase(words, device)
    try:
        found = rehearsal_programs() if rehearses else programs.find(SECONDS, BUILDING if len(wanted) > 1 else None)
    except programs.Missing as missing:
        Report(folder_of_reports() / "programs.json").fail(str(missing))
        return FAILED
    if not rehearses and not gpus():
        say("no GPU: nvidia-smi names none; the programs are here, nothing was run")
        return NO_GPU
    ends = itertools.accumulate((seconds for _, _, seconds in wanted), initial=began)   # what was built first took of their time
    reports, went_well = {}, True
    for (phase, model, _), until in zip(wanted, itertools.islice(ends, 1, None)):
        if phase not in reports:
            reports[phase] = Report(folder_of_reports() / file_of(phase, words))
        went_well &= perform(phase, found, device, model, until, reports[phase])
    return 0 if went_well else FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["--first"]))
