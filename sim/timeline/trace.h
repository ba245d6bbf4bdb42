// Trace files: Chrome trace-event JSON (opens in Perfetto and chrome://tracing) or Perfetto's own format, the task key in the arguments.
// The worker writes one a rank (JSON); `simulate --timeline`, `compare --timeline` and the window write timelines. Times on disk are whole nanoseconds:
// both edges of a span are rounded, never its length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/timeline/expert_rows.h"
#include "sim/timeline/timeline.h"
#include "sim/units/told.h"

namespace sim {

// Collective ledger: what a rank really communicated, in order, for the exact comparison with the prediction.
struct LedgerEntry {
  TaskKey key;
  std::int32_t group_size = 1;
  Bytes payload{};
  bool operator==(const LedgerEntry&) const = default;
};

struct MeasuredStep {
  std::int64_t step = 0;
  std::vector<Span> spans;  // device 0; times since the step's start on this rank
  std::vector<LedgerEntry> ledger;
  Bytes peak_memory{};       // allocator, during this step
  SimTime duration{};        // start of the step to its end on this rank
  SimTime start{};           // of the step, on this rank's clock. Left zero: steps are drawn end to end
  ExpertRows expert_rows{};  // none where the host does not know them
};

struct RankTrace {
  Rank rank;
  std::string plan_hash;
  SimTime clock_offset{};           // to rank 0's clock: add it
  std::vector<MeasuredStep> steps;  // ascending
  DeviceMesh mesh;                  // of the plan; lets sends find their receives when traces of several ranks are merged
};

// Written aside, then renamed: a reader sees the old file or the new one. Throws InputError naming the disk's reason.
void write_rank_trace(const RankTrace& trace, const std::string& path);
RankTrace read_rank_trace(const std::string& path);  // throws InputError (truncated, not a trace, unknown key)
std::string trace_file_name(Rank rank);              // "trace.3.json"
// All ranks of a run folder, ascending. Throws InputError: none there, one missing, of different plans.
std::vector<RankTrace> read_run_traces(const std::string& run_folder, const Told& told = {});
// Throws InputError unless every rank of the plan has a trace, recorded under that plan.
void require_traces_of(const ParallelPlan& plan, const std::vector<RankTrace>& traces, const std::string& run_folder);

// Timelines for other viewers, with flows send -> receive. Several stand in one file, to be held against each other.
struct LoadSample {  // what a device's port carries from `time` on, as a share of what it can
  DeviceId device;
  SimTime time{};
  double load = 0;
};
struct NamedTimeline {
  std::string name;  // "simulated: plan.json"
  const Timeline& timeline;
  std::vector<LoadSample> link_load{};  // ordered by device, then time; may be empty
};
void write_chrome_trace(const std::vector<NamedTimeline>& timelines, const std::string& path, const Told& told = {});
// Streams to the disk: any size.
void write_perfetto_trace(const std::vector<NamedTimeline>& timelines, const std::string& path, const Told& told = {});
// By the ending of the path: .perfetto-trace and .pftrace, else JSON. All three throw InputError naming the disk's reason.
// Told of each device that is written.
void write_timelines(const std::vector<NamedTimeline>& timelines, const std::string& path, const Told& told = {});
std::int64_t num_devices(const std::vector<NamedTimeline>& timelines);

}  // namespace sim
