"""Plants bugs in the CUDA kernels and expects the parity tests to catch every one, on the emulated thread block.

usage: kernel_mutations_test.py FOLDER_FOR_BUILDS CXX LINK...    LINK: objects, libraries and options of the emulated test, without the kernels
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
KERNELS = ROOT / "executor/kernels"
ORDERS = ("forward", "backward", "mixed")
SUITES = {"adamw_cuda.cu": "AdamWKernel", "cross_entropy_cuda.cu": "CrossEntropyKernel", "norm_cuda.cu": "NormKernel",
          "norm_backward_cuda.cu": "NormBackwardKernel", "dropout_cuda.cu": "DropoutKernel", "rotary_cuda.cu": "RotaryKernel",
          "gated_silu_cuda.cu": "GatedSiluKernel", "eight_bits_cuda.cu": "EightBitsKernel", "sgd_cuda.cu": "SgdKernel", "masked_softmax_cuda.cu": "MaskedSoftmaxKernel", "square_sums_cuda.cu": "SquareSumsKernel"}

# (what is wrong, the kernel, the file of the bug, text that stands there once, what it becomes)
BUGS = [
    ("tail is stepped past its end", "adamw_cuda.cu", "optimizer_chunks.cuh", "begin + 8 <= end && step.is_aligned_at", "step.is_aligned_at"),
    ("tail is left out", "adamw_cuda.cu", "optimizer_chunks.cuh", "at < end && at < begin + 8; ++at", "at < end - 1 && at < begin + 8; ++at"),
    ("16-byte access to an odd address", "adamw_cuda.cu", "optimizer_chunks.cuh", "begin + 8 <= end && step.is_aligned_at(begin)", "begin + 7 <= end"),
    ("every range has the first one's decay", "adamw_cuda.cu", "optimizer_chunks.cuh", "Range& of = table.ranges[range];", "Range& of = {table.ranges[range].begin, table.ranges[range].end, table.ranges[0].keep};"),
    ("every range has the launch's decay", "sgd_cuda.cu", "sgd_cuda.cu", "own.decay = range.decay;", ""),
    ("velocity is not kept", "sgd_cuda.cu", "sgd_cuda.cu", "    store_eight(memory.velocity + at, velocities);\n", ""),
    ("velocity of the tail is not kept", "sgd_cuda.cu", "sgd_cuda.cu", "    memory.velocity[at] = next.velocity;\n", ""),
    ("gradient's alignment is taken for granted", "sgd_cuda.cu", "sgd_cuda.cu", "is_aligned(memory.gradient + at) && ", ""),
    ("decay is not part of the velocity", "sgd_cuda.cu", "sgd_update.h", "by.gradient_factor + by.decay * at.weight", "by.gradient_factor"),
    ("blocks do not take turns", "adamw_cuda.cu", "optimizer_chunks.cuh", "chunk += gridDim.x", "chunk += 1 << 20"),
    ("lanes are added in another order", "square_sums_cuda.cu", "square_sums_cuda.cu", "apart = 1; apart < kLanes; apart *= 2", "apart = kLanes / 2; apart > 0; apart /= 2"),
    ("short block reads on", "square_sums_cuda.cu", "square_sums_cuda.cu", "8 * row + lane < left ? from[8 * row + lane] : Number{}", "from[8 * row + lane]"),
    ("no barrier after clearing", "square_sums_cuda.cu", "square_sums_cuda.cu", "shared[threadIdx.x] = 0;\n  __syncthreads();", "shared[threadIdx.x] = 0;"),
    ("no barrier before merging", "square_sums_cuda.cu", "square_sums_cuda.cu", "std::int64_t* limbs) {\n  __syncthreads();\n  if (threadIdx.x < kLimbs) add_to", "std::int64_t* limbs) {\n  if (threadIdx.x < kLimbs) add_to"),
    ("window forgets what leaves it", "square_sums_cuda.cu", "square_sums_cuda.cu", "std::int32_t first) {\n    flush();", "std::int32_t first) {"),
    ("a skipped step steps", "adamw_cuda.cu", "optimizer_chunks.cuh", "if (step.is_skipped()) return;", ""),
    ("the host's factor in place of the device's", "adamw_cuda.cu", "adamw_cuda.cu", "own.gradient_factor = static_cast<Master>(*memory.factor_there);", ";"),
    ("a rank's word counts as a number that is not finite", "square_sums_cuda.cu", "exact_limbs.h", "limbs[kNotFiniteLimb] % kNotFiniteCounts != 0", "limbs[kNotFiniteLimb] != 0"),
    ("both halves of a pair add their sum", "square_sums_cuda.cu", "square_sums_cuda.cu", "if (threadIdx.x % kThreadsOfBlock == 0) window", "window"),
    ("no barrier between warps' sums and their reading", "cross_entropy_cuda.cu", "cuda_block.cuh", "= mine;\n  __syncthreads();", "= mine;"),
    ("scratch is used again too early", "norm_cuda.cu", "cuda_block.cuh", "  __syncthreads();\n  return result;", "  return result;"),
    ("padding gets a gradient", "cross_entropy_cuda.cu", "cross_entropy_cuda.cu", "column >= of.real ? Statistic(0) : ", ""),
    ("padding takes part in the sum", "cross_entropy_cuda.cu", "cross_entropy_cuda.cu", "visit_row(row, of.real, ", "visit_row(row, of.columns, "),
    ("target of another rank is looked up here", "cross_entropy_cuda.cu", "cross_entropy_cuda.cu", "at.targets[token] - at.first;", "at.targets[token];"),
    ("row's head before the aligned part is left out", "cross_entropy_cuda.cu", "cuda_block.cuh", "i < head; i += blockDim.x) visit(i, row[i]);", "i < 0; i += blockDim.x) visit(i, row[i]);"),
    ("variance over columns that are not there", "norm_cuda.cu", "norm_row.cuh", "if (Layout::kWhole || first_column(e) + i < width) visit(e, i);", "visit(e, i);"),
    ("variance over eights that are not there", "norm_cuda.cu", "norm_row.cuh", "    if (Layout::kWhole && first_column(e) >= width) continue;\n", ""),
    ("second stretch is the first again", "norm_cuda.cu", "norm_row.cuh", "static_cast<unsigned>(eight) * blockDim.x", "static_cast<unsigned>(0 * eight) * blockDim.x"),
    ("mean of the gradient is not taken off", "norm_backward_cuda.cu", "norm_backward_cuda.cu", "at.g.at[i] - mean.second -", "at.g.at[i] -"),
    ("stream's gradient is lost", "norm_backward_cuda.cu", "norm_backward_cuda.cu", " * mean.first) + later.at[i]", " * mean.first)"),
    ("weight gradient is overwritten", "norm_backward_cuda.cu", "norm_backward_cuda.cu", "load(gradient) + sum", "sum"),
    ("what comes first is added to what stood there", "norm_backward_cuda.cu", "norm_backward_cuda.cu", "of.writes ? sum : load(gradient) + sum", "load(gradient) + sum"),
    ("both sums are of the scale", "norm_backward_cuda.cu", "norm_backward_cuda.cu", "of.gradients[0] : of.gradients[1]", "of.gradients[0] : of.gradients[0]"),
    ("no barrier before slices are read", "norm_backward_cuda.cu", "norm_backward_cuda.cu", "slices[slice][lane] = sum;\n  __syncthreads();", "slices[slice][lane] = sum;"),
    ("an odd first element shares its neighbour's bits", "dropout_cuda.cu", "dropout_cuda.cu", "is_aligned(numbers) && draw.first_element % 2 == 0", "is_aligned(numbers)"),
    ("both of a pair have the first one's bits", "dropout_cuda.cu", "dropout_cuda.cu", "bits.of(1)", "bits.of(0)"),
    ("dropout's tail is left out", "dropout_cuda.cu", "dropout_cuda.cu", "pieces = (count + 7) / 8", "pieces = count / 8"),
    ("the key in device memory is not read", "dropout_cuda.cu", "dropout_cuda.cu", "draw.key_there != nullptr ? static_cast<std::uint64_t>(*draw.key_there) : draw.key", "draw.key"),
    ("what is kept is not scaled", "dropout_cuda.cu", "dropout_draw.h", "Wide(0) : value * static_cast<Wide>(draw.scale)", "Wide(0) : value"),
    ("dropout's address is taken for aligned", "dropout_cuda.cu", "dropout_cuda.cu", "is_aligned(numbers) && draw", "draw"),
    ("parts of rows are taken for neighbours", "dropout_cuda.cu", "dropout_draw.h", "at / draw.width * draw.row", "at / draw.width * draw.width"),
    ("eight of two rows are taken for neighbours", "dropout_cuda.cu", "dropout_cuda.cu", "draw.row % 2 == 0 && draw.width % 8 == 0", "draw.row % 2 == 0"),
    ("odd rows share their neighbours' bits", "dropout_cuda.cu", "dropout_cuda.cu", "draw.row % 2 == 0 && draw.width", "draw.width"),
    ("heads stand as far apart as they turn", "rotary_cuda.cu", "rotary_cuda.cu", "head * shape.head_dim", "head * 2 * shape.half"),
    ("turned back as forth", "rotary_cuda.cu", "rotary_cuda.cu", "is_back ? -angle : angle", "angle"),
    ("samples do not begin at position 0", "rotary_cuda.cu", "rotary_cuda.cu", "token % shape.sequence * shape.half", "token * shape.half"),
    ("values are turned, too", "rotary_cuda.cu", "rotary_cuda.cu", "piece / eights % shape.turned, token = piece / eights / shape.turned", "piece / eights % (shape.turned + 1), token = piece / eights / (shape.turned + 1)"),
    ("the second of a pair is turned by the turned first", "rotary_cuda.cu", "rotary_cuda.cu", "load(first), load(second), load(cosine)", "load(first), load(first), load(cosine)"),
    ("gate and value change places", "gated_silu_cuda.cu", "gated_silu_cuda.cu", "x * sigmoid(x) * load(value)", "load(value) * sigmoid(load(value)) * x"),
    ("slope of the sigmoid is forgotten", "gated_silu_cuda.cu", "gated_silu_cuda.cu", " * (decltype(x)(1) + x * (decltype(x)(1) - share))", ""),
    ("rows of an odd width are taken for aligned", "gated_silu_cuda.cu", "gated_silu_cuda.cu", "is_aligned && shape.width % 8 == 0", "is_aligned"),
    ("the future is seen", "masked_softmax_cuda.cu", "masked_softmax_cuda.cu", "shape.is_causal ? query + 1 : shape.keys", "shape.keys"),
    ("the highest score may lie in the future", "masked_softmax_cuda.cu", "masked_softmax_cuda.cu", "if (first_column(e) + i < seen && score > highest)", "if (!(score <= highest))"),
    ("the future's gradient stays", "masked_softmax_cuda.cu", "masked_softmax_cuda.cu", "slope, first_column(e), row.keys);", "slope, first_column(e), row.seen);"),
    ("a rank's heads have the first ones' masks", "masked_softmax_cuda.cu", "masked_softmax_cuda.cu", " + places.first_head + ", " + "),
    ("a part begins with the first head", "masked_softmax_cuda.cu", "masked_softmax_cuda.cu", "head = places.first + number", "head = number"),
    ("samples have as many heads as the rank", "masked_softmax_cuda.cu", "masked_softmax_cuda.cu", "places.here * places.all", "places.here * places.here"),
    ("an odd row shares its neighbour's bits", "masked_softmax_cuda.cu", "masked_softmax_cuda.cu", "if (first % 2 == 0) {", "if (true) {"),
    ("the key there is not read", "masked_softmax_cuda.cu", "masked_softmax_cuda.cu", "draw.key_there != nullptr ? static_cast<std::uint64_t>(*draw.key_there) : draw.key", "draw.key"),
    ("the mean takes what was dropped", "masked_softmax_cuda.cu", "masked_softmax_cuda.cu", "sum += dropped(Wide(load(gradient[e].at[i])), kept[e], i, rows.draw)", "sum += Wide(load(gradient[e].at[i]))"),
    ("dropped is what was not rounded", "masked_softmax_cuda.cu", "masked_softmax_cuda.cu", "        eight.at[i] = load(probability);\n", "        eight.at[i] *= inverse;\n"),
    ("what is turned is read too early", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "__syncthreads();\n    tile.store(turned);", "tile.store(turned);"),
    ("the next tile comes over the last one", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "tile.store(turned);\n    __syncthreads();", "tile.store(turned);"),
    ("tiles of blocks do not take turns", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "number += gridDim.x", "number += 1 << 20"),
    ("a unit's rows have the scales of the numbers' rows", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "has_own ? scale(row, column + i)", "has_own ? scale(row, i)"),
    ("rows have the first one's scale", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "of_eight = scale(row, column)", "of_eight = scale(0, column)"),
    ("blocks along a row have the first one's scale", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "of_eight = scale(row, column)", "of_eight = scale(row, 0)"),
    ("a unit's scales are read as the numbers lie", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "shape.is_turned ? inner * scales.outers + outer : outer", "outer"),
    ("what fills a piece of scales is left out", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "all = filled(scales)", "all = scales"),
    ("codes are written past the end of a row", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "if (count >= 8 && reinterpret_cast", "if (reinterpret_cast"),
    ("numbers' address is taken for aligned", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "count >= 8 && is_aligned(from)", "count >= 8"),
    ("codes are multiplied with their scale again", "eight_bits_cuda.cu", "eight_bits_cuda.cu", "[place] = 1 / scale;", "[place] = scale;"),
    ("halves are rounded up", "eight_bits_cuda.cu", "eight_bit_code.h", "+ kWholeNumbers - kWholeNumbers", "+ 0.5F"),
    ("what is too large does not saturate", "eight_bits_cuda.cu", "eight_bit_code.h", "all > to.largest ? to.largest : all", "all"),
    ("numbers without a whole mantissa are taken for others", "eight_bits_cuda.cu", "eight_bit_code.h", "own < to.least_exponent ? to.least_exponent : own", "own"),
    ("a scale is no power of two", "eight_bits_cuda.cu", "eight_bit_code.h", "rule == ScaleRule::PowerOfTwo ? power_of_two(exponent_of(exact)) : exact", "exact"),
    ("a lane leaves the shuffles early", "norm_cuda.cu", "cuda_block.cuh", "apart = 16; apart > 0;", "apart = 16; apart > threadIdx.x % 32 / 31;"),
]
CONTROL = ("nothing at all", "norm_cuda.cu", "norm_cuda.cu", "__shared__ Wide scratch[32];", "__shared__ Wide scratch[32];")


def mutated(folder, bug):
    """A tree of includes in which the one file differs; returns the source to compile."""
    _, kernel, file, before, after = bug
    text = (KERNELS / file).read_text()
    if text.count(before) != 1:
        raise SystemExit(f"{file} holds {text.count(before)} times, not once: {before!r}")
    place = folder / "executor/kernels"
    shutil.rmtree(folder, ignore_errors=True)  # of a bug that had this number before
    place.mkdir(parents=True)
    (place / file).write_text(text.replace(before, after))
    if kernel != file:
        (place / kernel).write_text((KERNELS / kernel).read_text())
    return place / kernel


def caught(folder, compiler, link, bug):
    """The first thread order in which the kernel's tests fail, or None."""
    source = mutated(folder, bug)
    flags = ["-std=c++20", "-O1", "-ffp-contract=off", "-w", f"-I{folder}", f"-I{ROOT}/tests/executor/kernels/emulation", f"-I{ROOT}"]
    program = folder / "test"
    subprocess.run([compiler, *flags, "-x", "c++", source, "-x", "none", *link, "-o", program], check=True)
    for order in ORDERS:
        done = subprocess.run([program, f"--gtest_filter={SUITES[bug[1]]}.*"], env={**os.environ, "EMULATED_ORDER": order},
                              capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            return order
        if "[  PASSED  ] 0 tests" in done.stdout:
            raise SystemExit(f"no test of {bug[1]} was run")
    return None


def main(folder, compiler, *link):
    if caught(pathlib.Path(folder) / "control", compiler, link, CONTROL):
        raise SystemExit("the tests fail without a planted bug")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda at: caught(pathlib.Path(folder) / str(at), compiler, link, BUGS[at]), range(len(BUGS))))
    for bug, order in zip(BUGS, found):
        print(f"{'caught, order ' + order if order else 'NOT CAUGHT':22} {bug[2]}: {bug[0]}")
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
