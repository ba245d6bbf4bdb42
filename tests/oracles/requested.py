"""What a step of FSDP 2 asks the allocator of a GPU for, storage by storage, with the stream that asks: in torch's order, on fake tensors."""
import torch.distributed.fsdp._fully_shard._fsdp_collectives as collectives
import torch.distributed.fsdp._fully_shard._fsdp_param_group as units

from counted import Counted

KERNELS, GATHERS, REDUCTIONS = 0, 1, 2


class Requested(Counted):
    """Lines of what allocator_requests and ask_allocator read: "+ number bytes stream", "- number"."""

    def __init__(self):
        super().__init__()
        self.lines, self.numbers, self.stream, self.most = [], {}, KERNELS, 0

    def change(self, key, size):
        if key in self.numbers:
            self.lines.append(f"- {self.numbers.pop(key)}")
        super().change(key, size)
        if size > 0:
            self.numbers[key] = len(self.lines)
            self.lines.append(f"+ {self.numbers[key]} {size} {self.stream}")
        self.most = max(self.most, self.now)

    def on(self, stream, method):
        def run(*arguments, **named):
            before, self.stream = self.stream, stream
            try:
                return method(*arguments, **named)
            finally:
                self.stream = before
        return run

    def __enter__(self):
        """What a gather makes is of its stream; of a reduction what its input is reduced to, and all behind that."""
        self._methods = units.foreach_all_gather, units.foreach_reduce, collectives.DefaultAllocMixin.allocate
        gather, reduce, allocate = self._methods
        made = []

        def allocated(*arguments, **named):
            made.append(self.stream)
            if len(made) > 1:
                self.stream = REDUCTIONS
            return allocate(*arguments, **named)

        def reduced(*arguments, **named):
            made.clear()
            collectives.DefaultAllocMixin.allocate = allocated
            try:
                return reduce(*arguments, **named)
            finally:
                collectives.DefaultAllocMixin.allocate = allocate

        units.foreach_all_gather, units.foreach_reduce = self.on(GATHERS, gather), self.on(KERNELS, reduced)
        return super().__enter__()

    def __exit__(self, *error):
        units.foreach_all_gather, units.foreach_reduce, collectives.DefaultAllocMixin.allocate = self._methods
        return super().__exit__(*error)
