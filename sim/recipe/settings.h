// What a program's configuration says, whatever its syntax: names with values, in the order of the file. Four forms are written and read:
// arguments of a shell line, JSON, YAML, and Python's assignments (TOML's too).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/quantity.h"

namespace sim {

// Nested names are joined by dots. A value is as Python and JSON write it: true, 4, 0.95, [1, 2]; text stands without quotes.
struct RecipeSetting {
  std::string key, value;
  std::string written{};    // its key in the file, where that is another
  bool is_default = false;  // the file does not have it: what the program has by itself
  bool operator==(const RecipeSetting&) const = default;
};
using RecipeSettings = std::vector<RecipeSetting>;
const RecipeSetting* first_named(std::string_view key, const RecipeSettings& settings);  // null: none has that key

inline constexpr Bytes kLargestRecipe{1 << 20};  // no one writes more by hand: refused before it is parsed
inline constexpr std::size_t kMostSettings = 10'000;

// A part of a value that the text alone does not say: a variable of the environment, what a command prints. It stands between these two.
inline constexpr char kUnknownBegin = '\x01', kUnknownEnd = '\x02';
std::string unknown_value(const std::string& name);
std::vector<std::string> unknowns_in(std::string_view value);  // their names, each once
std::string shown(std::string_view value);                     // for people: $NAME

bool is_literal(std::string_view value);    // stands without quotes: a number, a truth value, a list
std::string leaf_of(std::string_view key);  // behind the last dot
std::string in_lower_case(std::string text);

// A row by which one program's setting is another's argument. `value` "": whatever it is; `becomes` "": as it is.
struct Renaming {
  std::string_view key, value, argument, becomes;
};
// By the first row that fits.
std::optional<RecipeSetting> renamed(const RecipeSetting& setting, std::span<const Renaming> rows);

// `remarks`: lines of the head, as comments. JSON has none: there they stand under "_meshwright", which nobody reads.
struct RecipeHead {
  std::string title;  // what wrote this, and for what
  std::vector<std::string> remarks;
};
std::string shell_text(const RecipeHead& head, const RecipeSettings& settings, const std::string& command);
std::string json_text(const RecipeHead& head, const RecipeSettings& settings);
std::string yaml_text(const RecipeHead& head, const RecipeSettings& settings);
std::string comment_lines(const RecipeHead& head);

// Each throws sim::InputError naming `file`: no such syntax, too deep, more than kMostSettings.
// Shell: options of any command, variables that the text itself sets are put in. Python: `a.b = 4`, `Section(b=4)`, `[a]` and `b = 4`.
// What a text holds beside its settings: doubts about it, files that it writes (a DeepSpeed configuration behind `cat <<EOF`), and of a script the
// command that they stand behind, with those variables of its environment that say how many devices it has.
using Texts = std::map<std::string, std::string>;
using KnownKey = std::function<bool(const std::string&)>;
struct RecipeReading {
  RecipeSettings settings;
  std::vector<Violation> unknown;
  Texts documents{};
  std::string command{};
  Texts environment{};
  std::string head{};  // of the job that the script hands to sbatch; "": it is one itself, or none
};
RecipeReading read_shell(std::string_view text, const std::string& file, const Texts& given = {}, const KnownKey& is_known = {});
// What a script starts, and those beside it that it starts: a line each, of what an undecided condition holds where that is asked for.
std::vector<std::string> command_lines(std::string_view text, const std::string& file, const Texts& given, bool with_doubtful = false);
RecipeSettings read_json(std::string_view text, const std::string& file);
RecipeSettings read_yaml(const std::string& text, const std::string& file);  // ${a.b} is the value of that name, ${.b} of one beside it
bool begins_as_yaml(std::string_view text);                                  // behind comments, with a name and a colon: no script does
bool begins_as_json(std::string_view text);
bool begins_as_python(std::string_view text);
// `is_known`: of a name that only stands for a value elsewhere, whether it says something itself; null: it may.
RecipeSettings read_assignments(std::string_view text, const std::string& file, const KnownKey& is_known = {});

}  // namespace sim
