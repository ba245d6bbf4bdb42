#include "cli/application.h"

#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <variant>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/options.h"
#include "sim/units/input_error.h"

namespace cli {
namespace {

struct Failure {
  int exit_code = kInternal;
  std::vector<sim::Violation> violations;
};

// What stands in a file may be anything, and a terminal obeys it: no character but ends of lines moves anything here.
std::string printable(std::string text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == '\x7f') c = '?';
  return text;
}

std::string sentence_of(const std::string& file, const sim::Violation& violation) {
  std::string text = "error: " + file;
  if (!violation.where.empty()) text += (file.empty() ? "" : ": ") + violation.where;
  text += (text.size() > 7 ? ": " : "") + violation.problem;
  return printable(violation.remedy.empty() ? text : text + "\n  remedy: " + violation.remedy);
}

// Told on stderr in any case; stdout itself may be what failed.
int report(const Console& console, const std::string& file, const Failure& failure) {
  console.say(error_text(file, failure.violations));
  try {
    if (console.form() == Form::Json) console.result("", [&] { return error_document(file, failure.violations, failure.exit_code); });
  } catch (const sim::InputError&) {
    return failure.exit_code;
  }
  return failure.exit_code;
}

int call(const Invocation& invocation, const Console& console) {
  return std::visit([&](const auto& options) { return run(options, console); }, invocation.options);
}

}  // namespace

std::string error_text(const std::string& file, const std::vector<sim::Violation>& violations) {
  std::string text;
  for (const sim::Violation& violation : sim::grouped(violations)) text += (text.empty() ? "" : "\n") + sentence_of(file, violation);
  return text;
}

int run_application(int argc, const char* const* argv) {
  const ParseResult parsed = parse_command_line(argc, argv);
  if (parsed.ended) return std::cout.flush() ? parsed.exit_code : kInputError;  // help that nobody got
  const Console console(parsed.invocation.json ? Form::Json : Form::Text);
  try {
    return call(parsed.invocation, console);
  } catch (const sim::InputError& error) {
    return report(console, error.file(), {kInputError, error.violations()});
  } catch (const RankFailure& error) {
    return report(console, "", {kRankFailed, {{"", error.what(), ""}}});
  } catch (const std::filesystem::filesystem_error& error) {
    return report(console, error.path1().string(), {kInputError, {{"", error.code().message(), "check the path"}}});
  } catch (const std::exception& error) {
    return report(
        console, "",
        {kInternal,
         {{"", std::string("unexpected: ") + error.what(), "this is a defect of Meshwright: please report it with the command line"}}});
  }
}

}  // namespace cli
