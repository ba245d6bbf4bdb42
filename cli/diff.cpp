// Two plans, in whatever words they come: the settings that differ, and what of time and memory does, by cause.
#include <utility>

#include "cli/check_text.h"
#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/results.h"

namespace cli {

Difference difference(const DiffOptions& options) {
  const auto of = [&](const std::string& path) {
    ImportOptions named = options.given;
    named.recipe = path;
    Subject subject = load_subject(named);
    const sim::Bytes limit = sim::usable_memory(subject.plan.cluster);
    return checked(std::move(subject), limit);
  };
  return {of(options.before), of(options.now)};
}

int run(const DiffOptions& options, const Console& console) {
  const Difference two = difference(options);
  const Report report = difference_report(two.before, two.now);
  console.result(options.markdown ? markdown_text(report) : screen_text(report, console),
                 [&] { return difference_document(two.before, two.now); });
  return kSuccess;
}

}  // namespace cli
