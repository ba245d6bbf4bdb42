#include "executor/launch/rank_environment.h"

#include <array>
#include <cstdlib>
#include <string>

namespace executor {
namespace {

struct Names {
  const char* rank;
  const char* size;
};
constexpr std::array kLaunchers = std::to_array<Names>({{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                        {"PMIX_RANK", "PMIX_SIZE"},
                                                        {"SLURM_PROCID", "SLURM_NTASKS"},
                                                        {"RANK", "WORLD_SIZE"}});

}  // namespace

RankEnvironment read_rank_environment() {
  for (const Names& names : kLaunchers) {
    const char* const rank = std::getenv(names.rank);
    const char* const size = std::getenv(names.size);
    if (rank == nullptr || size == nullptr) continue;
    return {.rank = sim::Rank(std::atoi(rank)), .size = std::atoi(size), .is_launched = true};
  }
  return {};
}

}  // namespace executor
