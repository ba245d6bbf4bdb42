#include "executor/launch/rank_environment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sim/units/at.h"

namespace executor {
namespace {

struct Names {
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
  bool needs_local_rank = false;  // else a few of these names may be left over from somewhere else
};
// torchrun inside an allocation of Slurm: its workers inherit the variables of the one task that started it, and their own are the right ones.
constexpr std::array kLaunchers =
    std::to_array<Names>({{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                          {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", true},
                          {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr},
                          {"PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK", "PMIX_LOCAL_SIZE"},
                          {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}});

// Without a word about the host all ranks are on one.
std::int32_t number_in(const char* name, std::int32_t otherwise) {
  const char* const text = name ? std::getenv(name) : nullptr;
  return text ? std::atoi(text) : otherwise;
}

// "4(x2),3" -> 4, 4, 3: tasks of each node. Returns those of one node; otherwise where the text does not say.
std::int32_t tasks_of_node(std::string_view text, std::int32_t node, std::int32_t otherwise) {
  while (!text.empty()) {
    std::int32_t tasks = 0, times = 1;
    const char* const end = text.data() + text.size();
    const auto counted = std::from_chars(text.data(), end, tasks);
    if (counted.ec != std::errc{}) return otherwise;
    text.remove_prefix(sim::count_of(counted.ptr - text.data()));
    if (text.starts_with("(x")) {
      std::from_chars(text.data() + 2, end, times);
      text.remove_prefix(std::min(text.find(')') + 1, text.size()));
    }
    if (node < times) return tasks;
    node -= times;
    text.remove_prefix(text.starts_with(",") ? 1 : 0);
  }
  return otherwise;
}

// Of the step, where srun started one: the job's own numbers may be of a wider allocation.
std::int32_t local_size_of(const Names& names, std::int32_t size) {
  if (names.local_size != nullptr) return number_in(names.local_size, size);
  for (const char* const name : {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"})
    if (const char* const text = std::getenv(name)) return tasks_of_node(text, number_in("SLURM_NODEID", 0), size);
  return size;
}

}  // namespace

RankEnvironment read_rank_environment() {
  for (const Names& names : kLaunchers) {
    const char* const rank = std::getenv(names.rank);
    const char* const size = std::getenv(names.size);
    if (rank == nullptr || size == nullptr || (names.needs_local_rank && std::getenv(names.local_rank) == nullptr)) continue;
    RankEnvironment found{.rank = sim::Rank(std::atoi(rank)), .size = std::atoi(size), .is_launched = true};
    found.local_rank = number_in(names.local_rank, found.rank.value());
    found.local_size = local_size_of(names, found.size);
    return found;
  }
  return {};
}

}  // namespace executor
