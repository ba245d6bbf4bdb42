"""Finds the programs to run, and runs them: those of the pack, made on another machine; else those that are built here.

Packed programs name no folder of this machine: LibTorch, NCCL and the CUDA runtime come from the Python that runs this, the rest from the pack.
"""
import ctypes
import glob
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time

from report import ROOT, gpus

PYTHON = re.compile(r"/python3[\d.]*$")
LIBRARIES = f"lib/{os.uname().machine}-linux-gnu"


HEADERS_ASIDE = "headers.tar.xz"
LIBRARIES_ASIDE = "libraries.tar.xz"   # those that shrink to a third
TIME_WAS_OVER = "the time was over"


def end_with_the_parent(signal_of_death=1):
    """In a child, before its program: a phase that is killed leaves nothing on the card (prctl, PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(signal_of_death, signal.SIGKILL, 0, 0, 0)


class Missing(Exception):
    """What is not there, and the remedy."""


def carry_folder():
    return pathlib.Path(os.environ.get("MESHWRIGHT_CARRY", ROOT / ".deps/carry")).absolute()


def library_folders(carry):
    spec = importlib.util.find_spec("torch")
    if spec is None:
        raise Missing(f"{sys.executable} has no torch: run this with the python3 that has torch 2.11")
    torch = pathlib.Path(spec.submodule_search_locations[0])
    return [torch / "lib", *sorted(glob.glob(f"{torch.parent}/nvidia/*/lib")), carry / "usr" / LIBRARIES,
            carry / "usr" / LIBRARIES / "pmix2/lib"]


def environment(carry):
    """Of everything that is started. Open MPI: where it was packed, on one machine, with no remote shell to look for, also for root."""
    mine = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", "GTEST_COLOR": "no", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                         "OMPI_MCA_plm": "isolated", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    if (carry / "usr/bin/mpirun").exists():
        mine |= {"OPAL_PREFIX": str(carry / "usr"), "PMIX_MCA_pcompress_base_silence_warning": "1", "PATH": f"{carry / 'usr/bin'}:{mine['PATH']}",
                 "OMPI_MCA_hwloc_base_binding_policy": "none"}
    if carry.is_dir():
        mine["LD_LIBRARY_PATH"] = ":".join(str(folder) for folder in library_folders(carry))
    return mine


def gpu_tests(build, chosen=("-L", "^gpu$")):
    """What ctest would start: name, command, environment, with {bin}, {build}, {source} and {python} for folders that another machine has elsewhere."""
    asked = subprocess.run(["ctest", "--test-dir", str(build), *chosen, "--show-only=json-v1"], capture_output=True, text=True, check=True)

    def portable(word):
        word = "{python}" if PYTHON.search(word) else "mpirun" if word.endswith("/mpirun") else word
        return word.replace(f"{build}/bin", "{bin}").replace(str(build), "{build}").replace(str(ROOT), "{source}")

    def properties(test):
        return {entry["name"]: entry["value"] for entry in test.get("properties", [])}

    return [{"name": test["name"], "command": [portable(word) for word in test["command"]],
             "environment": dict(word.split("=", 1) for word in properties(test).get("ENVIRONMENT", []))}
            for test in json.loads(asked.stdout)["tests"] if "command" in test]


class Programs:
    """folder: of the programs; tests: as pack.gpu_tests() tells them; environment: to start them in."""

    def __init__(self, folder, tests, carry, seconds):
        self.folder, self.tests, self.environment = pathlib.Path(folder), tests, environment(carry)
        self.until = time.monotonic() + seconds

    def left(self):
        return max(1.0, self.until - time.monotonic())

    def start(self, command, more=None):
        """In a process group of its own, which stop() ends whole."""
        return subprocess.Popen([str(word) for word in command], cwd=ROOT, env=self.environment | (more or {}), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=end_with_the_parent)

    def lines(self, command, more=None, limit=None):
        """What it prints, line by line; then its exit status, "time" where the time was over."""
        child = self.start(command, more)
        os.set_blocking(child.stdout.fileno(), False)
        until, rest = time.monotonic() + min(limit or self.left(), self.left()), b""
        while True:
            has_ended, is_late = child.poll() is not None, time.monotonic() > until
            *whole, rest = (rest + (child.stdout.read() or b"")).split(b"\n")
            yield from (line.decode(errors="replace") for line in whole)
            if has_ended or is_late:
                break
            time.sleep(0.05)
        if not has_ended:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        child.stdout.close()
        yield rest.decode(errors="replace")
        yield child.returncode if has_ended else TIME_WAS_OVER

    def run(self, command, more=None, limit=None):
        """(exit status, what it printed)"""
        *printed, status = self.lines(command, more, limit)
        return status, "\n".join(printed)


def starts(folder, carry):
    """Whether the packed programs run here: another C library, or another LibTorch, may refuse them."""
    for name in ("meshwright", "meshwright-worker"):
        status, said = Programs(folder, [], carry, 60).run([folder / name, "--help"])
        if status not in (0, 2):
            print(f"gpu: {name} of the pack does not start here ({status}): {said[-500:]}", file=sys.stderr)
            return False
    return True


def configuring(carry, folder, capability):
    """(command, environment) that configure preset cuda with what the pack brings."""
    options = ["-B", str(folder), "-DMESHWRIGHT_WERROR=OFF", f"-DCMAKE_CUDA_ARCHITECTURES={capability}"]   # of this compiler's warnings nothing is known
    if shutil.which("ninja") is None:
        options += ["-G", "Unix Makefiles"]
    if not carry.is_dir():
        return ["cmake", "--preset", "cuda", *options], {}
    if not (carry / "usr/include").is_dir():
        unpack(carry, HEADERS_ASIDE)
    libraries = carry / "usr" / LIBRARIES
    options += [f"-DCMAKE_PREFIX_PATH={carry}/usr", f"-DBOOST_ROOT={carry}/usr", "-DMPI_C_LIB_NAMES=mpi", f"-DMPI_mpi_LIBRARY={libraries}/libmpi.so",
                f"-DMPI_C_HEADER_DIR={libraries}/openmpi/include", f"-DCMAKE_EXE_LINKER_FLAGS=-Wl,-rpath-link,{libraries}"]
    # Its headers are searched last, as the machine's own would be: LibTorch brings another fmt, and that comes first.
    return ["cmake", "--preset", "cuda", *options], {"CPLUS_INCLUDE_PATH": f"{carry}/usr/include", "C_INCLUDE_PATH": f"{carry}/usr/include"}


def build(carry, seconds):
    """Preset cuda for this machine's GPU; kept between calls, so that a killed build goes on."""
    folder, capability = ROOT / "build/cuda", (gpus() or [{"compute_cap": "9.0"}])[0]["compute_cap"].replace(".", "")
    making, (configure, more) = Programs(ROOT, [], carry, seconds), configuring(carry, folder, capability)
    for command in (configure, ["cmake", "--build", folder, "--target", "gpu_checks", "--parallel", os.cpu_count()]):
        status, said = making.run(command, more)
        if status != 0:
            raise Missing(f"{' '.join(map(str, command))} ended with {status}:\n{said[-3000:]}")
    return folder / "bin", gpu_tests(folder)


def unpack(carry, archive):
    """Aside, then each folder that is looked for moved at once: where it is killed, the next command unpacks again."""
    aside = carry / "unpacking"
    shutil.rmtree(aside, ignore_errors=True)
    with tarfile.open(carry / archive) as packed:
        packed.extractall(aside)
    for path in (*(aside / "usr" / LIBRARIES).glob("*"), aside / "usr/include", aside / "bin"):
        if os.path.lexists(path):
            place = carry / path.relative_to(aside)
            place.parent.mkdir(parents=True, exist_ok=True)
            path.replace(place)
    shutil.rmtree(aside)


def find(seconds, to_build=None):
    """to_build: of these, what building may take where there is no pack that starts."""
    carry = carry_folder()
    if (carry / LIBRARIES_ASIDE).is_file() and not (carry / "bin").is_dir():   # of an earlier phase, which may still run
        unpack(carry, LIBRARIES_ASIDE)
    if (carry / "bin").is_dir() and starts(carry / "bin", carry):
        return Programs(carry / "bin", json.loads((carry / "tests.json").read_text()), carry, seconds)
    began = time.monotonic()
    folder, tests = build(carry, to_build or seconds)
    return Programs(folder, tests, carry, seconds - (time.monotonic() - began))
