// Options of a command line: of the one command of a script that has most options which the program knows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>

#include "sim/recipe/beside.h"
#include "sim/recipe/program.h"
#include "sim/recipe/shell_script.h"
#include "sim/recipe/started.h"

namespace sim {
namespace {

// Words of one command into options: `--name value ...`, `--name=value`, `--flag`. Those before the program (torchrun's) have one value each.
// What stands before who starts it (numactl, srun, docker) says where it runs, and how it is watched.
class OptionReader {
 public:
  static bool is_launcher(const std::string& word) {
    constexpr std::string_view kLaunchers[] = {"torchrun",         "deepspeed", "accelerate", "swift",         "megatron",
                                               "llamafactory-cli", "axolotl",   "litgpt",     "fairseq-train", "fairseq-hydra-train"};
    const std::string name = word.substr(word.rfind('/') + 1);
    return name.starts_with("python") || std::ranges::find(kLaunchers, name) != std::end(kLaunchers);
  }
  static bool starts_program(const std::string& word) { return is_launcher(word) || is_program(word); }
  explicit OptionReader(const std::vector<std::string>& words) {
    const auto program = std::find_if(words.begin(), words.end(), is_program);
    words_.assign(launcher_before(words, program), words.end());
    for (program_ = 0; program_ < words_.size() && !is_program(words_[program_]); ++program_) {
    }
    if (program_ == words_.size() || starts_no_script(words_.front())) program_ = 0;
  }
  RecipeSettings all() && {
    for (std::size_t at = 0; at < words_.size(); ++at) take(at);
    return std::move(settings_);
  }
  // Words behind the program that argparse takes for no option, and for no value: --name=value has one.
  std::vector<Violation> doubts() const {
    std::vector<Violation> found;
    for (std::size_t at = 1; at < words_.size(); ++at)
      if (program_ > 0 && at > program_ && is_short_option(words_[at]) && words_[at].size() > kLongestOfOneDash)
        found.push_back({words_[at], "stands behind one dash: no option of that name is set", "write two dashes, if it is one"});
      else if (is_stray(at))
        found.push_back({words_[at], fmt::format("stands behind {}, which has its one value: it is of no option", shown(words_[at - 1])),
                         "write a blank for the =, if it is a second value"});
    return found;
  }
  // Variables that stand among the options by themselves, and that nobody sets.
  std::vector<std::string> open() const {
    std::vector<std::string> names;
    for (std::size_t at = 1; at < words_.size(); ++at) {
      const std::vector<std::string> in_word = unknowns_in(words_[at]);
      const std::string& before = words_[at - 1];
      const bool is_behind_option = is_short_option(before) || (is_option(before) && before.find('=') == std::string::npos);
      if (in_word.size() == 1 && words_[at] == unknown_value(in_word.front()) && !is_behind_option) names.push_back(in_word.front());
    }
    return names;
  }

 private:
  static constexpr std::size_t kLongestOfOneDash = 4;  // -cn, -np, -inf
  // Their .py is the value of an option.
  static bool starts_no_script(const std::string& word) {
    return has_name("swift megatron llamafactory-cli axolotl litgpt fairseq-train fairseq-hydra-train", word.substr(word.rfind('/') + 1));
  }
  // Hydra's, behind options of another parser: +model.frozen=true, ++trainer.devices=8.
  static bool is_override(const std::string& word) {
    const std::size_t equals = word.find('='), begin = word.find_first_not_of('+');
    return begin > 0 && begin <= 2 && equals != std::string::npos && begin < equals;
  }
  using Place = std::vector<std::string>::const_iterator;
  // The first word, where none starts it: a name of one may be the value of an option.
  static Place launcher_before(const std::vector<std::string>& words, Place program) {
    for (Place at = words.begin(); at != program; ++at) {
      const bool is_value = at != words.begin() && (at - 1)->starts_with("--") && (at - 1)->find('=') == std::string::npos;
      if (is_launcher(*at) && !is_value) return at;
    }
    return words.begin();
  }
  static bool is_program(const std::string& word) { return word.ends_with(".py") && !word.starts_with("-"); }
  static bool is_option(const std::string& word) {
    const std::size_t space = word.find_first_of(" \n");
    return word.size() > 2 && word.starts_with("--") && (space == std::string::npos || word.find('=') < space);
  }
  static bool is_short_option(const std::string& word) {  // -s, -np: a negative number is none
    return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
  }
  // A path, a file or what nobody knows may be a position.
  bool is_stray(std::size_t at) const {
    const std::string &word = words_[at], &before = words_[at - 1], starter = words_.front().substr(words_.front().rfind('/') + 1);
    if (has_name("litgpt fairseq-train fairseq-hydra-train", starter)) return false;  // theirs is a plain word
    const bool is_plain = word.find_first_of("-/.=") == std::string::npos && unknowns_in(word).empty() && !word.empty();
    return is_plain && is_option(before) && before.find('=') != std::string::npos;
  }
  void take(std::size_t at) {
    const std::string& word = words_[at];
    const std::size_t equals = word.find('=');
    if (is_option(word)) {
      settings_.push_back(
          {word.substr(2, equals == std::string::npos ? equals : equals - 2), equals == std::string::npos ? "" : word.substr(equals + 1)});
      is_open_ = equals == std::string::npos;
    } else if (is_short_option(word) || at == program_) {
      is_open_ = false;
    } else if ((is_open_ || has_overrides_) && at > program_ && is_override(word)) {
      settings_.push_back({word.substr(word.find_first_not_of('+'), equals - word.find_first_not_of('+')), word.substr(equals + 1)});
      is_open_ = false;
      has_overrides_ = true;
    } else if (is_open_) {
      std::string& value = settings_.back().value;
      value += (value.empty() ? "" : " ") + word;
      is_open_ = at > program_;
    }
    const bool ends = at + 1 == words_.size() || is_option(words_[at + 1]) || is_short_option(words_[at + 1]) || at + 1 == program_ ||
                      (at >= program_ && is_override(words_[at + 1]));
    if (ends && is_open_ && settings_.back().value.empty()) settings_.back().value = "true";
  }

  std::vector<std::string> words_;
  std::size_t program_ = 0;
  bool is_open_ = false, has_overrides_ = false;
  RecipeSettings settings_;
};

struct Candidate {
  RecipeSettings settings;
  std::vector<std::string> open;
  std::vector<Violation> doubts;
  std::string command;
  Texts environment;
  std::string head;
  std::size_t known = 0;
  bool is_in_doubt = false;
  std::string decided_by, condition;
  bool starts_program = false;  // by itself: not in a word that srun or bash hands on
};

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// What fetches and installs has options of its own.
bool prepares(const std::vector<std::string>& words) {
  constexpr std::string_view kNames[] = {"pip",  "pip3", "conda",           "apt-get", "git",       "wget",
                                         "curl", "hf",   "huggingface-cli", "wandb",   "modelscope"};
  const bool installs = words.size() > 1 && words[0] == "uv" && words[1] != "run";
  return installs || (!words.empty() && std::ranges::find(kNames, words.front()) != std::end(kNames));
}

// `accelerate launch -m axolotl.cli.train run.yaml`: all that others give as options may stand in the file.
constexpr std::size_t kSettingsInAFile = 4, kLongestShown = 120;
bool starts_with_a_file(const std::vector<std::string>& words, const std::string& command) {
  return std::ranges::any_of(words, OptionReader::is_launcher) && bare_configuration(command);
}

// The same start with another file behind it: `axolotl train a.yml` and `axolotl train b.yml`.
bool starts_another_file(const std::string& one, const std::string& other) {
  const std::optional<RecipeSetting> file = bare_configuration(one), others = bare_configuration(other);
  if (!file || !others || file->value == others->value) return false;
  const auto start_of = [](const std::string& command, const std::string& value) {
    const std::string before = command.substr(0, command.find(" " + value));
    return before.substr(before.rfind(' ') + 1);
  };
  return start_of(one, file->value) == start_of(other, others->value);
}

std::vector<Candidate> candidates_in(const ShellScript& script, const std::string& file, const KnownKey& is_known) {
  std::vector<Candidate> all;
  for (const ShellCommand& command : script.commands) {
    if (prepares(command.words)) continue;
    OptionReader options(command.words);
    std::vector<std::string> open = options.open();
    std::vector<Violation> doubts = options.doubts();
    Candidate one{
        std::move(options).all(), std::move(open),    std::move(doubts), joined_words(command.words), command.environment, command.head, 0,
        command.is_in_doubt,      command.decided_by, command.condition};
    if (one.settings.size() > kMostSettings) throw InputError(file, {{"", "has more than 10000 options", "give one command line"}});
    for (const RecipeSetting& setting : one.settings) one.known += !is_known || is_known(setting.key) ? 1 : 0;
    one.starts_program = std::ranges::any_of(command.words, OptionReader::starts_program);
    if (starts_with_a_file(command.words, one.command)) one.known += kSettingsInAFile;
    const auto is_again = [&](const Candidate& other) {
      return other.settings == one.settings && started_program(other.command) == started_program(one.command) &&
             !starts_another_file(one.command, other.command);
    };
    if (one.known > 0 && std::ranges::none_of(all, is_again)) all.push_back(std::move(one));
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.known > b.known; });
  return all;
}

std::vector<Violation> doubts_of(const ShellScript& script) {
  if (script.has_no_command)
    return {{"",
             script.unused.empty() ? "no command stands in the text: the options of all its variables are read together"
                                   : fmt::format("no command stands in the text: the options of all its variables are read together, "
                                                 "without {}, which stand in none of them",
                                                 fmt::join(script.unused, ", ")),
             "give the script that starts it"}};
  if (!script.uncalled.empty())
    return {{"", fmt::format("defines {}, and calls none of them", fmt::join(script.uncalled, ", ")),
             "add the call that is meant, at its end"}};
  if (!script.is_cut) return {};
  return {{"",
           "a comment stands between the lines of a command, or a blank behind a backslash: it ends there for a shell, and options below "
           "are not passed",
           "delete the comment or the blank"}};
}

// `axolotl train run.yaml`: no option, and all is in a file. "": none.
std::string command_with_a_file(const ShellScript& script) {
  for (const ShellCommand& command : script.commands)
    if (std::string text = joined_words(command.words); !command.is_in_doubt && bare_configuration(text)) return text;
  return "";
}

void tell_of_other_files(const ShellScript& script, RecipeReading& reading) {
  for (const ShellCommand& command : script.commands)
    if (const std::string text = joined_words(command.words); starts_another_file(text, reading.command))
      reading.unknown.push_back(
          {"", fmt::format("starts another command with a file of its own, which is not read: {}", shown(text.substr(0, kLongestShown))),
           "leave the one that is meant"});
}

// $DIR/train.py: a word that says more than the variable.
bool begins_a_path(const std::string& value, std::size_t space) {
  const std::size_t end = value.find(kUnknownEnd, space);
  return end + 1 < value.size() && value[end + 1] == '/';
}

// EXTRA_ARGS, moe_options: by its name a variable holds options, not the value of the one before it.
bool sounds_like_options(const std::string& variable) {
  const std::string name = in_lower_case(variable);
  constexpr std::string_view kEnds[] = {"args", "arguments", "options", "opts", "flags", "extra"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return name.ends_with(end); });
}

// Names that no program gives a value.
bool is_flag_by_name(std::string_view key) {
  constexpr std::string_view kBegins[] = {"no-", "no_", "do_"};
  return has_name("overwrite_output_dir overwrite_cache log-throughput use-mcore-models exit-on-missing-checkpoint", key) ||
         std::ranges::any_of(kBegins, [&](std::string_view begin) { return key.starts_with(begin); });
}

// --log-throughput $EXTRA_ARGS: a flag, and behind it more options.
void part_from_flags(RecipeSettings& settings, std::vector<std::string>& open) {
  for (RecipeSetting& setting : settings) {
    const std::vector<std::string> names = unknowns_in(setting.value);
    if (names.size() != 1 || setting.value != unknown_value(names[0])) continue;
    if (!sounds_like_options(names[0]) && !is_flag_by_name(setting.key)) continue;
    open.push_back(names[0]);
    setting.value = "true";
  }
}

// A variable that stands alone behind a value, where options stand, may hold more of them.
void note_open_ends(Candidate& chosen, const std::vector<std::string>& missing, std::vector<Violation>& unknown) {
  std::vector<std::string> open = std::move(chosen.open);
  part_from_flags(chosen.settings, open);
  for (RecipeSetting& setting : chosen.settings) {
    std::size_t begin = setting.value.find(std::string(" ") + kUnknownBegin);
    while (begin != std::string::npos && begins_a_path(setting.value, begin))
      begin = setting.value.find(std::string(" ") + kUnknownBegin, begin + 1);
    if (begin == std::string::npos) continue;
    for (std::string& name : unknowns_in(setting.value.substr(begin))) open.push_back(std::move(name));
    setting.value.resize(begin);
    const std::vector<std::string> left = unknowns_in(setting.value);
    if (left.size() == 1 && setting.value == unknown_value(left[0]) && std::ranges::find(open, left[0]) != open.end())
      setting.value = "true";  // of a flag: what may be added behind it stands twice
  }
  const std::string sources =
      missing.empty() ? "" : fmt::format("have {} beside this file, or ", shown(fmt::format("{}", fmt::join(missing, ", "))));
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  for (const std::string& name : open)
    if (name.starts_with("$("))
      unknown.push_back({name, "is what a command prints: options among it are not read", "write them into the script"});
    else
      unknown.push_back({name, "is not set in the script, or under a condition alone: options that it holds are not read",
                         sources + fmt::format("give --set {}='...'", name)});
}

// A value of several words is several: read back, they are one value again.
std::string quoted_for_shell(const std::string& value) {
  std::string text;
  std::istringstream words(value);
  for (std::string word; words >> word;)
    text += (text.empty() ? "" : " ") + (word.find_first_of("|*()[]'\"$&;<>?#") == std::string::npos ? word : "'" + word + "'");
  return text;
}

ShellScript follow_with_others(std::string_view text, const std::string& file, const Texts& given) {
  return follow_shell(text, file, given, [&](const std::string& path) { return script_beside(file, path); });
}

// As a shell would read it again; what is not known stays a variable.
std::string requoted(const std::string& word) {
  const bool is_open = !unknowns_in(word).empty();
  std::string text = is_open ? shown(word) : word;
  if (text.find_first_of(is_open ? "\"\\\n" : "'\n") != std::string::npos) return "''";
  return is_open ? "\"" + text + "\"" : "'" + text + "'";
}

// Of a condition that is not decided: what would.
std::string remedy_of(const Candidate& in_doubt) {
  return in_doubt.decided_by.empty() ? "delete the condition, where it holds"
                                     : fmt::format("give --set {}=value, which decides", in_doubt.decided_by);
}

// `bash -c "$COMMAND"`, where nobody says what that is.
void tell_of_open_commands(const ShellScript& script, std::vector<Violation>& unknown) {
  for (const ShellCommand& command : script.commands)
    for (std::size_t at = 1; at < command.words.size(); ++at)
      for (const std::string& name : command.words[at - 1] == "-c" ? unknowns_in(command.words[at]) : std::vector<std::string>{})
        unknown.push_back(
            {name, "is a command that the text does not say: its options are not read", fmt::format("give --set {}='...'", name)});
}

// --bf16 ... as a command of its own, behind one with options: that one lacks its backslash. Alone they are a file of arguments.
std::vector<Violation> broken_lines(const ShellScript& script) {
  std::vector<Violation> broken;
  const auto is_option = [](const std::string& word) { return word.starts_with("--") && word.size() > 2; };
  for (std::size_t at = 1; at < script.commands.size(); ++at)
    if (const std::vector<std::string>& words = script.commands[at].words;
        !words.empty() && is_option(words.front()) && std::ranges::any_of(script.commands[at - 1].words, is_option))
      broken.push_back({words.front(),
                        "begins a command of its own: the line before it ends without a backslash, and for a shell these are no options "
                        "of it",
                        "add the backslash"});
  return broken;
}

// What the one command says otherwise than the other: "--micro-batch-size 8".
std::string options_of_its_own(const Candidate& one, const Candidate& other) {
  std::string text;
  for (const RecipeSetting& setting : one.settings)
    if (std::ranges::find(other.settings, setting) == other.settings.end())
      text += fmt::format("{}--{}{}", text.empty() ? "" : " ", setting.key, setting.value == "true" ? "" : " " + setting.value);
  return text.size() > kLongestShown ? text.substr(0, kLongestShown) + " ..." : text;
}

// With fewer options that are known than the one that is read: a second step, or a look at the data. One of the same program is told with any.
void tell_of_others(const std::vector<Candidate>& all, std::vector<Violation>& unknown) {
  constexpr std::size_t kFewest = 3;
  const Candidate& read = all.front();
  for (const Candidate& one : all) {
    const std::string program = started_program(one.command), options = options_of_its_own(one, read);
    const bool is_same = !program.empty() && program == started_program(read.command);
    if (&one == &read || !one.starts_program || (!is_same && one.known < kFewest)) continue;
    unknown.push_back({"",
                       fmt::format("starts another command, too, which is not read: {}{}",
                                   shown(program.empty() ? one.command.substr(0, kLongestShown) : program),
                                   options.empty() ? ", with the same options" : ", which says otherwise " + shown(options)),
                       "leave the one that is meant"});
  }
}

}  // namespace

std::vector<std::string> command_lines(std::string_view text, const std::string& file, const Texts& given, bool with_doubtful) {
  std::vector<std::string> lines;
  for (const ShellCommand& command : follow_with_others(text, file, given).commands) {
    if (command.is_in_doubt && !with_doubtful) continue;
    std::string line;
    for (const std::string& word : command.words)
      line += (line.empty() ? "" : " ") +
              (word.find_first_of(" '\"$\n") == std::string::npos && unknowns_in(word).empty() ? word : requoted(word));
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string shell_text(const RecipeHead& head, const RecipeSettings& settings, const std::string& command) {
  std::string text = "#!/usr/bin/env bash\n" + comment_lines(head) + command;
  for (const RecipeSetting& setting : settings)
    text += " \\\n  --" + setting.key + (setting.value == "true" ? "" : " " + quoted_for_shell(setting.value));
  return text + " \\\n  \"$@\"\n";
}

RecipeReading read_shell(std::string_view text, const std::string& file, const Texts& given, const KnownKey& is_known) {
  ShellScript script = follow_with_others(text, file, given);
  std::vector<Candidate> all = candidates_in(script, file, is_known);
  if (all.empty()) {
    RecipeReading none{{}, doubts_of(script), std::move(script.documents), command_with_a_file(script)};
    tell_of_open_commands(script, none.unknown);
    tell_of_other_files(script, none);
    return none;
  }
  std::vector<Violation> broken = broken_lines(script);
  if (const bool is_open = all.front().command.starts_with("--") || (all.size() > 1 && 2 * all[1].known > all[0].known);
      is_open && !broken.empty())
    throw InputError(file, std::move(broken));
  const std::string decides = remedy_of(all.front());
  if (all.size() > 1 && 2 * all[1].known > all[0].known)
    throw InputError(file, {{"", fmt::format("starts {} commands with different options", all.size()),
                             all.front().is_in_doubt ? decides + ", or leave the one that is meant" : "leave the one that is meant"}});
  RecipeReading reading{{}, doubts_of(script), std::move(script.documents)};
  if (all.front().is_in_doubt)
    reading.unknown.push_back(
        {"", fmt::format("the command stands under a condition that the text does not decide: {}", shown(all.front().condition)), decides});
  tell_of_others(all, reading.unknown);
  std::ranges::move(broken, std::back_inserter(reading.unknown));
  note_open_ends(all.front(), script.missing, reading.unknown);
  std::ranges::move(all.front().doubts, std::back_inserter(reading.unknown));
  reading.settings = std::move(all.front().settings);
  reading.command = std::move(all.front().command);
  reading.environment = std::move(all.front().environment);
  reading.head = std::move(all.front().head);
  return reading;
}

}  // namespace sim
