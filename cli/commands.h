// The subcommands: options in, exit code out. One file each, named like the subcommand. Called by application.cpp alone.
// Errors are thrown (sim::InputError, std::exception); application.cpp turns them into words and exit codes.
#pragma once

#include "cli/console.h"
#include "cli/options.h"

namespace cli {

int run(const MeasureOptions& options, const Console& console);
int run(const PlanOptions& options, const Console& console);
int run(const SimulateOptions& options, const Console& console);
int run(const TokenizeOptions& options, const Console& console);
int run(const RunOptions& options, const Console& console);
int run(const CompareOptions& options, const Console& console);
int run(const CalibrateOptions& options, const Console& console);
int run(const ValidateOptions& options, const Console& console);
int run(const ExportOptions& options, const Console& console);
int run(const ImportOptions& options, const Console& console);
int run(const CheckOptions& options, const Console& console);
int run(const DiffOptions& options, const Console& console);
int run(const ClusterOptions& options, const Console& console);

}  // namespace cli
