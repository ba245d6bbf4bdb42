// What LibTorch's allocator holds on a GPU, and what it gave and took before, as the pickle that pytorch.org/memory_viz and our GUI read.
#pragma once

#include <c10/core/Device.h>

#include <string>

namespace executor {

// From now on. Throws sim::InputError: a CPU's allocator keeps no history.
void start_memory_history(c10::Device device);
void write_memory_snapshot(const std::string& path);

}  // namespace executor
