#include "executor/launch/run_versions.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>

#if MESHWRIGHT_MPI
#include <mpi.h>
#endif
#if MESHWRIGHT_CUDA
#include <ATen/cuda/CUDAContextLight.h>
#include <cuda_runtime_api.h>
#endif

#include "sim/units/at.h"

namespace executor {
namespace {

std::string mpi_version() {
#if MESHWRIGHT_MPI
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(library, &length);  // may be called before MPI is started
  std::string mpi(library, sim::count_of(length));
  mpi = mpi.substr(0, mpi.find(','));
  std::replace(mpi.begin(), mpi.end(), '"', '\'');
  return mpi;
#else
  return "none";
#endif
}

}  // namespace

std::string device_name([[maybe_unused]] c10::Device device) {
#if MESHWRIGHT_CUDA
  if (!device.is_cuda()) return {};
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  return fmt::format("{}, CUDA {} (driver {})", at::cuda::getDeviceProperties(device.index())->name, cuda_version_text(runtime),
                     cuda_version_text(driver));
#else
  return {};
#endif
}

std::string cuda_version_text(int version) { return version == 0 ? "" : fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string run_versions(const DeviceChoice& choice) {
  const std::string name = choice.device.is_cpu() ? "" : fmt::format(",\"device_name\":\"{}\"", device_name(choice.device));
  return fmt::format(
      "{{\"format\":\"meshwright.worker_versions/1\",\"libtorch\":\"{}\",\"mpi\":\"{}\",\"compiler\":\"{}\",\"threads_per_rank\":{},"
      "\"device\":\"{}\"{},\"why\":\"{}\"}}\n",
      TORCH_VERSION, mpi_version(), __VERSION__, at::get_num_threads(), choice.device.str(), name, choice.why);
}

}  // namespace executor
