"""The phases of tests/run_gpu.sh, which says how it is called."""
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

SECONDS = 460   # a phase; a command on a borrowed machine has ten minutes
ALL = {"tests": 200, "ranks": 240, "kernels": 120, "measure": 300, "speed": 160}   # seconds of each, where they follow each other; speed: a model
FAILED, NO_GPU = 1, 77


def say(text):
    print(f"gpu: {text}", file=sys.stderr, flush=True)


def folder_of_reports():
    return pathlib.Path(os.environ.get("OUT", ROOT / "build/gpu_report"))


def perform(phase, found, device, model, until):
    began, found.until = time.monotonic(), until
    report = Report(folder_of_reports() / f"{phase}{'_' + model if model else ''}.json")
    try:
        getattr(phases, phase)(found, report, device, model)
    except Exception:   # whatever it is: the report keeps it, and the next phase begins
        report.fail(traceback.format_exc())
    report.put("seconds", time.monotonic() - began)
    report.put("ended", True)
    say(f"{phase} {model} took {time.monotonic() - began:.0f} s, {len(report.failures)} failures: {report.path}")
    return not report.failures


def each_phase(words, device):
    """(phase, model, seconds) of a command line."""
    models = list(device.models)
    if words in (["--all"], ["--rehearse"]):
        return [(phase, model, ALL[phase]) for phase in ALL for model in (models if phase == "speed" else [""])]
    phase, model = words[0].removeprefix("--"), words[1] if len(words) > 1 else ""
    known = phase in ALL and (model in models if phase == "speed" else not model)
    if not known:
        sys.exit(f"gpu: {' '.join(words)}: --pack, --rehearse, --all, --tests, --ranks, --kernels, --measure, or --speed with one of {', '.join(models)}")
    return [(phase, model, SECONDS)]


def packed():
    build = ROOT / "build/cuda"
    subprocess.run(["cmake", "--preset", "cuda", "-DCMAKE_CUDA_ARCHITECTURES=90", "-DBUILD_TESTING=ON"], cwd=ROOT, check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", str(build), "--target", "gpu_checks"], cwd=ROOT, check=True, stdout=sys.stderr)
    pack(build, programs.carry_folder())


def rehearsal_programs():
    build = ROOT / "build/dev"
    return programs.Programs(build / "bin", programs.gpu_tests(build, ("-R", devices.REHEARSED_TESTS)), pathlib.Path("/nowhere"), 1)


def main(words):
    if words == ["--pack"]:
        return packed()
    began, rehearses = time.monotonic(), words[0] == "--rehearse"
    device = devices.REHEARSAL if rehearses else devices.CARD
    wanted = each_phase(words, device)
    try:
        found = rehearsal_programs() if rehearses else programs.find(SECONDS)
    except programs.Missing as missing:
        say(str(missing))
        return FAILED
    if not rehearses and not gpus():
        say("no GPU: nvidia-smi names none; the programs are here, nothing was run")
        return NO_GPU
    if len(wanted) == 1:   # what was built first took of its time
        return 0 if perform(phase=wanted[0][0], found=found, device=device, model=wanted[0][1], until=began + SECONDS) else FAILED
    went_well = [perform(phase, found, device, model, time.monotonic() + seconds) for phase, model, seconds in wanted]
    return 0 if all(went_well) else FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["--all"]))
