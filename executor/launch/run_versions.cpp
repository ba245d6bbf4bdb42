#include "executor/launch/run_versions.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <mpi.h>
#include <torch/version.h>

#include <algorithm>

namespace executor {

std::string run_versions() {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(library, &length);  // may be called before MPI is started
  std::string mpi(library, static_cast<std::size_t>(length));
  mpi = mpi.substr(0, mpi.find(','));
  std::replace(mpi.begin(), mpi.end(), '"', '\'');
  return fmt::format(
      "{{\"format\":\"meshwright.worker_versions/1\",\"libtorch\":\"{}\",\"mpi\":\"{}\",\"compiler\":\"{}\",\"threads_per_rank\":{}}}\n",
      TORCH_VERSION, mpi, __VERSION__, at::get_num_threads());
}

}  // namespace executor
