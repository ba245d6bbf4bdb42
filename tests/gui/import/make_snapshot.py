#!/usr/bin/env python3
"""Writes a memory snapshot like torch.cuda.memory._dump_snapshot does, of so many events:   make_snapshot.py 2000000 snapshot.pickle"""
import pickle
import sys


def snapshot(events):
    def frames(line, function, part):
        return [{"name": function, "filename": "/home/me/model.py", "line": line}, {"name": part, "filename": "/usr/torch/nn/modules/module.py", "line": 7}]
    stacks = [frames(12, "attention", "forward"), frames(34, "mlp", "forward"), frames(80, "step", "autograd::engine"), frames(99, "main", "optimizer_step")]
    trace, alive, address = [{"action": "segment_alloc", "addr": 1 << 40, "size": 1 << 33, "stream": 0, "time_us": 1695835965000000, "frames": []}], [], 1 << 40
    for number in range(events):
        time = 1695835965000000 + number * 3
        if number % 2 == 0 or not alive:
            address, size = address + (1 << 20), 512 * (1 + number % 1000)
            alive.append((address, size))
            trace.append({"action": "alloc", "addr": address, "size": size, "stream": 0, "time_us": time, "frames": stacks[number // 2 % 4]})
        else:
            where, size = alive.pop(0 if number % 3 else -1)
            for action in ("free_requested", "free_completed"):
                trace.append({"action": action, "addr": where, "size": size, "stream": 0, "time_us": time, "frames": []})
    left = sum(size for _, size in alive)
    segment = {"device": 0, "address": 1 << 40, "total_size": 1 << 33, "allocated_size": left + (1 << 30), "stream": 0, "blocks": []}
    return {"segments": [segment], "device_traces": [trace, []], "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""}}


if __name__ == "__main__":
    with open(sys.argv[2], "wb") as file:
        pickle.dump(snapshot(int(sys.argv[1])), file)
