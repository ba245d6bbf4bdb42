"""What a step asks of a card, counted without one (launches.py): bounds. Needs build/cuda_check (architecture_cuda_preset_test); skipped aloud without it (77).

COUNTED_PROGRAMS: another folder of programs. run_gpu.sh --pack names that of those that it packs, which are optimised.
"""
import ctypes
import json
import os
import pathlib
import re
import sys
import unittest
from unittest import mock

import launches
from report import ROOT

BIN = pathlib.Path(os.environ.get("COUNTED_PROGRAMS", ROOT / "build/cuda_check/bin"))
LIBRARY, WORKER, PLANNER = BIN / "libcounted_cuda.so", BIN / "meshwright-worker", BIN / "meshwright"
LAYERS, DEEP, SIDES = 2, 6, ("executor", "strong")   # plain eager launches more
launches.STEPS = (2, 4)   # in the second step events of the first are still held
BLOCKS = launches.reference.ON_CPU["tiny-llama"][0] | {"hidden_size": 512, "intermediate_size": 1024, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 64}
END_OF_STEP = {"tensorwise": 0, "delayed": 5, "rowwise": 0}   # maxima of steps before become those of the next
EXPERTS = launches.reference.ON_CPU["tiny-llama"][0] | {"model_type": "mixtral", "num_local_experts": 4, "num_experts_per_tok": 2, "router_aux_loss_coef": 0.02}
MOST_APART = 4 << 10   # bytes: the least workspace is of a MiB
FAMILIES = ("bert", "bloom", "gemma2", "minicpm3")   # an encoder, slopes, windows and caps, latent attention: of two layers


def of_kernel(calls, name):
    return sum(times for call, times in calls.items() if call.startswith("kernel ") and f"{len(name)}{name}" in call)


def waits(calls):
    return sum(times for call, times in calls.items() if call.startswith("host waits"))


class ASteps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.calls = {}
        for model, case in launches.reference.ON_CPU.items():
            counted = launches.Counted(LIBRARY, WORKER, PLANNER, *case[:3])
            cls.calls[model] = {side: counted.a_step(side, LAYERS) for side in SIDES}
        cls.experts = launches.Counted(LIBRARY, WORKER, PLANNER, EXPERTS, *launches.reference.ON_CPU["tiny-llama"][1:3]).a_step("executor", LAYERS)

    def test_an_operand_becomes_eight_bits_by_one_kernel(self):
        """Behind one that finds the largest, which delayed scales remember by another. Beside that the gradient of a weight is put into its place."""
        weights = 4 * LAYERS
        operands, bf16 = weights * 3 * 2, self.calls["tiny-llama"]["executor"]
        for recipe, of_operand in (("tensorwise", 2), ("delayed", 3), ("rowwise", 2)):
            calls = launches.Counted(LIBRARY, WORKER, PLANNER, *launches.reference.ON_CPU["tiny-llama"][:3], f"fp8:{recipe}").a_step("executor", LAYERS)
            self.assertEqual(of_kernel(calls, "eight_bits_kernel"), operands, recipe)
            self.assertEqual(calls["product"], bf16["product"], recipe)
            self.assertEqual(sum(launches.sums(calls).values()) - sum(launches.sums(bf16).values()), of_operand * operands + weights + END_OF_STEP[recipe], recipe)

    def test_blocks_have_a_unit_too(self):
        """LibTorch asks for their scales' shapes and strides before it asks cuBLAS: 128 along what is summed over, squares of weights."""
        def of(precision):
            return launches.Counted(LIBRARY, WORKER, PLANNER, BLOCKS, 4, 64, precision).a_step("executor", LAYERS)
        bf16, calls = of(None), of("fp8:blockwise")
        operands = 4 * LAYERS * 3 * 2
        self.assertEqual(of_kernel(calls, "eight_bits_kernel"), operands)
        self.assertEqual(calls["product"], bf16["product"])
        self.assertEqual(sum(launches.sums(calls).values()) - sum(launches.sums(bf16).values()), 2 * operands + 4 * LAYERS)

    def test_it_launches_no_more_than_strong_eager(self):
        for model, sides in self.calls.items():
            ours, theirs = (sum(launches.sums(sides[side]).values()) for side in SIDES)
            self.assertGreater(ours, 10 * LAYERS, model)
            self.assertLessEqual(ours, theirs, model)

    def test_all_gradients_are_squared_by_one_launch(self):
        for model, sides in self.calls.items():
            self.assertEqual(of_kernel(sides["executor"], "add_squares_kernel"), 1, model)

    def test_the_driver_is_asked_for_nothing_and_events_are_used_again(self):
        for model, sides in self.calls.items():
            for call in ("the driver is asked for memory", "event made"):
                self.assertEqual(sides["executor"][call], 0, (model, call))

    def test_the_host_reads_the_sums_of_a_step_and_nothing_else(self):
        muon = launches.Counted(LIBRARY, WORKER, PLANNER, *launches.reference.ON_CPU["tiny-gpt2"][:3], more=("--optimizer", "muon")).a_step("executor", LAYERS)
        for calls in (self.experts, muon, *(sides["executor"] for sides in self.calls.values())):
            self.assertEqual(calls["copy to host"], 1)

    def test_other_networks_ask_for_no_more(self):
        for family in FAMILIES:
            config = json.loads((ROOT / f"tests/reference/families/{family}.json").read_text())
            calls = launches.Counted(LIBRARY, WORKER, PLANNER, config, 4, 32).a_step("executor", LAYERS)
            self.assertGreater(calls["product"], 10 * LAYERS, family)
            self.assertEqual((calls["copy to host"], calls["the driver is asked for memory"], calls["event made"]), (1, 0, 0), family)

    def test_experts_are_ordered_there_and_multiplied_at_once(self):
        """Up and down: forward, input gradient, weight gradient."""
        products = sum(times for call, times in self.experts.items() if "GroupProblemShape" in call and "13device_kernel" in call)
        self.assertEqual(products, 6 * LAYERS)

    def test_the_host_asks_once_a_layer_how_many_rows_experts_have(self):
        """DeepSeek-V3's experts, too narrow for one product of all: not again where they run again. Memory that held other numbers is the routers' in the later layers."""
        config = json.loads((ROOT / "tests/reference/families/deepseek_v3.json").read_text()) | {"num_hidden_layers": DEEP}
        for recompute in ("none", "full"):
            with mock.patch.object(launches.reference, "RECOMPUTE", recompute):
                calls = launches.Counted(LIBRARY, WORKER, PLANNER, config, 4, 32).a_step("executor", DEEP)
            self.assertEqual(calls["copy to host"], 1 + DEEP - config["first_k_dense_replace"], recompute)
            self.assertEqual(calls["event made"], 0, recompute)

    def test_padded_experts_ask_the_host_for_nothing(self):
        padded = EXPERTS | {"expert_capacity_factor": 1.0, "expert_dispatch": "padded"}
        calls = launches.Counted(LIBRARY, WORKER, PLANNER, padded, *launches.reference.ON_CPU["tiny-llama"][1:3]).a_step("executor", LAYERS)
        self.assertEqual(calls["copy to host"], 1)

    def test_dropout_is_one_kernel_each_way(self):
        """Of the embedding, behind attention and behind the feed-forward part; of attention's scores it is part of the softmax."""
        calls = self.calls["tiny-gpt2"]["executor"]
        self.assertEqual(of_kernel(calls, "dropout_kernel"), 2 * (1 + 2 * LAYERS))
        self.assertEqual(of_kernel(calls, "softmax_kernel"), LAYERS * of_kernel(calls, "softmax_backward_kernel") / LAYERS)
        self.assertEqual(of_kernel(calls, "softmax_backward_kernel"), LAYERS)

    def test_dropout_repeats_no_keys(self):
        """Queries that share keys are rows of one product, and no launch is for them. Strong eager's flash kernel drops, and knows of groups."""
        model = BLOCKS | {"attention_dropout": 0.1}
        alone = model | {"num_key_value_heads": model["num_attention_heads"]}
        counted, of_each = (launches.Counted(LIBRARY, WORKER, PLANNER, config, 4, 64) for config in (model, alone))
        (ours, theirs), apart = (counted.a_step(side, LAYERS) for side in SIDES), of_each.a_step("executor", LAYERS)
        self.assertEqual(of_kernel(ours, "softmax_backward_kernel"), LAYERS)
        self.assertEqual(launches.sums(ours), launches.sums(apart))
        self.assertLessEqual(sum(launches.sums(ours).values()), sum(launches.sums(theirs).values()))

    def test_dropout_takes_as_much_less_memory_as_is_simulated(self):
        """Where queries share keys; what both take beside that (workspaces of cuBLAS) is the same."""
        model = BLOCKS | {"attention_dropout": 0.1}
        alone = model | {"num_key_value_heads": model["num_attention_heads"]}
        (simulated, measured), (of_each, measured_of_each) = (launches.Counted(LIBRARY, WORKER, PLANNER, config, 4, 256).memory(LAYERS) for config in (model, alone))
        self.assertLess(simulated, of_each)
        self.assertEqual(measured_of_each - measured, of_each - simulated)

    def test_memory_is_what_is_simulated(self):
        """Workspaces of cuBLAS, which LibTorch's allocator gives, among it: a handle of each thread, and what biases and scales ask for beside them. Of steps and words as many as the card
        had, where the head's memory is the most."""
        for model, precision in (("gpt2-124m", None), ("gpt2-124m", "fp8:rowwise"), ("gpt2-124m-dropout", None), ("llama-1b", None)):
            with mock.patch.object(launches, "SHORTER", {}):
                simulated, measured = launches.Counted(LIBRARY, WORKER, PLANNER, *launches.reference.ON_GPU[model][:3], precision).memory(LAYERS)
            self.assertAlmostEqual(simulated, measured, delta=MOST_APART, msg=(model, precision))

    def test_memory_of_backwards_is_what_is_simulated(self):
        """Where attention's is the most, of heads of their own and of shared ones; and where the feed-forward part's is."""
        small = BLOCKS | {"vocab_size": 512, "max_position_embeddings": 2048}
        attention = small | {"hidden_size": 1024, "intermediate_size": 128, "num_attention_heads": 16, "num_key_value_heads": 16}
        cases = {"attention": attention, "shared keys": attention | {"num_key_value_heads": 4}, "wide heads": attention | {"num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 128},
                 "gate": small | {"intermediate_size": 4096, "num_key_value_heads": 8}}
        for name, config in cases.items():
            simulated, measured = launches.Counted(LIBRARY, WORKER, PLANNER, config, 8, 1024).memory(LAYERS)
            self.assertAlmostEqual(simulated, measured, delta=MOST_APART, msg=name)

    def test_fp16_asks_for_what_bf16_asks_for(self):
        """Whether a step is skipped the device decides; the host reads the sums of a step, and writes a scale where that has changed."""
        for more in ((), ("--optimizer", "muon")):
            calls = launches.Counted(LIBRARY, WORKER, PLANNER, *launches.reference.ON_CPU["tiny-llama"][:3], "fp16", more).a_step("executor", LAYERS)
            self.assertEqual(calls["copy to host"], 1, more)
            self.assertEqual(waits(calls), waits(self.calls["tiny-llama"]["executor"]), more)

    def test_rotary_and_gated_activation_are_one_kernel_each_way(self):
        calls = self.calls["tiny-llama"]["executor"]
        self.assertEqual(of_kernel(calls, "rotary_kernel"), 2 * LAYERS)
        self.assertEqual(of_kernel(calls, "gated_kernel"), 2 * LAYERS)


class Table(unittest.TestCase):
    def test_the_page_has_what_is_counted(self):
        """Of our side, whose launches change with this repository; PyTorch's with its release."""
        page = launches.PAGE.read_text()
        with mock.patch.multiple(launches, STEPS=(1, 2), SIDES=("executor",)):
            counted = launches.count(LIBRARY, WORKER, PLANNER)
            for line in "\n".join(launches.table(counted)).splitlines()[2:]:
                self.assertIn(line, page)
        for model, sides in counted.items():   # PyTorch's by the page
            ours, theirs = (int(re.search(rf"^\| {model} \| {side}, a layer .* (\d+) \|$", page, re.M)[1]) for side in ("executor", "strong"))
            self.assertLessEqual(ours, theirs, model)


class StandIn(unittest.TestCase):
    def test_numbers_of_the_card_are_zero(self):
        """Also where the host had copied to: memory is used again, and what the host reads may be an index."""
        library, block, here = ctypes.CDLL(str(LIBRARY)), ctypes.c_void_p(), (ctypes.c_ubyte * 16)(*[255] * 16)
        library.cudaMalloc(ctypes.byref(block), ctypes.c_size_t(16))
        for kind in (1, 2):   # there and back
            library.cudaMemcpy(*((block, here) if kind == 1 else (here, block)), ctypes.c_size_t(16), kind)
        self.assertEqual(bytes(here), bytes(16))


class Calls(unittest.TestCase):
    def test_each_has_its_column(self):
        self.assertEqual(launches.sums({"product": 3, "kernel _Zflash_fwd": 1, "kernel _Zother": 2, "fill": 4, "copy on device": 1, "event recorded": 9, "host waits": 9}),
                         {"products": 3, "attention": 1, "other kernels": 2, "fills and copies": 5})


if __name__ == "__main__":
    if not (LIBRARY.exists() and WORKER.exists() and PLANNER.exists()):
        print(f"skipped: {BIN} is not built; architecture_cuda_preset_test builds it")
        sys.exit(77)
    unittest.main(verbosity=2)
