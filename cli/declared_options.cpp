#include "cli/declared_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "cli/report.h"
#include "sim/units/near_name.h"

namespace cli {

CLI::Validator between(WholeNumbers range) {
  const std::int64_t least = range.least, most = range.most;
  const bool has_end = most < kAny;
  const std::string words = has_end ? "from " + grouped(least) + " to " + grouped(most) : "of at least " + grouped(least);
  const auto judge = [=](std::string& text) -> std::string {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = error == std::errc{} && end == text.data() + text.size();
    if (is_whole && number >= least && number <= most) return "";
    return is_whole && number > most ? "'" + text + "' is above " + grouped(most) : "'" + text + "' is no whole number " + words;
  };
  return CLI::Validator(judge, "", "").description(has_end ? grouped(least) + " to " + grouped(most) : "");
}
CLI::Validator up_to(std::int64_t most) { return between({1, most}); }

namespace {

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

CLI::Validator number() {
  const auto judge = [](std::string& text) { return number_in(text) ? std::string() : "'" + text + "' is no number, like 3e-4 or 1.5"; };
  return CLI::Validator(judge, "", "").description("");
}

CLI::Validator number(Numbers range) {
  const auto judge = [=](std::string& text) -> std::string {
    const std::optional<double> value = number_in(text);
    if (value && *value >= range.least && *value <= range.most) return "";
    return fmt::format("'{}' is no number from {} to {}", text, range.least, range.most);
  };
  return CLI::Validator(judge, "", "").description("");
}

CLI::Validator named() {
  const auto judge = [](std::string& text) {
    return std::string(text.empty() ? "is given without a value: give one, or leave it out" : "");
  };
  return CLI::Validator(judge, "", "").description("");
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  const auto judge = [=](std::string& text) -> std::string {
    if (std::find(names.begin(), names.end(), text) != names.end()) return "";
    const std::string near = sim::near_name_remedy(text, names, "");
    return "'" + text + "' is none of " + all + (near.empty() ? "" : "; " + near);
  };
  return CLI::Validator(judge, "", "").description("{" + all + "}");
}

CLI::App* add_command(CLI::App& app, Values& values, const std::string& name, const std::string& what, const std::string& example) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("Example:\n  " + example);
  command->add_flag("--json", values.json, "One JSON document on stdout; everything else goes to stderr");
  return command;
}

CLI::Option* add_output(CLI::App* command, std::string& output, const std::string& what) {
  return command->add_option("-o,--output", output, what)->required();
}

}  // namespace cli
