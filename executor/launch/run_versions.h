// Which libraries a run was performed with, on what: versions.worker.json in the run folder, beside the versions.json of the program that started it.
#pragma once

#include <string>

#include "executor/launch/device_choice.h"

namespace executor {

// Of a GPU: "NVIDIA H100 80GB HBM3", CUDA's version as the driver and as LibTorch have it. Empty on a CPU.
std::string device_name(c10::Device device);

// 13020, as CUDA tells versions of its driver and its runtime, is "13.2"; 0, where there is none, is empty.
std::string cuda_version_text(int version);

std::string run_versions(const DeviceChoice& choice);  // one JSON document

}  // namespace executor
