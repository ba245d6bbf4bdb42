#include "executor/launch/rank_environment.h"

#include <array>
#include <cstdlib>
#include <string>

namespace executor {
namespace {

struct Names {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};
constexpr std::array kLaunchers =
    std::to_array<Names>({{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                          {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},
                          {"PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE"},
                          {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}});

// Without a word about the host all ranks are on one.
std::int32_t number_in(const char* name, std::int32_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

}  // namespace

RankEnvironment read_rank_environment() {
  for (const Names& names : kLaunchers) {
    const char* const rank = std::getenv(names.rank);
    const char* const size = std::getenv(names.size);
    if (rank == nullptr || size == nullptr) continue;
    RankEnvironment found{.rank = sim::Rank(std::atoi(rank)), .size = std::atoi(size), .is_launched = true};
    found.local_rank = number_in(names.local_rank, found.rank.value());
    found.local_size = number_in(names.local_size, found.size);
    return found;
  }
  return {};
}

}  // namespace executor
