#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <span>

#include "cli/declared_options.h"
#include "cli/describe.h"
#include "cli/exit_code.h"
#include "cli/version.h"

namespace cli {
namespace {

constexpr const char *kRelease = "meshwright " MESHWRIGHT_VERSION, *kParts = MESHWRIGHT_PARTS, *kCompiler = MESHWRIGHT_COMPILER;

using Chosen = decltype(Invocation::options);

struct Subcommand {
  const char* name;
  void (*declare)(CLI::App& app, Values& values);
  Chosen (*chosen)(const Values& values);
};
// In the order of --help.
constexpr auto kCommands = std::to_array<Subcommand>({
    {"measure", declare_measure, [](const Values& values) -> Chosen { return values.measure; }},
    {"plan", declare_plan, [](const Values& values) -> Chosen { return values.plan; }},
    {"simulate", declare_simulate, [](const Values& values) -> Chosen { return values.simulate; }},
    {"tokenize", declare_tokenize, [](const Values& values) -> Chosen { return values.tokenize; }},
    {"run", declare_run, [](const Values& values) -> Chosen { return values.run; }},
    {"compare", declare_compare, [](const Values& values) -> Chosen { return values.compare; }},
    {"calibrate", declare_calibrate, [](const Values& values) -> Chosen { return values.calibrate; }},
    {"validate", declare_validate, [](const Values& values) -> Chosen { return values.validate; }},
    {"export", declare_export, [](const Values& values) -> Chosen { return values.exported; }},
    {"import", declare_import, [](const Values& values) -> Chosen { return values.imported; }},
    {"check", declare_check, [](const Values& values) -> Chosen { return values.check; }},
    {"diff", declare_diff, [](const Values& values) -> Chosen { return values.diff; }},
    {"cluster", declare_cluster, [](const Values& values) -> Chosen { return values.cluster; }},
});

// Of what CLI11 tells by numbers: an option without its value, and one that is given again.
std::string failure(const CLI::App* app, const CLI::Error& error) {
  std::string text = CLI::FailureMessage::simple(app, error);
  const std::size_t missing = text.find(": 1 required "), again = text.find(": At Most 1 required but received ");
  const std::size_t at = std::min(missing, again);
  if (error.get_name() != "ArgumentMismatch" || at == std::string::npos) return text;
  return text.replace(at, text.find('\n') - at, missing == at ? " is given without a value" : " is given more than once: keep one");
}

Invocation choose(const CLI::App& app, const Values& values) {
  const std::string name = app.get_subcommands().front()->get_name();
  const auto* command = std::find_if(kCommands.begin(), kCommands.end(), [&](const Subcommand& at) { return name == at.name; });
  return {command->chosen(values), values.json};
}

}  // namespace

ParseResult parse_command_line(int argc, const char* const* argv) {
  if (argc > 1 && std::string_view(argv[1]) == "estimate") {
    std::cerr << call_instead_of_estimate(std::span(argv + 2, argv + argc)) << "\n";
    return {.ended = true, .exit_code = kUsage, .invocation = {}};
  }
  CLI::App app("Meshwright plans, simulates and runs distributed training.", "meshwright");
  app.footer(
      "Example:\n  examples/quickstart.sh    does all of it on this machine\n"
      "Exit codes: 0 success, 2 usage, 10 no feasible plan, 20 limit reached, 30 input error, 40 internal, 50 a rank failed, 130 "
      "interrupted");
  app.set_version_flag("--version",
                       fmt::format("{}{}{} ({}; {})", kRelease, *kCommit == '\0' ? "" : ", commit ", kCommit, kParts, kCompiler));
  app.require_subcommand(1);
  app.failure_message(failure);
  Values values;
  for (const Subcommand& command : kCommands) command.declare(app, values);
  for (CLI::App* command : app.get_subcommands({}))
    for (CLI::Option* option : command->get_options()) option->check(named());
  if (argc == 3 && std::string_view(argv[1]) == "--describe")
    if (const std::optional<std::string> text = described(app, argv[2])) {
      std::cout << *text;
      return {.ended = true, .exit_code = kSuccess, .invocation = {}};
    }
  try {
    app.parse(argc, argv);
    split_fixed(values);
  } catch (const CLI::ParseError& error) {
    if (const std::string words = error.get_exit_code() == 0 ? "" : meant(app, argc, argv); !words.empty()) std::cerr << words << "\n";
    const bool is_help = app.exit(error) == 0;
    return {.ended = true, .exit_code = is_help ? kSuccess : kUsage, .invocation = {}};
  }
  return {.ended = false, .exit_code = kSuccess, .invocation = choose(app, values)};
}

}  // namespace cli
