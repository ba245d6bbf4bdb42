"""PyTorch's caching allocator itself on a device that is not there (fake_device.cpp): what it has reserved after each request."""
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
MUCH = 1 << 50


class TorchsAllocator:
    """`torch` and `cuda`: folders of the wheel, and of CUDA's headers. Built into `folder`."""

    def __init__(self, folder):
        import torch
        wheel = pathlib.Path(torch.__file__).parent
        headers = next((path.parent for path in wheel.parent.glob("nvidia/*/include/cuda_runtime_api.h")), None)
        self.why_not = None if headers and (wheel / "lib" / "libc10_cuda.so").exists() else f"{wheel} has no CUDA"
        if self.why_not:
            return
        self.program, self.device = folder / "ask_allocator", folder / "libfake_device.so"
        includes = [f"-I{wheel / 'include'}", f"-I{headers}"]
        self.build("-shared", "-fPIC", HERE / "fake_device.cpp", "-o", self.device, *includes)
        self.build("-std=c++17", HERE / "ask_allocator.cpp", "-o", self.program, *includes, f"-L{wheel / 'lib'}", "-lc10_cuda", "-lc10",
                   f"-Wl,-rpath,{wheel / 'lib'}", "-Wl,--unresolved-symbols=ignore-all")

    @staticmethod
    def build(*words):
        subprocess.run(["g++", "-O1", *map(str, words)], check=True)

    def reserved(self, lines, kind, capacity=MUCH):
        settings = {"PYTORCH_ALLOC_CONF": "expandable_segments:True"} if kind == "expandable" else {}
        return asked([self.program], lines, {"LD_PRELOAD": str(self.device), "MESHWRIGHT_FAKE_BYTES": str(capacity), **settings})


def asked(command, lines, settings=None):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTORCH_")}
    done = subprocess.run([str(word) for word in command], input="\n".join(lines), text=True, stdout=subprocess.PIPE, check=True,
                          env={**environment, **(settings or {})})
    return done.stdout.split()
