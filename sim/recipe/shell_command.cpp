#include "sim/recipe/shell_command.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>

#include "sim/recipe/program.h"
#include "sim/recipe/shell_script.h"

namespace sim {

RawCommand ShellCommandCursor::take_command() {
  RawCommand command;
  std::vector<std::string>& words = command.words;
  for (skip_spaces(); at_ < text_.size(); skip_spaces()) {
    const char c = text_[at_];
    if (c == '\n' || c == ';' || c == '|' || c == ')' || c == '#') break;
    if (c == '&' && !text_.substr(at_).starts_with("&>")) break;
    if ((c == '<' && end_of_placeholder(text_, at_) == at_) || c == '>' || c == '&') {
      redirect(command);
      continue;
    }
    if (c == '(' && !words.empty() && words.back().ends_with("=")) {
      words.back() += take_array();
      continue;
    }
    const std::size_t begin = at_;
    at_ = end_of_shell_word(text_, at_);
    if (at_ == begin) ++at_;  // a bracket in a strange place
    words.emplace_back(text_.substr(begin, at_ - begin));
  }
  const bool is_quoted_blank = !words.empty() && words.back() == "\\ ";  // a blank behind the backslash: the line ends here
  const bool is_comment = at_ < text_.size() && text_[at_] == '#' && continues_here();
  command.is_cut = !words.empty() && (is_comment || is_quoted_blank) && goes_on_below();
  if (command.is_cut && is_quoted_blank) words.pop_back();
  skip_comment();
  take_documents(command);
  return command;
}

// The line before ends with a backslash, and nothing stands before here.
bool ShellCommandCursor::continues_here() const {
  const std::size_t before = text_.substr(0, at_).find_last_not_of(" \t");
  return before != std::string_view::npos && before > 0 && text_[before] == '\n' && text_[before - 1] == '\\';
}

// Behind the comment, and more of them, options stand.
bool ShellCommandCursor::goes_on_below() const {
  std::size_t at = at_;
  if (at < text_.size() && text_[at] == '\n') at = text_.find_first_not_of(" \t", at + 1);
  while (at < text_.size() && text_[at] == '#') at = text_.find_first_not_of(" \t", std::min(text_.find('\n', at), text_.size() - 1) + 1);
  return at < text_.size() && std::string_view("-$\"").find(text_[at]) != std::string_view::npos;
}

std::string ShellCommandCursor::take_array() {
  const std::size_t begin = at_;
  for (++at_; at_ < text_.size() && text_[at_] != ')';) {
    skip_blank();
    const std::size_t word = at_;
    at_ = end_of_shell_word(text_, at_);
    if (at_ == word && at_ < text_.size() && text_[at_] != ')') ++at_;
  }
  at_ = std::min(at_ + 1, text_.size());
  return std::string(text_.substr(begin, at_ - begin));
}

std::string ShellCommandCursor::take_arithmetic() {
  const std::size_t end = std::min(text_.find("))", at_), text_.size()), begin = std::min(at_ + 2, end);
  at_ = std::min(end + 2, text_.size());
  return std::string(text_.substr(begin, end - begin));
}

std::string ShellCommandCursor::take_function_name() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_function_character(text_[at_])) ++at_;
  std::string name(text_.substr(begin, at_ - begin));
  skip_spaces();
  if (text_.substr(at_).starts_with("()")) at_ += 2;
  return name;
}

bool ShellCommandCursor::is_definition() const {
  std::size_t at = at_;
  while (at < text_.size() && is_function_character(text_[at])) ++at;
  if (at == at_) return false;
  while (at < text_.size() && text_[at] == ' ') ++at;
  return text_.substr(at).starts_with("()");
}

std::optional<std::vector<std::string>> ShellCommandCursor::take_test(std::string_view close) {
  std::vector<std::string> raw;
  const bool is_of_a_line = close == "]";  // [[ may go on below
  const auto skip = [&] { is_of_a_line ? skip_spaces() : skip_blank(); };
  for (skip(); at_ < text_.size(); skip()) {
    if (is_of_a_line && (text_[at_] == '\n' || text_[at_] == ';')) return std::nullopt;
    const std::size_t begin = at_;
    at_ = end_of_shell_word(text_, at_);
    if (at_ == begin) at_ += text_.substr(at_, 2) == "&&" || text_.substr(at_, 2) == "||" ? 2 : 1;
    raw.emplace_back(text_.substr(begin, at_ - begin));
    if (raw.back() == close) break;
  }
  if (!raw.empty()) raw.pop_back();
  return raw;
}

std::vector<std::string> ShellCommandCursor::take_line() {
  std::vector<std::string> raw;
  for (skip_spaces(); at_ < text_.size() && text_[at_] != '\n' && text_[at_] != ';'; skip_spaces()) {
    const std::size_t begin = at_;
    at_ = std::max(end_of_shell_word(text_, at_), at_ + 1);
    raw.emplace_back(text_.substr(begin, at_ - begin));
  }
  return raw;
}

void ShellCommandCursor::redirect(RawCommand& command) {
  std::vector<std::string>& words = command.words;
  if (!words.empty() && words.back().size() == 1 && std::isdigit(static_cast<unsigned char>(words.back()[0])) != 0 &&
      text_[at_ - 1] == words.back()[0])
    words.pop_back();  // the 2 of 2>&1
  const bool is_document = text_.substr(at_).starts_with("<<") && !text_.substr(at_).starts_with("<<<");
  const bool is_output = text_[at_] == '>';
  while (at_ < text_.size() && std::string_view("<>&-|").find(text_[at_]) != std::string_view::npos) ++at_;
  skip_spaces();
  if (text_.substr(at_).starts_with("(")) return static_cast<void>(take_array());  // <(command)
  const std::string word = take_word();
  if (is_document) ends_.push_back(word);
  if (is_output) command.target = word;
}

void ShellCommandCursor::skip_redirections() {
  skip_spaces();
  RawCommand none;
  while (at_ < text_.size() && (text_[at_] == '<' || text_[at_] == '>' || text_.substr(at_).starts_with("&>")))
    redirect(none), skip_spaces();
}

void ShellCommandCursor::take_documents(RawCommand& command) {
  for (const std::string& word : std::exchange(ends_, {})) {
    std::string end = word;
    std::erase_if(end, [](char c) { return c == '"' || c == '\'' || c == '\\'; });
    const std::size_t line = text_.find('\n', at_);
    if (text_.substr(at_, 1) == "|" && text_.substr(at_, 2) != "||")
      for (const std::string_view reader : words_of_list(text_.substr(at_ + 1, std::min(line, text_.size()) - at_ - 1)))
        command.piped.emplace_back(reader);
    std::string body;
    std::size_t at = line == std::string_view::npos ? text_.size() : line + 1;
    while (at < text_.size()) {
      const std::size_t close = std::min(text_.find('\n', at), text_.size());
      std::string_view row = text_.substr(at, close - at);
      at = std::min(close + 1, text_.size());
      while (!row.empty() && row.front() == '\t') row.remove_prefix(1);
      if (row == end) break;
      body += std::string(row) + "\n";
    }
    command.documents.emplace_back(word, std::move(body));
    at_ = at > 0 && text_[at - 1] == '\n' ? at - 1 : at;
  }
}

std::size_t place_of_script(const std::vector<std::string>& words, const std::function<bool(const std::string& word)>& is_written) {
  constexpr std::string_view kStarting[] = {"bash", "sh", "zsh", "exec", "sbatch", "srun", "nohup", "time", "sudo"};
  if (words[0] == "source" || words[0] == ".") return 1;
  std::size_t at = 0;
  while (at < words.size() && (words[at].starts_with("-") || std::ranges::find(kStarting, words[at]) != std::end(kStarting))) ++at;
  for (std::size_t later = at; words[0] == "sbatch" && later < words.size(); ++later)
    if (is_written(words[later]) || words[later].ends_with(".sh")) return later;
  return at;
}

// `sbatch <<EOF`, `ssh host bash -s <<EOF`, `srun -N 2 bash <<EOF`: the document is what is started.
bool takes_a_script(const std::vector<std::string>& raw) {
  constexpr std::string_view kTaking[] = {"sbatch", "bash", "sh", "ssh", "qsub", "bsub"}, kShells[] = {"bash", "sh", "zsh"};
  const auto is_file = [](const std::string& word) { return word.ends_with(".sh") || word.ends_with(".py"); };
  if (std::ranges::any_of(raw, is_file)) return false;
  const auto is_set_before = [](const std::string& word) { return assignment_in(word) != std::string::npos; };
  const auto first = std::ranges::find_if_not(raw, is_set_before);
  if (first == raw.end() || std::ranges::find(kTaking, *first) != std::end(kTaking)) return first != raw.end();
  const auto last = std::find_if(raw.rbegin(), raw.rend(), [](const std::string& word) { return !word.starts_with("-"); });
  return last != raw.rend() && std::ranges::find(kShells, last->substr(last->rfind('/') + 1)) != std::end(kShells);
}

std::vector<std::string_view> words_of_list(std::string_view inner) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < inner.size();) {
    if (std::isspace(static_cast<unsigned char>(inner[at])) != 0) {
      ++at;
    } else if (inner[at] == '#') {
      at = std::min(inner.find('\n', at), inner.size());
    } else if (inner.substr(at).starts_with("\\\n")) {
      at += 2;
    } else {
      const std::size_t end = std::max(end_of_shell_word(inner, at), at + 1);
      words.push_back(inner.substr(at, end - at));
      at = end;
    }
  }
  return words;
}

bool fits_a_pattern(const std::string& subject, std::string patterns) {
  std::erase_if(patterns, [](char c) { return c == '(' || c == ' ' || c == '"' || c == '\'' || c == '\n'; });
  for (std::size_t begin = 0; begin <= patterns.size();) {
    const std::size_t bar = std::min(patterns.find('|', begin), patterns.size());
    if (fnmatch(patterns.substr(begin, bar - begin).c_str(), subject.c_str(), 0) == 0) return true;
    begin = bar + 1;
  }
  return false;
}

std::size_t assignment_in(const std::string& raw) {  // where its = stands; npos: it is none
  std::size_t at = 0;
  while (at < raw.size() && is_name_character(raw[at])) ++at;
  if (at == 0 || std::isdigit(static_cast<unsigned char>(raw[0])) != 0) return std::string::npos;
  if (at < raw.size() && raw[at] == '+') ++at;
  return at < raw.size() && raw[at] == '=' ? at : std::string::npos;
}

std::set<std::string> assigned_names(const std::vector<std::string>& variables) {
  std::set<std::string> names;
  for (const std::string& one : variables) {
    const std::size_t equals = assignment_in(one);
    names.insert(one.substr(0, equals == std::string::npos ? equals : equals - (one[equals - 1] == '+' ? 1 : 0)));
  }
  return names;
}

bool declares_variables(const std::vector<std::string>& raw) {
  constexpr std::string_view kDeclaring[] = {"export", "declare", "local", "readonly", "typeset"};
  return !raw.empty() && std::ranges::find(kDeclaring, raw[0]) != std::end(kDeclaring);
}

std::vector<std::string> names_that_are_read(const std::vector<std::string>& words) {
  const bool prints = words.size() > 2 && words[0] == "printf" && words[1] == "-v";
  if (prints) return {words[2]};
  std::vector<std::string> names;
  const bool is_list = words[0] == "mapfile" || words[0] == "readarray";
  if (words[0] != "read" && !is_list) return names;
  const std::string_view with_value = is_list ? "-d -n -O -s -u -C -c" : "-d -n -N -p -t -u -i";
  for (std::size_t at = 1; at < words.size(); ++at)
    if (!words[at].starts_with("-") && !has_name(with_value, words[at - 1]) && std::ranges::all_of(words[at], is_name_character))
      names.push_back(words[at]);
  return names;
}

std::size_t letters_in(const std::vector<std::string>& values) {
  std::size_t size = 0;
  for (const std::string& value : values) size += value.size();
  return size;
}

const std::string* written(const Texts& documents, const std::string& path) {
  const auto plain = [](const std::string& name) { return name.starts_with("./") ? name.substr(2) : name; };
  const auto found = std::ranges::find_if(documents, [&](const auto& one) { return plain(one.first) == plain(path); });
  return found == documents.end() ? nullptr : &found->second;
}

bool starts_nothing(const std::string& name) {
  constexpr std::string_view kTalking[] = {"echo", "printf", "exit", "return", "unset", "read", "mapfile", "readarray"};
  return std::ranges::find(kTalking, name) != std::end(kTalking);
}

std::vector<std::string> added_to(std::vector<std::string> now, std::vector<std::string> values, bool adds, bool is_list) {
  if (!adds || is_list || now.empty())
    now.insert(now.end(), values.begin(), values.end());
  else
    now.front() += values.empty() ? "" : values.front();
  return now;
}

// NUM=$(count them): what a command prints is asked for by the name of the variable.
std::string named_output(const std::string& name, const std::string& value) {
  const std::vector<std::string> open = unknowns_in(value);
  const bool is_output = open.size() == 1 && value == unknown_value(open.front()) && std::string_view("$`").find(open.front()[0]) < 2;
  return is_output ? unknown_value(name) : value;
}

// CMD="nsys profile $CMD": the options that were there stay.
bool wraps(const std::vector<std::string>& values, const std::vector<std::string>& before) {
  return values.size() == 1 && before.size() == 1 && before.front().find(" --") != std::string::npos &&
         values.front().find(before.front()) != std::string::npos;
}

bool ends_well(const std::vector<std::string>& words) { return words[0] == "exit" && (words.size() == 1 || words[1] == "0"); }

bool takes_next(const std::string& word) { return word.starts_with("--") && word.find('=') == std::string::npos; }

bool is_test(const std::string& word) {
  return word == "[" || word == "[[" || word == "(" || word == "test" || word == "!" || word == "true" || word == "false" ||
         word == "getopts";
}

bool holds_a_command(const std::string& word) {
  const auto holds = [&](std::string_view part) { return word.find(part) != std::string::npos; };
  return word.find_first_of(" \n\t") != std::string::npos && !word.starts_with("--") && (holds(" --") || holds(".py "));
}

}  // namespace sim
