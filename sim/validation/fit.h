// Fits the constants of fitted_constants.h to headline rows: least mean over sources of |log(predicted / measured)|, plus a small price for
// each step away from where a constant starts, so that one without evidence stays. First one set of constants for all stacks (where a stack
// without rows is left), then each stack and part by itself. Rows are simulated a few times; between them coordinate descent moves the constants on the
// planes that the simulations left (step_plane.h). No randomness.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/validation/score.h"

namespace sim {

struct FittedProfiles {
  std::map<std::string, Device> parts;
  std::map<std::string, SoftwareStack> stacks;
  std::map<std::string, std::set<std::string>> sources;  // of stack or part: what it was fitted on
  double error = 0;                                      // mean over sources of |log|
};

struct MeasuredRun {
  std::string id;
  DescribedRow row;
  RowTarget target;
  const std::string& stack() const { return row.plan.cluster.software.name; }
};

struct MeasuredRuns {
  std::vector<MeasuredRun> runs;
  FittedProfiles profiles;
};  // profiles: as they are on the disk

// AsFitted: with the constants that an earlier fit wrote. There a row that is no plan is left out; a fit stops at it.
enum class ReadProfiles : std::uint8_t { Unfitted, AsFitted };
MeasuredRuns load_measured_runs(const std::string& path, ReadProfiles read = ReadProfiles::Unfitted);  // headline rows; throws InputError
FittedProfiles fit(const std::vector<MeasuredRun>& runs, FittedProfiles start);

// Each source predicted with constants fitted without it, and with intervals from what is left. A fit takes seconds: `progress` hears of each.
struct SourcesLeftOut {
  std::int64_t done = 0, all = 0;
};
ValidationRows leave_out_each(const MeasuredRuns& measured, const std::function<void(SourcesLeftOut)>& progress = {});

// For each source the profiles that are fitted without it.
void fit_without_each(const MeasuredRuns& measured, const std::function<void(const std::string& source, const FittedProfiles&)>& visit);

// Stacks and parts that rows spoke of, into folder/software and folder/hardware; other fields stay as they are.
void save_profiles(const FittedProfiles& profiles, const std::string& folder);

}  // namespace sim
