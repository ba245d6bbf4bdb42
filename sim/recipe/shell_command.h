// One command as it stands in a script: its words with their quotes, where its output goes, and the here-documents behind its line.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/recipe/settings.h"
#include "sim/recipe/shell_cursor.h"

namespace sim {

struct RawCommand {
  std::vector<std::string> words;                              // an assignment of a list is one: NAME=(...)
  std::string target;                                          // of its output; "": nobody asks
  bool is_cut = false;                                         // by a comment behind a line that was to go on
  std::vector<std::pair<std::string, std::string>> documents;  // the word that ends it, with its quotes, and its text
  std::vector<std::string> piped{};                            // who reads its output, where a document stands behind the line
};

class ShellCommandCursor : public ShellCursor {
 public:
  using ShellCursor::ShellCursor;

 protected:
  RawCommand take_command();
  void skip_redirections();
  std::string take_arithmetic();                                              // between (( and ))
  std::string take_function_name();                                           // and the brackets behind it
  bool is_definition() const;                                                 // of a function
  std::optional<std::vector<std::string>> take_test(std::string_view close);  // the raw words up to it; none: its line ends before
  std::vector<std::string> take_line();                                       // the raw words up to its end, or a semicolon

 private:
  std::string take_array();
  void redirect(RawCommand& command);
  void take_documents(RawCommand& command);
  bool continues_here() const;
  bool goes_on_below() const;

  std::vector<std::string> ends_;  // of documents that begin behind this line
};

// Where a line has the script that it starts or sources; its size: nowhere. sbatch's options have values of their own in front of it.
std::size_t place_of_script(const std::vector<std::string>& words, const std::function<bool(const std::string& word)>& is_written);
bool takes_a_script(const std::vector<std::string>& raw);                         // that stands in a document behind it
std::vector<std::string_view> words_of_list(std::string_view inner);              // the raw words between ( and )
bool fits_a_pattern(const std::string& subject, std::string patterns);            // of case: `7b|"13b"`
std::size_t assignment_in(const std::string& raw);                                // where its = stands; npos: it is none
std::set<std::string> assigned_names(const std::vector<std::string>& variables);  // also those that are only declared
bool declares_variables(const std::vector<std::string>& raw);                     // export, local and their likes
std::vector<std::string> names_that_are_read(
    const std::vector<std::string>& words);  // by `read -r A B`, `printf -v A`: nobody says their values
std::vector<std::string> added_to(std::vector<std::string> now, std::vector<std::string> values, bool adds, bool is_list);
std::size_t letters_in(const std::vector<std::string>& values);
// The text of a script that the script itself writes, under whichever of its names. Null: it writes none.
const std::string* written(const Texts& documents, const std::string& path);
bool starts_nothing(const std::string& name);  // echo and its likes
std::string named_output(const std::string& name, const std::string& value);
bool wraps(const std::vector<std::string>& values, const std::vector<std::string>& before);
// A script, by exit; other codes are of checks, which arguments that nobody gave fail.
bool ends_well(const std::vector<std::string>& words);
bool takes_next(const std::string& word);  // an option whose value stands behind it
bool is_test(const std::string& word);
bool holds_a_command(const std::string& word);  // as bash -c has one, with options or a script

}  // namespace sim
