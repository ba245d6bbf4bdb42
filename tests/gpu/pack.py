"""Gathers in one folder what a bare machine with a GPU lacks: the programs, stripped, and the headers and libraries to build them again.

  bin/        programs of preset cuda, and what ctest knows of the tests labelled gpu (tests.json)
  usr/        libraries and CMake packages in the places that they have here; Open MPI without its network plugins
  headers.tar.xz, libraries.tar.xz
"""
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from programs import HEADERS_ASIDE, LIBRARIES, LIBRARIES_ASIDE, gpu_tests
from report import ROOT

MOST = 42 << 20   # bytes: the machine takes 64 MiB, sources and all, and these grow
HEADERS = ("CLI", "fmt", "gmock", "gtest", "nlohmann", "oneapi", "tbb", "unicode", "yaml-cpp", "zconf.h", "zlib.h")
SYSTEM = re.compile(r"/(libc|libm|libstdc\+\+|libgcc_s|ld-linux.*|libdl|libpthread|librt)\.so")   # of every Linux
# Every program holds the same kernels: by a window of 64 MiB they are kept once, and programs take half of what they took.
OF_ALIKE = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 64 << 20}]
UNUSED_OF_MPI = re.compile(r"mca_(io|fs|fcoll|fbtl|sharedfp|scoll|spml|memheap|sshmem|atomic|crs|vprotocol)_")   # files, SHMEM, checkpoints of processes
OF_WHEELS = re.compile(r"/site-packages/")   # LibTorch, CUDA, NCCL: the machine's own


def needed(file):
    """Paths of the shared libraries that a program or library takes, without those of every Linux and those of wheels."""
    found = subprocess.run(["ldd", str(file)], capture_output=True, text=True).stdout
    lost = re.findall(r"(\S+) => not found", found)
    if lost:
        raise SystemExit(f"pack: {file} needs {', '.join(lost)}, which is not here")
    return {path for path in re.findall(r"=> (/\S+)", found) if not SYSTEM.search(path) and not OF_WHEELS.search(path)}


def boost_headers():
    """Of Boost what our sources reach."""
    included = set()
    for top in ("sim", "planner", "executor"):
        for path in (ROOT / top).rglob("*.[ch]*"):
            included |= set(re.findall(r"#include <boost/[^>]+>", path.read_text()))
    made = subprocess.run(["g++", "-std=c++20", "-M", "-x", "c++", "-"], input="\n".join(sorted(included)) + "\n", capture_output=True, text=True, check=True)
    return re.findall(r"/usr/include/boost/[^ \\\n]+", made.stdout)


def open_mpi(libraries):
    """mpirun, its help texts, headers, and those plugins that need no library beyond its own: one machine, no network of its own kind."""
    programs = ["/usr/bin/orterun", "/usr/bin/orted"]
    core = set().union(*(needed(program) for program in programs), needed(libraries / "libmpi.so.40"), {str(libraries / "libmpi.so.40")})
    plugins = [path for path in sorted((libraries / "openmpi/lib/openmpi3").glob("mca_*.so")) if not UNUSED_OF_MPI.match(path.name)]
    pmix = libraries / "pmix2/lib"
    core |= {str(pmix / "libpmix.so.2")} | needed(pmix / "libpmix.so.2") | {str(path) for path in libraries.glob("libmca_common_sm.so.*")}
    names = {pathlib.Path(path).name for path in core}
    kept = [str(path) for path in plugins if {pathlib.Path(library).name for library in needed(path)} <= names]
    return [*programs, *core, *kept, "/usr/share/openmpi",
            *(str(libraries / "openmpi/include" / name) for name in ("mpi.h", "mpi_portable_platform.h"))]


def build_files(libraries):
    """Headers, libraries to link and CMake packages."""
    patterns = ("libfmt.so*", "libtbb*.so*", "libyaml-cpp.so*", "libicuuc.so*", "libicui18n.so*", "libicudata.so*", "libz.so*", "libgmock*.a", "libgtest*.a", "libmpi.so*", "libopen-*.so*", "openmpi/lib/libmpi.so", "openmpi/lib/libopen-*.so")
    packages = [str(libraries / "cmake" / name) for name in ("fmt", "GTest", "TBB", "yaml-cpp")]
    return [*(f"/usr/include/{name}" for name in HEADERS), *boost_headers(), "/usr/share/cmake/CLI11", "/usr/share/cmake/nlohmann_json", *packages,
            *(str(path) for pattern in patterns for path in libraries.glob(pattern))]


def copy(path, carry):
    """To the same place below `carry`; of a link also what it points to; /lib is /usr/lib."""
    path = pathlib.Path(path)
    path = path.parent.resolve() / path.name
    target = carry / path.relative_to("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        if not target.is_symlink():
            target.symlink_to(os.path.relpath(path.resolve(), path.parent))
        return copy(path.resolve(), carry)
    if path.is_dir():
        return shutil.copytree(path, target, symlinks=False, dirs_exist_ok=True)
    if not target.exists():
        shutil.copy2(path, target)
    return target


def pack(build, carry):
    tests = gpu_tests(build)
    programs = sorted({word[len("{bin}/"):] for test in tests for word in test["command"] if word.startswith("{bin}/")} | {"meshwright", "meshwright-worker", "cuda_kernels_benchmark"})
    libraries = pathlib.Path("/usr") / LIBRARIES
    shutil.rmtree(carry, ignore_errors=True)
    (carry / "bin").mkdir(parents=True)
    files = set(build_files(libraries)) | set(open_mpi(libraries))
    for name in programs:
        subprocess.run(["strip", "-o", str(carry / "bin" / name), str(build / "bin" / name)], check=True)
        files |= needed(build / "bin" / name)
    for path in sorted(files):
        copy(path, carry)
    copy("/usr/bin/orterun", carry)
    (carry / "usr/bin/mpirun").symlink_to("orterun")
    (carry / "tests.json").write_text(json.dumps(tests, indent=1) + "\n")
    (carry / "taken.txt").write_text("\n".join(sorted(files)) + "\n")
    with tarfile.open(carry / HEADERS_ASIDE, "w:xz", preset=1) as archive:   # for a build alone: a sixth of their size
        archive.add(carry / "usr/include", "usr/include")
    shutil.rmtree(carry / "usr/include")
    with lzma.open(carry / LIBRARIES_ASIDE, "w", filters=OF_ALIKE) as file, tarfile.open(fileobj=file, mode="w") as archive:   # and 35 MiB of tables of Unicode
        for path in [*sorted((carry / "usr" / LIBRARIES).glob("libicu*")), *sorted((carry / "bin").iterdir())]:
            archive.add(path, path.relative_to(carry))
            path.unlink()
    (carry / "bin").rmdir()
    size = sum(path.stat().st_size for path in carry.rglob("*") if path.is_file() and not path.is_symlink())
    print(f"gpu: {len(programs)} programs and {size / 2**20:.1f} MiB in {carry}", file=sys.stderr)
    if size > MOST:
        raise SystemExit(f"pack: {size / 2**20:.1f} MiB are more than the {MOST >> 20} MiB that can be taken along: leave a program out")
