#include "executor/launch/memory_snapshot.h"

#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

#if MESHWRIGHT_CUDA
#include <torch/csrc/cuda/memory_snapshot.h>
#endif

namespace executor {

void start_memory_history(c10::Device device) {
  if (!device.is_cuda())
    throw sim::InputError(
        "",
        {{.where = "--memory-snapshot", .problem = "the allocator of a CPU keeps no history", .remedy = "run on a GPU: --device cuda"}});
#if MESHWRIGHT_CUDA
  constexpr std::size_t kEntries = 1'000'000;
  torch::cuda::_record_memory_history(std::string("all"), std::string("state"), "all", kEntries);
#endif
}

void write_memory_snapshot([[maybe_unused]] const std::string& path) {
#if MESHWRIGHT_CUDA
  sim::save_text_file(torch::cuda::_memory_snapshot_pickled(), path);
#endif
}

}  // namespace executor
