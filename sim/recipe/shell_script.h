// A shell script followed as far as its text goes: assignments, arrays, expansions, arithmetic, conditions, functions. Nothing is executed; another
// script that it sources or starts is followed, too, where whoever calls has its text. What the text alone does not say (the environment, what a command prints, a condition on either) stands in a value as an unknown
// with its name.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/recipe/settings.h"

namespace sim {

struct ShellCommand {
  std::vector<std::string> words;
  bool is_in_doubt = false;  // under a condition that the text does not decide
  std::string decided_by{};  // then: the variable whose value would; "": none would
  Texts environment{};       // those of its variables that say how many devices it has
  std::string head{};        // of the job that it stands in, where sbatch starts one
  std::string condition{};   // which is not decided, as it stands
};

struct ShellScript {
  std::vector<ShellCommand> commands;
  Texts documents;                    // here-documents, by the file that they are written to
  std::vector<std::string> missing;   // scripts that it sources, and nobody has
  bool has_no_command = false;        // but variables with options, for whoever sources it: they stand as one command
  std::vector<std::string> uncalled;  // functions, where the text starts nothing: whoever sources it calls one
  std::vector<std::string> unused{};  // variables of such a text that stand in none of its options
  bool is_cut = false;                // a comment, or a blank behind a backslash, in the middle of a command, which ends there
};

using OtherScript = std::function<std::optional<std::string>(const std::string& path)>;  // its text; nothing: nobody has it

// `given` stands above what the script itself sets ("1" is its first argument). Throws InputError: values that grow without end.
ShellScript follow_shell(std::string_view text, const std::string& file, const Texts& given = {}, const OtherScript& other = {});

// Variables while a script is followed. A scalar is a list of one.
struct ShellScope {
  std::map<std::string, std::vector<std::string>> variables;
  const Texts& given;
  const std::string& file;
  int depth = 0, statements = 0;
  std::set<std::string> exported{};  // names that another script sees
  std::set<std::string> expanded{};  // names whose values stood in some word: the script itself has a use for them
  std::set<std::string> read{};      // names that a `read` fills: their values decide nothing that --set could
  std::string head{};                // of the job that is followed, where sbatch starts one
  // What a command prints, where its text says it: a function's echo, a document that cat shows. Nothing: it does not.
  std::function<std::optional<std::string>(const std::string& command)> printed{};

  using Kept = std::map<std::string, std::optional<std::vector<std::string>>>;  // nothing: not set
  Kept of_caller{};                                                             // what a function has set for itself alone

  Kept kept(const std::set<std::string>& names) const;
  void give_back(const Kept& kept);
  const std::vector<std::string>* find(const std::string& name) const;
  const std::vector<std::string>* take(const std::string& name);       // the same, for a word
  void set(const std::string& name, std::vector<std::string> values);  // given ones stay
};

// Of a condition: what the text does not decide is unknown.
enum class Verdict { Yes, No, Unknown };
Verdict verdict_of(bool holds);
Verdict inverted(Verdict verdict);
Verdict tested(std::vector<std::string> raw, ShellScope& scope);  // the raw words between [ and ]
// Of a condition that is not decided: the first of its variables that nobody sets, whose value would decide. "": none would, as of `[ -f $FILE ]`.
std::string deciding_variable(const std::string& condition, const ShellScope& scope);

inline bool is_name_character(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
inline bool is_function_character(char c) { return is_name_character(c) || c == '-' || c == '.' || c == ':' || c == '+'; }  // train_1.3B
// Behind <PATH TO CHECKPOINTS>, which somebody is to fill in and which no shell would take for a word; where it stands: it is none.
std::size_t end_of_placeholder(std::string_view text, std::size_t at);
std::size_t end_of_shell_word(std::string_view text, std::size_t at);                 // quotes and brackets are not left
std::vector<std::string> expanded_words(std::string_view raw, ShellScope& scope);     // cut at spaces, as a command's words are
std::string expanded_text(std::string_view raw, ShellScope& scope);                   // one text, as in an assignment
std::string expanded_document(std::string_view text, ShellScope& scope);              // quotes are text there
std::optional<long long> arithmetic(std::string_view expression, ShellScope& scope);  // of expanded text; none: not known
// `n++`, `n += 2`, `n = 4`: what the variable holds then, and the whole is; none: not known.
struct ArithmeticChange {
  std::string name;
  std::optional<long long> after, value;
};
std::optional<ArithmeticChange> change_in(std::string_view expression, ShellScope& scope);  // none: it changes nothing

}  // namespace sim
