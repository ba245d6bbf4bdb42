#!/usr/bin/env bash
# Builds preset cuda, runs every test labelled gpu and times the kernels, on a machine that has a GPU, torch 2.11, CUDA 13, g++ and CMake, and
# perhaps nothing else: no network, MPI, Qt, ninja or packages. One JSON report.
#
#   tests/run_gpu.sh --pack   on a machine where cmake/setup.sh ran: the headers and libraries that such a machine lacks -> .deps/carry (17 MB);
#                             take that folder along beside the source
#   tests/run_gpu.sh          the report goes to $OUT/gpu_report.json, or build/cuda/gpu_report.json
#
# Exit codes: 0 all ran and passed; 1 a build or a test failed; 77 built, but there is no GPU: nothing was run and no report was written.
# MESHWRIGHT_CARRY names another folder than .deps/carry.
set -euo pipefail
cd "$(dirname "$0")/.."

carry=${MESHWRIGHT_CARRY:-.deps/carry}
build=build/cuda
libraries=usr/lib/$(uname -m)-linux-gnu

say() { echo "gpu: $*" >&2; }

# Headers whole, of Boost those that our sources reach; CMake's package files keep their places, so that they find what lies beside them.
pack() {
  local -a boost
  mapfile -t boost < <(grep -rhoE '#include <boost/[^>]+>' sim planner executor | sort -u | g++ -std=c++20 -M -x c++ - |
    grep -oE 'usr/include/boost/[^ \]+')
  rm -rf "$carry"
  mkdir -p "$carry"
  (cd / && tar -cf - "${boost[@]}" usr/include/{CLI,fmt,gmock,gtest,nlohmann,oneapi,tbb} usr/share/cmake/{CLI11,nlohmann_json} \
    "$libraries"/{libfmt.so*,libtbb*.so*,libg{mock,test}*.a} "$libraries"/cmake/{fmt,GTest,TBB}) | tar -C "$carry" -xf -
  say "$(du -sm "$carry" | cut -f1) MB in $carry"
}

configure() {
  local -a options=(-DMESHWRIGHT_WERROR=OFF)  # of this compiler's warnings nothing is known
  command -v ninja >/dev/null || options+=(-G "Unix Makefiles")
  if [ -d "$carry" ]; then  # its headers are searched last, as the machine's own would be: LibTorch brings another fmt, and that comes first
    CPLUS_INCLUDE_PATH=$(realpath "$carry")/usr/include
    export CPLUS_INCLUDE_PATH
    options+=("-DCMAKE_PREFIX_PATH=$(realpath "$carry")/usr" "-DBOOST_ROOT=$(realpath "$carry")/usr")
  fi
  [ -z "$capability" ] || options+=("-DCMAKE_CUDA_ARCHITECTURES=$capability")
  cmake --preset cuda "${options[@]}"
}

if [ "${1:-}" = --pack ]; then
  pack
  exit 0
fi
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -d .) || capability=
started=$SECONDS
configure
cmake --build $build --target gpu_checks --parallel "$(nproc)"
say "built in $((SECONDS - started)) s"
if [ -z "$capability" ]; then
  say "no GPU: nvidia-smi names none; everything is built, nothing was run"
  exit 77
fi

parts=$PWD/$build/gpu_report
rm -rf "$parts"
mkdir -p "$parts"
failed=0
MESHWRIGHT_GPU_REPORT=$parts GTEST_OUTPUT=json:$parts/tests/ ctest --test-dir $build -L '^gpu$' --timeout 150 --no-tests=error --output-on-failure || failed=1
$build/bin/cuda_kernels_benchmark >"$parts/kernels.json" || failed=1
python3 tests/reference/compare_on_device.py "$build/bin" "$parts/speed.json" || failed=1
python3 tests/gpu_report.py "$parts" "${OUT:-$build}/gpu_report.json" || failed=1
say "report in ${OUT:-$build}/gpu_report.json after $((SECONDS - started)) s"
exit $failed
