#!/usr/bin/env bash
# Installs what a fresh Debian 12 lacks to build and run Meshwright; run again, it costs nothing and needs no network.
#
#   cmake/setup.sh            everything: Debian packages, and PyTorch 2.11.0 in .deps/venv (its C++ libraries are our LibTorch)
#   cmake/setup.sh tests      that, ccache, clang-format, clang-tidy, TensorBoard, what a Python package is built with and documents are judged by, the CUDA 13 compiler if there is none, and Hugging Face transformers, PEFT and bitsandbytes (0.3 GB), which three tests ask; without them these are skipped
#   cmake/setup.sh programs   DeepSpeed, Accelerate, Lightning, torchtitan, Megatron-Core, Megatron-Bridge and NeMo 2 in .deps/programs (1.5 GB beside PyTorch), which one test asks about our exports; without them it is skipped
#   cmake/setup.sh planner    only what `cmake --preset planner` needs: no PyTorch, no MPI, no Qt
#   cmake/setup.sh cuda       everything, and the CUDA 13 compiler for `cmake --preset cuda` if the machine has none
#
# Each missing thing is named by its package. The CUDA compiler is needed by preset cuda only, a GPU by nothing here.
set -euo pipefail
cd "$(dirname "$0")/.."

planner_packages=(ca-certificates clang cmake g++ ninja-build python3 libboost-graph-dev libcli11-dev libfmt-dev
                  libgmock-dev libgtest-dev libicu-dev libtbb-dev libyaml-cpp-dev nlohmann-json3-dev zlib1g-dev)
executor_packages=(libbenchmark-dev libopenmpi-dev openmpi-bin python3-venv)
gui_packages=(fonts-dejavu-core fonts-wqy-microhei qt6-base-dev qt6-svg-dev qt6-qpa-plugins qt6-wayland libclang-rt-dev libgl-dev xvfb openbox weston)
test_packages=(ccache clang-format clang-tidy python3-dev python3-jsonschema)
wheels=(torch==2.11.0 numpy)
test_wheels=(transformers==5.23.0 peft==0.21.2 bitsandbytes==0.50.2)
reader_wheels=(tensorboard==2.21.0)
wheels_mib=7500  # unpacked and on the way
nvcc_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-cccl==13.0.85)  # 300 MB unpacked
venv=.deps/venv

say() { echo "set-up: $*" >&2; }
fail() { echo "set-up: $*" >&2; exit 1; }

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  command -v dpkg-query >/dev/null ||
    fail "this is no Debian system; install what these Debian packages hold, then build with a preset yourself: $*"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "missing packages: ${missing[*]}"
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    fail "neither root nor sudo is at hand; let an administrator run:  apt-get install ${missing[*]}"
  as_root apt-get update -qq || say "apt-get update failed; trying with the package lists that are here"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
    fail "apt-get could not install: ${missing[*]}; the set-up needs a package mirror once: check the network, then run this again"
}

make_venv() {
  $venv/bin/python -c '' 2>/dev/null && return 0
  local free_mib
  mkdir -p .deps
  free_mib=$(df --output=avail -m .deps | tail -n 1)
  [ "$free_mib" -ge $wheels_mib ] ||
    fail "${wheels[0]} needs $wheels_mib MiB in $PWD/.deps, $free_mib MiB are free; free some, or make .deps a link to a larger disk"
  say "PyTorch is 4.7 GB: a few minutes"
  rm -rf $venv
  /usr/bin/python3 -m venv $venv || fail "python3 -m venv failed; the package python3-venv provides it"
}

# install_wheels STAMP WHEEL...: the stamp in the venv says what was installed under that name
install_wheels() {
  local stamp=$venv/$1
  shift
  [ "$(cat "$stamp" 2>/dev/null)" = "$*" ] && return 0
  make_venv
  say "missing Python packages: $*"
  $venv/bin/python -m pip install --quiet --no-cache-dir --disable-pip-version-check "$@" >&2 ||
    fail "pip could not install: $*; the set-up needs PyPI (or a mirror, PIP_INDEX_URL) once: check the network, then run this again"
  echo "$*" >"$stamp"
}

has_nvcc() {
  local nvcc
  for nvcc in nvcc /usr/local/cuda/bin/nvcc; do
    $nvcc --version 2>/dev/null | grep -q 'release 13\.' && return 0
  done
  return 1
}

# The programs that recipes are for, beside the PyTorch of our own environment and apart from it. Versions: one table.
install_programs() {
  local place=.deps/programs site pinned alone
  mapfile -t pinned <tests/sim/recipe/programs.txt
  mapfile -t alone <tests/sim/recipe/programs_alone.txt
  [ "$(cat $place/ready 2>/dev/null)" = "${pinned[*]} ${alone[*]}" ] && return 0
  install_wheels ready "${wheels[@]}"
  say "missing programs: ${pinned[*]}"
  rm -rf $place
  $venv/bin/python -m venv $place
  site=$($venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$site" >"$($place/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pytorch.pth"
  DS_BUILD_OPS=0 $place/bin/python -m pip install --quiet --no-cache-dir --disable-pip-version-check "${pinned[@]}" >&2 ||
    fail "pip could not install: ${pinned[*]}; programs_test will be skipped"
  $place/bin/python -m pip install --quiet --no-deps --no-cache-dir --disable-pip-version-check "${alone[@]}" >&2 ||
    fail "pip could not install: ${alone[*]}; programs_test will be skipped"
  echo "${pinned[*]} ${alone[*]}" >$place/ready
}

# TensorBoard, which reads what a run writes: apart, since nothing is built with it.
install_reader() {
  local place=.deps/tensorboard
  [ "$(cat $place/ready 2>/dev/null)" = "${reader_wheels[*]}" ] && return 0
  say "missing Python packages: ${reader_wheels[*]}"
  rm -rf $place
  /usr/bin/python3 -m venv $place
  $place/bin/python -m pip install --quiet --no-cache-dir --disable-pip-version-check "${reader_wheels[@]}" >&2 ||
    fail "pip could not install: ${reader_wheels[*]}; check the network, then run this again"
  echo "${reader_wheels[*]}" >$place/ready
}

if [ "${1:-}" = programs ]; then
  install_programs
elif [ "${1:-}" = planner ]; then
  install_packages "${planner_packages[@]}"
else
  install_packages "${planner_packages[@]}" "${executor_packages[@]}" "${gui_packages[@]}"
  install_wheels ready "${wheels[@]}"
  case "${1:-}" in cuda | tests) has_nvcc || install_wheels nvcc "${nvcc_wheels[@]}" ;; esac
  if [ "${1:-}" = tests ]; then
    install_packages "${test_packages[@]}"
    (install_wheels tests "${test_wheels[@]}") || say "transformers_test, peft_test and bitsandbytes_test will be skipped"
    (install_reader) || say "step_events_test will be skipped"
  fi
fi
