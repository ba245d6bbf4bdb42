"""The pack on a machine that lacks what is packed: a namespace without this machine's copies, without .deps and build, with torch elsewhere, and without a network.

There the packed programs start, two ranks talk over the packed Open MPI, and preset cuda configures. Needs build/cuda_check (architecture_cuda_preset_test)
and the right to mount; skipped aloud without them (77).
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import pack
import programs
from report import ROOT

BUILD = (ROOT / "build/cuda_check").resolve()
TOOLS = ("cmake", "ctest", "g++", "ld", "nvcc", "ninja", "python3", "git", "mount", "tar")
LIBRARIES = pathlib.Path("/usr") / programs.LIBRARIES
ELSEWHERE_TOLD = ("cmake/[Bb]oost*", "pkgconfig/mpi*.pc", "pkgconfig/ompi*.pc", "pkgconfig/orte.pc", "openmpi", "libpmix*")   # where CMake would find the same
ELSEWHERE = "/opt/torch/.venv"

# Run as root of namespaces of its own, of mounts and of a network that has this machine alone (SIOCSIFFLAGS, IFF_UP): scratch folder, venv, what to hide (a file), then a command.
HOUSE = r"""
set -eu
python3 -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh", b"lo", 1))'
scratch=$1 venv=$2 hidden=$3; shift 3
mount -t tmpfs none "$scratch"
mkdir -p "$scratch"/usr "$scratch"/usr.work "$scratch"/opt
mount -t overlay overlay -o lowerdir=/usr,upperdir="$scratch"/usr,workdir="$scratch"/usr.work /usr
xargs -a "$hidden" -d '\n' rm -rf --
mount --bind "$scratch"/opt /opt
mkdir -p /opt/torch/.venv
mount --bind "$venv" /opt/torch/.venv
mount -t tmpfs none "$venv"
[ ! -d build ] || mount -t tmpfs none build
exec "$@"
"""


# Configures preset cuda with what the pack brings: arguments are its folder and the build's. Then LibTorch's header that asks for most of CUDA's is read as the worker reads it.
CONFIGURED = r"""
import json, os, pathlib, re, subprocess, sys
sys.path.insert(0, 'tests/gpu')
import programs
carry, build = sys.argv[1:]
command, more = programs.configuring(pathlib.Path(carry), build, 90)
subprocess.run(command, env=os.environ | more, check=True)
commands = json.loads(subprocess.run(['ninja', '-C', build, '-t', 'compdb'], capture_output=True, text=True, check=True).stdout)
worker = next(each['command'] for each in commands if 'executor_launch.dir/' in each['output'])
subprocess.run(['g++', '-std=c++20', '-fsyntax-only', *re.findall(r'-isystem\S+', worker.replace('-isystem ', '-isystem')), '-x', 'c++', '-'],
               input='#include <ATen/cuda/CUDAContextLight.h>\n', text=True, check=True)
print('headers are found')
"""
TOOLKIT = pathlib.Path("/usr/local/cuda/include")   # nvcc may come without these
OF_LIBRARIES = ("cublas*", "cusparse*", "cusolver*", "cufft*", "curand*", "nvtx3")


def may_mount():
    tried = subprocess.run(["unshare", "-m", "-n", "sh", "-c", "mount -t tmpfs none /mnt && mkdir /mnt/a /mnt/b && mount -t overlay overlay "
                            "-o lowerdir=/usr,upperdir=/mnt/a,workdir=/mnt/b /usr"], capture_output=True, text=True)
    return tried.returncode == 0


def hidden_files(carry):
    """What was packed, but for what the tools of a machine with a compiler are linked with."""
    tools = {str(pathlib.Path(path).resolve()) for tool in TOOLS if shutil.which(tool) for path in pack.needed(shutil.which(tool))}
    taken = (carry / "taken.txt").read_text().splitlines()
    return sorted({path for each in taken for path in (each, str(pathlib.Path(each).resolve())) if str(pathlib.Path(each).resolve()) not in tools} |
                  {"/usr/bin/mpirun", "/usr/bin/mpicc", "/usr/bin/mpicc.openmpi", "/usr/include/boost"} |
                  {str(path) for what in ELSEWHERE_TOLD for path in LIBRARIES.glob(what)} |
                  {str(path.resolve()) for what in OF_LIBRARIES for path in TOOLKIT.glob(what)})


class Pack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.kept.name)
        cls.carry, cls.scratch, cls.hidden = folder / "carry", folder / "scratch", folder / "hidden.txt"
        cls.scratch.mkdir()
        pack.pack(BUILD, cls.carry)   # not optimized, so larger than what is taken along: if it fits, that does
        cls.hidden.write_text("\n".join(hidden_files(cls.carry)) + "\n")

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def bare(self, *command, **environment):
        """On the bare machine."""
        venv = (ROOT / ".deps/venv").resolve()
        there = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "OUT")}
        there |= {"PATH": f"{ELSEWHERE}/bin:/usr/local/cuda/bin:/usr/bin:/bin", "MESHWRIGHT_CARRY": str(self.carry)} | environment
        return subprocess.run(["unshare", "-m", "-n", "bash", "-c", HOUSE, "bash", str(self.scratch), str(venv), str(self.hidden), *map(str, command)], cwd=ROOT, env=there,
                              capture_output=True, text=True, timeout=500)

    def on_bare(self, words):
        """Python in tests/gpu, with `found`: the programs of the pack."""
        return self.bare("python3", "-c", f"import sys; sys.path.insert(0, 'tests/gpu'); import programs; found = programs.find(300)\n{words}")

    def test_what_was_packed_is_not_there_otherwise(self):
        for file in ("/usr/include/fmt", "/usr/include/yaml-cpp", "/usr/include/unicode", "/usr/include/zlib.h", LIBRARIES / "libmpi.so.40", "/usr/bin/mpirun", ROOT / ".deps/venv/bin", ROOT / "build/dev"):
            self.assertEqual(self.bare("test", "!", "-e", file).returncode, 0, file)
        self.assertEqual(self.bare("test", "-e", f"{ELSEWHERE}/bin/python3").returncode, 0)
        reached = self.bare("python3", "-c", "import socket; socket.create_connection(('192.0.2.1', 80), 5)")   # of no machine (RFC 5737)
        self.assertIn("unreachable", reached.stderr)

    def test_the_programs_start_and_nothing_is_built(self):
        ended = self.bare("tests/run_gpu.sh", "--tests")
        self.assertEqual(ended.returncode, 77, ended.stdout + ended.stderr)
        self.assertIn("no GPU", ended.stderr)
        listed = self.on_bare("for test in found.tests:\n"
                              "  name = test['command'][0]\n"
                              "  if name.startswith('{bin}') and 'write' not in name:\n"
                              "    print(found.run([name.replace('{bin}', str(found.folder)), '--gtest_list_tests']))")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("OnAGpu", listed.stdout)
        self.assertNotIn("error while loading", listed.stdout)

    def test_two_ranks_talk(self):
        ended = self.on_bare("print(found.run(['mpirun', '-np', '2', '--bind-to', 'none', found.folder / 'parity_test', '--device', 'checked', "
                             "'--gtest_filter=Streams.EachMicrobatchsReductionIsBehindTheLast']))")
        self.assertIn("[  PASSED  ] 1 test", ended.stdout, ended.stderr)

    def test_a_missing_library_is_seen(self):
        programs.unpack(self.carry, programs.LIBRARIES_ASIDE)
        self.addCleanup(shutil.rmtree, self.carry / "bin")   # the other tests unpack it by themselves
        (library,) = (self.carry / "usr" / programs.LIBRARIES).glob("libmpi.so.40.*")
        aside = library.rename(library.with_name("aside"))
        self.addCleanup(aside.rename, library)
        self.assertIn("libmpi", self.bare("python3", "-c", "import sys, pathlib; sys.path.insert(0, 'tests/gpu'); import programs; "
                                          f"print(programs.starts(pathlib.Path('{self.carry}/bin'), pathlib.Path('{self.carry}')))").stderr)

    def test_another_cuda_is_seen_and_what_to_do_is_in_the_report(self):
        """LibTorch without the runtime that the programs were built with, and no compiler to build them again."""
        reports = self.scratch.parent / "reports"
        ended = self.bare("bash", "-c", f"mount -t tmpfs none {ELSEWHERE}/lib/python3*/site-packages/nvidia/cu13/lib; for nvcc in $(type -ap nvcc); do "
                          "mount --bind /bin/false $nvcc; done; tests/run_gpu.sh --tests", OUT=str(reports))
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertIn("of the pack does not start here", ended.stderr)
        self.assertIn("error while loading shared libraries", ended.stderr)
        (said,) = json.loads((reports / "programs.json").read_text())["failures"]
        self.assertIn("ended with 1", said)

    def test_preset_cuda_configures_with_it(self):
        ended = self.bare("python3", "-c", CONFIGURED, self.carry, self.scratch / "configured")
        self.assertEqual(ended.returncode, 0, ended.stdout[-2000:] + ended.stderr[-3000:])
        self.assertIn("Found MPI", ended.stdout)
        self.assertIn("headers are found", ended.stdout)


if __name__ == "__main__":
    if not (BUILD / "bin/parity_test").exists():
        print(f"skipped: {BUILD} is not built; architecture_cuda_preset_test builds it")
        sys.exit(77)
    if os.geteuid() != 0 or not may_mount():
        print("skipped: this user may not mount, so nothing of this machine can be hidden")
        sys.exit(77)
    unittest.main(verbosity=2)
