#!/usr/bin/env bash
# Everything that needs a GPU, on a machine that has one, torch 2.11, CUDA 13, and perhaps nothing else: no network, MPI, Qt, ninja or packages.
#
#   tests/run_gpu.sh --pack          here, where cmake/setup.sh ran: builds preset cuda for sm_90, issues steps with it whose launches are counted, and puts
#                                    its programs, stripped, with what they need into .deps/carry (at most 42 MiB); take that along beside the source
#   tests/run_gpu.sh --rehearse      every phase here, on the processor, with what stands in for a card; needs build/dev
#   tests/run_gpu.sh --tests         every test labelled gpu of one rank
#   tests/run_gpu.sh --ranks         those of two ranks, which share the card
#   tests/run_gpu.sh --kernels       our kernels, products and attention against what the card can do
#   tests/run_gpu.sh --measure       the card as a hardware profile; every plan's simulated against measured time and memory by it
#   tests/run_gpu.sh --speed MODEL   tokens a second and memory against PyTorch: gpt2-124m, gpt2-350m, gpt2-1.3b, llama-1b, gpt2-124m-dropout
#   tests/run_gpu.sh [--first]       what is worth most in 6 minutes: tests, kernels, GPT-2 124M with and without dropout, measure and its plans
#   tests/run_gpu.sh --second        what is worth most then, in 5: two ranks, Llama 1B, GPT-2 1.3B and 350M
#   tests/run_gpu.sh --all           both
#
# A machine that is lent for 15 minutes, of which a start takes two, is enough for the first and the second, each by a command of its own. A phase by itself
# takes at most 8 minutes. Each writes $OUT/PHASE.json (else build/gpu_report; --speed: one file a command, speed_WORD.json) after every figure. Programs
# that do not start there are built there.
# Exit codes: 0 all ran and passed; 1 something failed, the report says what; 77 there is no GPU, nothing was run. MESHWRIGHT_CARRY: another folder
# than .deps/carry.
set -euo pipefail
cd "$(dirname "$0")/.."
python=python3
[ ! -x .deps/venv/bin/python ] || python=.deps/venv/bin/python
exec "$python" tests/gpu/main.py "$@"
