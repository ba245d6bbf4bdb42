// Assignments of a Python recipe (`config.parallelism.tensor_parallel_degree = 4`, `ParallelismConfig(tensor_parallel_degree=4)`) or of a TOML file.
// Nothing is evaluated: a value is a literal, or the name that stands there; a name that the text sets to one literal is that one.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "sim/recipe/settings.h"

namespace sim {
namespace {

bool is_path_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

class AssignmentScanner {
 public:
  AssignmentScanner(std::string_view text, const std::string& file, const KnownKey& is_known)
      : text_(text), file_(file), is_known_(is_known) {}

  RecipeSettings all() && {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (c == '"' || c == '\'')
        read_text();
      else if (c == '[' && begins_line())
        read_section();
      else if (is_path_character(c))
        read_name();
      else
        ++at_;
    }
    return with_names_filled_in();
  }

 private:
  using Literals = std::map<std::string, std::set<std::string>>;
  // What names are set to; what a parameter is without an argument counts where nothing else does.
  Literals literals() const {
    Literals all, usual;
    for (const Assignment& one : assignments_)
      if (!one.is_name) (one.is_parameter ? usual : all)[one.setting.key].insert(one.setting.value);
    all.insert(usual.begin(), usual.end());
    return all;
  }
  // `gbs: int = 8` and `global_batch_size=gbs`. A name with two values stays: nobody knows which is meant. One that stands for a value elsewhere,
  // and that the program does not know, says no more.
  RecipeSettings with_names_filled_in() {
    const Literals all = literals();
    std::set<std::string> used;
    RecipeSettings settings;
    for (Assignment& one : assignments_) {
      auto found = one.is_name ? all.find(one.setting.value) : all.end();
      if (one.is_name && found == all.end() && leaf_of(one.setting.value) == leaf_of(one.setting.key))
        found = all.find(leaf_of(one.setting.key));  // max_steps=trainer.max_steps, and max_steps=100 elsewhere
      settings.push_back(std::move(one.setting));
      if (found == all.end() || found->second.size() != 1) continue;
      used.insert(found->first);
      settings.back().value = *found->second.begin();
    }
    if (is_known_) std::erase_if(settings, [&](const RecipeSetting& one) { return used.contains(one.key) && !is_known_(one.key); });
    return settings;
  }
  std::string read_path() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_path_character(text_[at_]) || is_sign(begin))) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  // Of a number, or of its exponent.
  bool is_sign(std::size_t begin) const {
    if (text_[at_] != '-' && text_[at_] != '+') return false;
    const bool is_number = at_ > begin && (std::isdigit(static_cast<unsigned char>(text_[begin])) != 0 || text_[begin] == '-');
    return at_ == begin || (is_number && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'));
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool begins_line() const {
    std::size_t before = at_;
    while (before > 0 && (text_[before - 1] == ' ' || text_[before - 1] == '\t')) --before;
    return before == 0 || text_[before - 1] == '\n';
  }
  // TOML: `[training]`, alone on its line. What follows is of it.
  void read_section() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_ + 1, end - at_ - 1);
    line = line.substr(0, line.find('#'));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    const bool is_header =
        line.ends_with("]") && std::all_of(line.begin(), line.end() - 1, [](char c) { return is_path_character(c) || c == '-'; });
    if (is_header) section_ = std::string(line.substr(0, line.size() - 1)) + ".", of_section_.clear();
    at_ = is_header ? end : at_ + 1;
  }
  std::string read_text() {
    const char quote = text_[at_];
    const bool triple = text_.substr(at_, 3) == std::string(3, quote);
    const std::size_t begin = at_ + (triple ? 3 : 1);
    const std::size_t end = std::min(text_.find(triple ? std::string(3, quote) : std::string(1, quote), begin), text_.size());
    at_ = std::min(end + (triple ? 3 : 1), text_.size());
    return std::string(text_.substr(std::min(begin, end), end - std::min(begin, end)));
  }
  std::string read_list() {
    const std::size_t begin = at_;
    for (int depth = 0; at_ < text_.size();) {
      const char c = text_[at_++];
      depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
      if (depth == 0) break;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }
  // `[0] * 3 + [1] * 58`, as it stands.
  std::string read_lists() {
    std::string text = read_list();
    for (skip_spaces(); at_ + 1 < text_.size() && (text_[at_] == '*' || text_[at_] == '+'); skip_spaces()) {
      text += text_[at_++];
      skip_spaces();
      text += text_[at_] == '[' ? read_list() : read_path();
    }
    return text;
  }
  std::string read_value() {
    skip_spaces();
    const char c = at_ < text_.size() ? text_[at_] : '\n';
    if (c == '"' || c == '\'') return read_text();
    if (c == '[' || c == '(') return read_lists();
    const std::string word = read_path();
    is_bare_ = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) == 0 && word.find_first_of("+-") == std::string::npos &&
               word != "True" && word != "False" && word != "None" && word != "true" && word != "false" && word != "nan" && word != "inf";
    return word == "True" ? "true" : word == "False" ? "false" : word;
  }
  // `name: int = 8` at the beginning of a line, or among the parameters of a function.
  void skip_annotation(std::size_t begin, const std::string& name) {
    is_parameter_ = false;
    if (at_ >= text_.size() || text_[at_] != ':' || name == "else" || name == "try" || name == "finally") return;
    std::size_t before = begin;
    while (before > 0 && (text_[before - 1] == ' ' || text_[before - 1] == '\t')) --before;
    if (before > 0 && std::string_view("\n(,").find(text_[before - 1]) == std::string_view::npos) return;
    const std::size_t colon = at_++;
    skip_spaces();
    while (at_ < text_.size() && (is_path_character(text_[at_]) || std::string_view("[]|").find(text_[at_]) != std::string_view::npos))
      ++at_;
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != '=') at_ = colon;
    is_parameter_ = at_ != colon && is_in_parameters(before);
  }
  bool is_in_parameters(std::size_t before) const {  // behind a bracket or a comma, also one that ends the line above
    while (before > 0 && std::isspace(static_cast<unsigned char>(text_[before - 1])) != 0) --before;
    return before > 0 && (text_[before - 1] == '(' || text_[before - 1] == ',');
  }
  void read_name() {
    const std::size_t begin = at_;
    const std::string name = read_path();
    skip_spaces();
    skip_annotation(begin, name);
    if (at_ >= text_.size() || text_[at_] != '=' || text_.substr(at_, 2) == "==") return;
    ++at_;
    is_bare_ = false;
    std::string value = read_value();
    if (!section_.empty() && !of_section_.insert(name).second)
      throw InputError(file_, {{section_ + name, "stands twice in one section: its program refuses it", "leave the one that is meant"}});
    assignments_.push_back({{section_ + name, std::move(value)}, is_bare_, is_parameter_});
    if (assignments_.size() > kMostSettings) throw InputError(file_, {{"", "has more than 10000 assignments", "give one recipe"}});
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::string section_;
  std::set<std::string> of_section_;  // names that stood in it
  const KnownKey& is_known_;
  bool is_bare_ = false;       // the value that was read last is a name
  bool is_parameter_ = false;  // of a function, what was named last
  struct Assignment {
    RecipeSetting setting;
    bool is_name, is_parameter;  // its value; of a function
  };
  std::vector<Assignment> assignments_;
};

}  // namespace

RecipeSettings read_assignments(std::string_view text, const std::string& file, const KnownKey& is_known) {
  return AssignmentScanner(text, file, is_known).all();
}

}  // namespace sim
