#include "cli/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <vector>

#include "planner/axis_words.h"
#include "planner/plan_candidate.h"
#include "sim/units/near_name.h"

namespace cli {
namespace {

struct Word {
  std::string name, description;  // "--model", "-o"
  bool takes_value = false;
};
struct Command {
  std::string name, description;
  std::vector<Word> words;
};

std::vector<Command> commands_of(CLI::App& app) {
  std::vector<Command> commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    commands.push_back({command->get_name(), command->get_description(), {}});
    for (const CLI::Option* option : command->get_options()) {
      const bool takes_value = option->get_expected_max() > 0;
      for (const std::string& name : option->get_lnames())
        commands.back().words.push_back({"--" + name, option->get_description(), takes_value});
      for (const std::string& name : option->get_snames())
        commands.back().words.push_back({"-" + name, option->get_description(), takes_value});
    }
  }
  return commands;
}

std::string without(std::string text, std::string_view letters) {
  std::erase_if(text, [&](char letter) { return letters.find(letter) != std::string_view::npos; });
  return text;
}

std::string bash(CLI::App& app) {
  std::string names, cases;
  for (const Command& command : commands_of(app)) {
    std::string words;
    for (const Word& word : command.words) words += word.name + " ";
    names += command.name + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, words);
  }
  return fmt::format(R"(# Completion of meshwright for bash.
_meshwright() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=""
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "{}" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  COMPREPLY=()
  case $current in -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;; esac
}}
complete -o default -F _meshwright meshwright
)",
                     names, cases);
}

std::string zsh(CLI::App& app) {
  std::string names, cases;
  for (const Command& command : commands_of(app)) {
    names += fmt::format("  '{}:{}'\n", command.name, without(command.description, "':"));
    cases += fmt::format("  {}) _arguments '*:file:_files'", command.name);
    for (const Word& word : command.words)
      cases += fmt::format(" '{}[{}]{}'", word.name, without(word.description, "'[]:"), word.takes_value ? ":value:_files" : "");
    cases += " ;;\n";
  }
  return fmt::format(
      "#compdef meshwright\nlocal -a commands\ncommands=(\n{})\nif (( CURRENT == 2 )); then\n  _describe command commands\n  return\nfi\n"
      "case $words[2] in\n{}esac\n",
      names, cases);
}

std::string fish(CLI::App& app) {
  std::string lines = "# Completion of meshwright for fish.\n";
  for (const Command& command : commands_of(app)) {
    lines +=
        fmt::format("complete -c meshwright -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name, without(command.description, "'"));
    for (const Word& word : command.words)
      lines += fmt::format("complete -c meshwright -n '__fish_seen_subcommand_from {}' {} {}{} -d '{}'\n", command.name,
                           word.name.starts_with("--") ? "-l" : "-s", word.name.substr(word.name.find_first_not_of('-')),
                           word.takes_value ? " -r" : "", without(word.description, "'"));
  }
  return lines;
}

// A backslash, a dot or a quote at the head of a line, and hyphens mean something to roff.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\\' || letter == '-') escaped += '\\';
    escaped += letter;
    if (letter == '\n') escaped += "\\&";
  }
  return escaped;
}

std::string man(CLI::App& app) {
  std::string page =
      ".TH MESHWRIGHT 1\n.SH NAME\nmeshwright \\- plans, simulates and runs distributed training\n.SH SYNOPSIS\n.B meshwright\n"
      ".I command\n[options]\n.SH COMMANDS\n";
  for (const Command& command : commands_of(app)) {
    page += fmt::format(".SS {}\n{}\n", roff(command.name), roff(command.description));
    for (const Word& word : command.words)
      page += fmt::format(".TP\n.B {}{}\n\\&{}\n", roff(word.name), word.takes_value ? " value" : "", roff(word.description));
  }
  return page + ".SH EXIT STATUS AND EXAMPLES\n.nf\n\\&" + roff(app.get_footer()) + "\n.fi\n";
}

std::string unknown(const std::string& word, std::string_view what, const std::vector<std::string>& known) {
  const std::string near = sim::near_name_remedy(word, known, "");
  return near.empty() ? fmt::format("{} is no {}", word, what) : fmt::format("{} is no {}; {}", word, what, near);
}

// "--tp 8" of one who takes an axis for an option; empty: it is no axis.
std::string axis_meant(std::string_view option) {
  const std::string name(option.substr(2));
  const std::vector<planner::Argument> said = planner::axes_said(name + "=1");
  for (const planner::Axis& axis : planner::all_axes())
    if (!said.empty() && said.front().name == axis.field->name)
      return fmt::format("{} is no option; did you mean --fix {}=VALUE?", option, name);
  return "";
}

}  // namespace

std::optional<std::string> described(CLI::App& app, std::string_view kind) {
  constexpr struct {
    std::string_view kind;
    std::string (*write)(CLI::App& app);
  } kKinds[] = {{"man", man}, {"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  for (const auto& [name, write] : kKinds)
    if (name == kind) return write(app);
  return std::nullopt;
}

std::string meant(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> known;
  if (argc < 2) return "";
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  if (std::find(known.begin(), known.end(), argv[1]) == known.end()) return unknown(argv[1], "command", known);
  known.clear();
  for (const CLI::Option* option : app.get_subcommand(argv[1])->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string_view word : std::span(argv + 2, argv + argc)) {
    const std::string name(word.substr(0, word.find('=')));
    if (!name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string axis = std::find(known.begin(), known.end(), "--fix") == known.end() ? "" : axis_meant(name);
    return axis.empty() ? unknown(name, "option", known) : axis;
  }
  return "";
}

std::string call_instead_of_estimate(std::span<const char* const> arguments) {
  const bool says_program = std::ranges::any_of(arguments, [](std::string_view word) { return word.starts_with("--software"); });
  return fmt::format("estimate is a question to plan:\n  meshwright plan {}{} -o plan.json", fmt::join(arguments, " "),
                     says_program ? "" : " --software megatron-core");
}

}  // namespace cli
