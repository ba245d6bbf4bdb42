#!/usr/bin/env python3
"""Writes a trace like PyTorch's profiler does, of about so many megabytes:   make_trace.py 1000 trace.json

Nested operators on two threads, kernels on two streams, arguments as long as real ones.
"""
import sys


def main():
    megabytes, path = int(sys.argv[1]), sys.argv[2]
    operators = ["aten::linear", "aten::addmm", "aten::native_layer_norm", "autograd::engine::evaluate_function: AddmmBackward0", "aten::add_"]
    kernels = ["void cutlass::Kernel<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x5_nt_align8>(Params)",
               "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "void at::native::vectorized_elementwise_kernel<4>"]
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2},\n"traceEvents": [\n')
        time, number, comma = 1695835965000000.0, 0, ""
        while file.tell() < megabytes * 1_000_000:
            lines = []
            for _ in range(1000):
                number += 1
                time += 7.125
                lines.append(f'  {{\n    "ph": "X", "cat": "cpu_op", "name": "{operators[number % 5]}", "pid": 4242, "tid": {4242 + number % 2},\n'
                             f'    "ts": {time:.3f}, "dur": {5 + number % 9 * 3:.3f},\n    "args": {{\n      "External id": {number},"Record function id": 0, '
                             f'"Concrete Inputs": ["", "", "[128, 1024, {number}]"], "Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar"], '
                             f'"Ev Idx": {number}\n    }}\n  }}')
                lines.append(f'  {{\n    "ph": "X", "cat": "kernel", "name": "{kernels[number % 3]}", "pid": 0, "tid": {7 + number % 2 * 13},\n'
                             f'    "ts": {time + 3:.3f}, "dur": {6.5:.3f},\n    "args": {{\n      "External id": {number}, "queued": 0, "device": 0, '
                             f'"context": 1, "stream": {7 + number % 2 * 13}, "correlation": {number}, "registers per thread": 168, "shared memory": 98304, '
                             f'"blocks per SM": 1.185185, "warps per SM": 4.740741, "grid": [16, 8, 1], "block": [128, 1, 1]\n    }}\n  }}')
            file.write(comma + ",\n".join(lines))
            comma = ",\n"
        file.write('\n], "traceName": "made up"}\n')


if __name__ == "__main__":
    main()
