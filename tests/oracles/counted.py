"""What a step of a real program has alive, and what it communicates: counted below autograd, storage by storage."""
import weakref

import torch
from torch.distributed.tensor import DTensor
from torch.distributed.tensor._sharding_prop import ShardingPropagator
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# c10d's operators: name -> (kind, index of the argument whose bytes are the payload: what is whole before or after).
COLLECTIVES = {"_allgather_base_": ("all_gather", 0), "allgather_": ("all_gather", 0), "_reduce_scatter_base_": ("reduce_scatter", 1),
               "allreduce_": ("all_reduce", 0), "broadcast_": ("broadcast", 0), "alltoall_base_": ("all_to_all", 0),
               "all_gather_into_tensor": ("all_gather", -1), "reduce_scatter_tensor": ("reduce_scatter", 0), "all_reduce": ("all_reduce", 0),
               "all_reduce_": ("all_reduce", 0)}


def unseen(method):
    """DTensor asks fake tensors of the whole for their shape: no storage of a rank."""
    def ask(*arguments, **named):
        Counted.paused += 1
        try:
            return method(*arguments, **named)
        finally:
            Counted.paused -= 1
    return ask


ShardingPropagator._propagate_tensor_meta_non_cached = unseen(ShardingPropagator._propagate_tensor_meta_non_cached)


def bytes_of(value):
    return sum(each.numel() * each.element_size() for each in tree_leaves(value) if isinstance(each, torch.Tensor))


class Counted(TorchDispatchMode):
    """Alive bytes of distinct storages at each operator's end; `peak` and the storages alive then, by the phase that made them."""
    paused = 0

    def __init__(self, watched=False):
        super().__init__()
        self.alive = {}       # key -> (weak reference, bytes, where it was made)
        self.now = self.peak = 0
        self.at_peak, self.ledger, self.phase, self.peaks = {}, [], "setup", {}
        self._resize = None

    def see(self, tensor, where):
        if Counted.paused:
            return
        storage = tensor.untyped_storage()
        key = storage._cdata
        size = storage.nbytes()
        if key not in self.alive:
            weakref.finalize(storage, self._gone, key)
            self.alive[key] = [0, where]
        if self.alive[key][0] != size:
            self.change(key, size)

    def change(self, key, size):
        """A storage comes, goes or is resized."""
        self.now += size - self.alive[key][0]
        self.alive[key][0] = size

    def _gone(self, key):
        self.change(key, 0)
        del self.alive[key]

    def mark(self):
        if self.now > self.peaks.get(self.phase, 0):
            self.peaks[self.phase] = self.now
        if self.now > self.peak and self.phase != "step":
            self.peak = self.now
            self.at_peak = {}
            for size, where in self.alive.values():
                count, total = self.at_peak.get(where, (0, 0))
                self.at_peak[where] = (count + 1, total + size)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(issubclass(each, DTensor) for each in types):
            return NotImplemented   # what it does to its local tensors comes here again
        kwargs = kwargs or {}
        name = func._overloadpacket.__name__ if hasattr(func, "_overloadpacket") else str(func)
        space = getattr(func, "namespace", "")
        if name == "wait_tensor":
            return args[0]   # a fake one would be another storage
        out = func(*args, **kwargs)
        if space in ("c10d", "_c10d_functional") and name in COLLECTIVES:
            kind, at = COLLECTIVES[name]
            self.ledger.append((self.phase, kind, bytes_of(out if at < 0 else args[at])))
        for each in tree_leaves((out, args, kwargs)):
            if isinstance(each, torch.Tensor):
                self.see(each, f"{self.phase} {space}.{name} {tuple(each.shape)} {str(each.dtype)[6:]}")
        self.mark()
        return out

    def __enter__(self):
        counted, self._resize = self, torch.UntypedStorage.resize_

        def resize(storage, size):
            done = counted._resize(storage, size)
            key = storage._cdata
            if key in counted.alive:
                counted.change(key, size)
                counted.mark()
            return done

        torch.UntypedStorage.resize_ = resize
        return super().__enter__()

    def __exit__(self, *error):
        torch.UntypedStorage.resize_ = self._resize
        return super().__exit__(*error)
