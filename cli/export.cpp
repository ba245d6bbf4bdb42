// Weights for other tools. The worker writes them: it alone reads checkpoints.
#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/failure_report.h"
#include "cli/launch.h"
#include "sim/units/input_error.h"

namespace cli {

int run(const ExportOptions& options, const Console& console) {
  const int status = run_worker({"export", "--out", options.run, "--weights", options.output});
  if (status != kSuccess) return refused_by_worker(options.run, status, console);
  console.result("Weights: " + options.output + "/model.safetensors, config.json", [&] { return export_document(options); });
  return kSuccess;
}

}  // namespace cli
