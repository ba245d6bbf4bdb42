// Weights for other tools. The worker writes them: it alone reads checkpoints.
#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/launch.h"
#include "cli/process.h"
#include "sim/units/input_error.h"

namespace cli {

int run(const ExportOptions& options, const Console& console) {
  Process worker({.command = {require_worker(), "export", "--out", options.run, "--weights", options.output}, .environment = {}, .output_file = {}, .error_file = {}});
  std::optional<int> status;
  while (!status) status = worker.wait_for(std::chrono::milliseconds(100));
  if (*status != kSuccess) return *status;   // the worker has said why
  console.result("Weights: " + options.output + "/model.safetensors, config.json", [&] { return export_document(options); });
  return kSuccess;
}

}  // namespace cli
