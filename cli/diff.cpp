// Two plans, in whatever words they come: the settings that differ, and what of time and memory does, by cause.
#include "cli/check_text.h"
#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"

namespace cli {

int run(const DiffOptions& options, const Console& console) {
  const auto of = [&](const std::string& path) {
    ImportOptions named = options.given;
    named.recipe = path;
    Subject subject = load_subject(named);
    const sim::Bytes limit = sim::usable_memory(subject.plan.cluster);
    return checked(std::move(subject), limit);
  };
  const Checked before = of(options.before), now = of(options.now);
  const Report report = difference_report(before, now);
  console.result(options.markdown ? markdown_text(report) : screen_text(report, console), [&] { return difference_document(before, now); });
  return kSuccess;
}

}  // namespace cli
