// How a subcommand's options are told to CLI11: what the declarations of options.cpp's commands share. For the sources that declare, no others.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/options.h"

namespace cli {

// CLI11 leaves a subcommand's values where its options point: one place for all of them, of which one is used.
struct Values {
  MeasureOptions measure{.output = {}, .ranks = {1, 2, 4}};
  PlanOptions plan;
  SimulateOptions simulate;
  TokenizeOptions tokenize;
  RunOptions run;
  CompareOptions compare;
  CalibrateOptions calibrate;
  ValidateOptions validate;
  ExportOptions exported;
  ImportOptions imported;
  CheckOptions check;
  DiffOptions diff;
  ClusterOptions cluster;
  std::vector<std::string> fixed;
  bool json = false;
};

inline constexpr std::int64_t kAny = INT32_MAX;

// A whole number; CLI11 judges by doubles, and tells them all.
struct WholeNumbers {
  std::int64_t least = 1, most = kAny;
};
CLI::Validator between(WholeNumbers range);
CLI::Validator up_to(std::int64_t most);  // from 1 on; what is written can be read again
CLI::Validator number();                  // what CLI11 would judge by strtold, without telling what it wants
struct Numbers {
  double least = 0, most = 1;
};
CLI::Validator number(Numbers range);
CLI::Validator named();  // "$OUT" of a variable that is not set is no value
CLI::Validator one_of(const std::vector<std::string>& names);

CLI::App* add_command(CLI::App& app, Values& values, const std::string& name, const std::string& what, const std::string& example);
CLI::Option* add_output(CLI::App* command, std::string& output, const std::string& what);

// Of runs and measurements (run_options.cpp), and of plans and configurations (plan_options.cpp).
std::vector<CLI::Option*> declare_failures(CLI::App* command, FailureOptions& failures);
void declare_measure(CLI::App& app, Values& values);
void declare_simulate(CLI::App& app, Values& values);
void declare_tokenize(CLI::App& app, Values& values);
void declare_run(CLI::App& app, Values& values);
void declare_compare(CLI::App& app, Values& values);
void declare_calibrate(CLI::App& app, Values& values);
void declare_validate(CLI::App& app, Values& values);
void declare_plan(CLI::App& app, Values& values);
void declare_export(CLI::App& app, Values& values);
void declare_import(CLI::App& app, Values& values);
void declare_check(CLI::App& app, Values& values);
void declare_diff(CLI::App& app, Values& values);
void declare_cluster(CLI::App& app, Values& values);

// --fix of plan, in the words that people say, into axes. CLI::ValidationError.
void split_fixed(Values& values);

}  // namespace cli
