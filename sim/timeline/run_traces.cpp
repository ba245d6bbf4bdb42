// The traces of all ranks of a run. Declared in trace.h.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "sim/timeline/trace.h"
#include "sim/units/counted.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

std::optional<Rank> rank_of(const std::string& name) {
  constexpr std::string_view kBefore = "trace.", kAfter = ".json";
  if (!name.starts_with(kBefore) || !name.ends_with(kAfter) || name.size() <= kBefore.size() + kAfter.size()) return std::nullopt;
  const char* end = name.data() + name.size() - kAfter.size();
  std::int32_t rank = 0;
  const auto [stopped, error] = std::from_chars(name.data() + kBefore.size(), end, rank);
  if (error != std::errc{} || stopped != end || rank < 0 || trace_file_name(Rank(rank)) != name) return std::nullopt;
  return Rank(rank);
}

std::set<Rank> ranks_in(const std::string& folder) {
  std::error_code error;
  std::set<Rank> ranks;
  for (auto entry = std::filesystem::directory_iterator(folder, error); !error && entry != std::filesystem::directory_iterator();
       entry.increment(error))
    if (const auto rank = rank_of(entry->path().filename().string())) ranks.insert(*rank);
  if (error) throw InputError(folder, {{"", "cannot be read: " + error.message(), "give the folder of a run (meshwright run -o)"}});
  return ranks;
}

void check_together(const std::string& folder, const std::vector<RankTrace>& traces) {
  for (std::size_t at = 0; at < traces.size(); ++at) {
    const std::string name = trace_file_name(Rank(static_cast<std::int32_t>(at)));
    if (traces[at].rank.position() != at)
      throw InputError(
          folder, {{name, fmt::format("says that it is of rank {}", traces[at].rank.value()), "put each rank's file back in its place"}});
    if (traces[at].plan_hash != traces.front().plan_hash)
      throw InputError(folder, {{name, fmt::format("is of plan {}, rank 0 of plan {}", traces[at].plan_hash, traces.front().plan_hash),
                                 "compare the ranks of one run"}});
  }
}

}  // namespace

std::vector<RankTrace> read_run_traces(const std::string& run_folder, const Told& told) {
  const std::set<Rank> ranks = ranks_in(run_folder);
  if (ranks.empty())
    throw InputError(run_folder, {{"trace.0.json", "is missing", "give the folder of a run that has ended (meshwright run -o)"}});
  std::vector<RankTrace> traces;
  for (const Rank rank : ranks) {
    if (rank.position() != traces.size())
      throw InputError(run_folder, {{trace_file_name(Rank(static_cast<std::int32_t>(traces.size()))), "is missing",
                                     "run again, or copy all ranks' traces"}});
    traces.push_back(read_rank_trace((std::filesystem::path(run_folder) / trace_file_name(rank)).string()));
    if (told) told({.done = static_cast<std::int64_t>(traces.size()), .all = static_cast<std::int64_t>(ranks.size())});
  }
  check_together(run_folder, traces);
  return traces;
}

void require_traces_of(const ParallelPlan& plan, const std::vector<RankTrace>& traces, const std::string& run_folder) {
  const std::string hash = plan_hash(plan);
  for (const RankTrace& trace : traces)
    if (trace.plan_hash != hash)
      throw InputError(run_folder,
                       {{trace_file_name(trace.rank), "was recorded under plan " + trace.plan_hash + ", plan.json of the folder is " + hash,
                         "give a folder as meshwright run wrote it"}});
  if (static_cast<std::int64_t>(traces.size()) != plan.mesh.ranks())
    throw InputError(
        run_folder,
        {{"trace.*.json", fmt::format("found {}, the plan has {}", counted(std::ssize(traces), "file"), counted(plan.mesh.ranks(), "rank")),
          "wait until the run has ended, or copy all ranks' traces"}});
}

}  // namespace sim
