// The one document that --json prints, for each subcommand; and the files that the command line writes itself.
// Keys in fixed order, numbers in base units that the key names (seconds, bytes). JSON itself is seen in *_json.cpp only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/check_text.h"
#include "cli/options.h"
#include "cli/run_folder.h"
#include "cli/trace_comparison.h"
#include "planner/elastic.h"
#include "planner/search.h"
#include "sim/calibration/learn.h"
#include "sim/goodput/goodput.h"
#include "sim/recipe/recipe.h"
#include "sim/timeline/comparison.h"
#include "sim/units/input_error.h"

namespace cli {

std::string error_document(const std::string& file, const std::vector<sim::Violation>& violations, int exit_code);
std::string search_document(const PlanOptions& options, const planner::SearchRequest& request, const planner::SearchResult& result,
                            const std::vector<sim::Violation>& notes = {});
std::string elastic_document(const std::string& folder, const std::vector<planner::ElasticPlan>& plans);
std::string simulation_document(const sim::ParallelPlan& plan, const sim::SimulationResult& result,
                                const std::optional<sim::Goodput>& goodput = {});
std::string trace_comparison_document(const TraceComparison& comparison, const sim::Cluster& priced_by);
std::string comparison_document(const sim::Comparison& comparison, const sim::Cluster& priced_by);
struct TokenizedText {
  std::int64_t tokens = 0, vocabulary = 256;
  bool is_wide = false;  // 32 bits a token
};
std::string check_document(const CheckResult& check);
sim::ParallelPlan plan_of_check(const std::string& file);  // what was checked there; throws sim::InputError
std::string difference_document(const Checked& before, const Checked& now);
std::string tokenize_document(const TokenizeOptions& options, const TokenizedText& text);
std::string run_document(const RunOptions& options, const std::vector<StepMetrics>& metrics);
struct ExportedFiles {
  std::string weights, config;  // paths
};
std::string export_document(const ExportedFiles& files);
std::string recipe_document(const sim::Program& program, const sim::Recipe& recipe, const std::string& folder);
std::string import_document(const sim::ImportedPlan& imported, const std::string& output);
std::string script_document(const std::string& script);
std::string profile_document(const sim::HardwareProfile& profile);
std::string cluster_document(const sim::Cluster& cluster);  // as a cluster file
std::string learned_document(const sim::Learned& learned);

}  // namespace cli
