#include "executor/training/profiler_range.h"

#include <cstdlib>
#include <string>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define MESHWRIGHT_NVTX 1
#endif

namespace executor {
namespace {

bool is_listened_to() {
  static const bool is = std::getenv("NVTX_INJECTION64_PATH") != nullptr;
  return is;
}

void push([[maybe_unused]] const std::string& name) {
#if MESHWRIGHT_NVTX
  nvtxRangePushA(name.c_str());
#endif
}

void pop() {
#if MESHWRIGHT_NVTX
  nvtxRangePop();
#endif
}

}  // namespace

ProfilerRange::ProfilerRange(std::int64_t step) {
  if (is_listened_to()) push("step " + std::to_string(step));
}
ProfilerRange::ProfilerRange(const sim::TaskKey& key) {
  if (is_listened_to()) push(sim::to_text(key));
}
ProfilerRange::~ProfilerRange() {
  if (is_listened_to()) pop();
}

}  // namespace executor
