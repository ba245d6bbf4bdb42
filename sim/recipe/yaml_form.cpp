// YAML through yaml-cpp, whose headers only this file sees. Values stay the text that they are in the file.
#include <yaml-cpp/yaml.h>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "sim/recipe/yaml_form.h"

namespace sim {
namespace {

constexpr std::size_t kMostListed = 10 * kMostSettings;
constexpr std::size_t kMostDocuments = 1'000;
constexpr int kDeepestYaml = 16;  // an alias may name what it stands in

class YamlReader {
 public:
  explicit YamlReader(const std::string& file) : file_(file) {}

  void take(const std::string& prefix, const YAML::Node& node, int depth) {
    if (depth > kDeepestYaml) refuse("nests deeper than 16 levels");
    if (settings.size() > kMostSettings) refuse("has more than 10000 settings");
    if (node.IsMap())
      for (const auto& [key, below] : entries_of(node, depth)) take(prefix.empty() ? key : prefix + "." + key, below, depth + 1);
    else if (node.IsScalar())
      settings.push_back({prefix, node.Scalar()});
    else if (node.IsSequence())
      settings.push_back({prefix, list_of(node, depth)});
  }
  [[noreturn]] void refuse(const std::string& problem) const {
    throw InputError(file_, {{"", problem, "give a configuration of names and values"}});
  }

  std::string key_of(const YAML::Node& node) const {
    if (!node.IsScalar()) refuse("has a name that is no text");
    return node.Scalar();
  }

  // Of a map, in the order of the file: what `<<` merges stands where the map itself has no such key.
  using Entries = std::vector<std::pair<std::string, YAML::Node>>;
  Entries entries_of(const YAML::Node& map, int depth) const {
    Entries entries, merged;
    std::map<std::string, int> lines;
    for (const auto& entry : map) {
      const std::string key = key_of(entry.first);
      const int line = entry.first.Mark().line + 1;
      if (const auto [before, is_new] = lines.emplace(key, line); !is_new) refuse_second(key, before->second, line);
      if (key == "<<")
        merged = merged_entries(entry.second, depth + 1);
      else
        entries.emplace_back(key, entry.second);
    }
    for (auto& one : merged)
      if (lines.emplace(one.first, 0).second) entries.push_back(std::move(one));
    return entries;
  }

  RecipeSettings settings;

 private:
  [[noreturn]] void refuse_second(const std::string& key, int before, int line) const {
    throw InputError(
        file_, {{key, fmt::format("stands twice in one map, in lines {} and {}: its program takes the last, or refuses it", before, line),
                 "leave the one that is meant"}});
  }
  // `<<: *base`, `<<: [*first, *second]`, where the first counts.
  Entries merged_entries(const YAML::Node& node, int depth) const {
    if (depth > kDeepestYaml) refuse("nests deeper than 16 levels");
    Entries all;
    if (node.IsMap()) return entries_of(node, depth);
    for (const YAML::Node& item : node)
      if (item.IsMap())
        for (auto& one : entries_of(item, depth)) all.push_back(std::move(one));
    return all;
  }
  std::string list_of(const YAML::Node& node, int depth) {
    std::string text = "[";
    for (const YAML::Node& item : node) text += (text.size() > 1 ? ", " : "") + item_of(item, depth);
    return text + "]";
  }
  std::string item_of(const YAML::Node& item, int depth) {
    if (++listed_ > kMostListed) refuse("has more than 100000 items in lists");  // aliases multiply
    if (item.IsScalar()) return item.Scalar();
    if (depth >= kDeepestYaml || item.IsNull()) return "...";
    return item.IsSequence() ? list_of(item, depth + 1) : names_of(item, depth + 1);
  }
  // Names within a list: of data, callbacks and their likes, where few look.
  std::string names_of(const YAML::Node& node, int depth) {
    std::string text = "{";
    for (const auto& [key, below] : entries_of(node, depth)) text += (text.size() > 1 ? ", " : "") + key + ": " + item_of(below, depth);
    return text + "}";
  }

  const std::string& file_;
  std::size_t listed_ = 0;
};

YamlTree tree_of(const YAML::Node& node, const YamlReader& reader, int depth) {
  if (depth > kDeepestYaml) reader.refuse("nests deeper than 16 levels");
  YamlTree tree;
  if (node.IsScalar()) tree.text = node.Scalar();
  if (node.IsSequence())
    for (const YAML::Node& item : node) tree.items.push_back(tree_of(item, reader, depth + 1));
  if (node.IsMap())
    for (const auto& [key, below] : reader.entries_of(node, depth)) tree.entries.push_back({key, tree_of(below, reader, depth + 1)});
  return tree;
}

// ${.name} stands beside the setting, ${..name} a level above; ${section.name} where it says. "": of another kind.
std::string name_meant(const std::string& reference, std::string key) {
  const bool is_name = std::ranges::all_of(reference, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  if (!is_name || reference.empty()) return "";
  std::size_t dots = 0;
  while (dots < reference.size() && reference[dots] == '.') ++dots;
  if (dots == 0) return reference;
  for (std::size_t level = 0; level < dots; ++level) key.resize(key.rfind('.') == std::string::npos ? 0 : key.rfind('.'));
  return key + (key.empty() ? "" : ".") + reference.substr(dots);
}

// ${multiply:4, 512} and ${divide:512, 4}, which NeMo registers. "": another, or no whole numbers.
std::string counted_value(std::string_view formula) {
  const std::size_t colon = formula.find(':'), comma = formula.find(',');
  if (colon == std::string_view::npos || comma == std::string_view::npos || comma < colon) return "";
  const std::string_view operation = formula.substr(0, colon);
  constexpr long long kLargest = 1'000'000'000;
  const auto number = [](std::string text) -> long long {
    std::erase(text, ' ');
    const bool is_whole =
        !text.empty() && text.size() <= 10 && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
    return is_whole ? std::stoll(text) : -1;
  };
  const long long left = number(std::string(formula.substr(colon + 1, comma - colon - 1))),
                  right = number(std::string(formula.substr(comma + 1)));
  if (left < 0 || right < 0 || left > kLargest || right > kLargest) return "";
  if (operation == "multiply") return std::to_string(left * right);
  return operation == "divide" && right > 0 && left % right == 0 ? std::to_string(left / right) : "";
}

// The last one begins inside the others: ${multiply:4, ${.hidden_size}}.
void fill_references_of(RecipeSetting& setting, const std::map<std::string, std::string>& values) {
  constexpr std::size_t kLongest = 4'096;
  for (std::size_t at = setting.value.rfind("${"); at != std::string::npos && setting.value.size() < kLongest;
       at = at == 0 ? std::string::npos : setting.value.rfind("${", at - 1)) {
    const std::size_t end = setting.value.find('}', at);
    if (end == std::string::npos) continue;
    const std::string inner = setting.value.substr(at + 2, end - at - 2);
    const auto found = values.find(name_meant(inner, setting.key));
    const std::string value = found == values.end() ? counted_value(inner) : found->second;
    if (!value.empty() && value.find("${") == std::string::npos) setting.value.replace(at, end - at + 1, value);
  }
}

template <class Read>
auto with_place_of_error(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const YAML::Exception& error) {
    throw InputError(file, {{"", fmt::format("is no YAML: line {}: {}", error.mark.line + 1, error.msg), "correct it there"}});
  }
}

// A line of --- begins a document and one of ... ends it, whatever stands there: YAML::LoadAll may go round on a broken one for ever. Those that hold nothing
// are left out; lines keep their numbers.
std::vector<std::string> documents_of(const std::string& text) {
  const auto marks = [](const std::string& line, std::string_view mark) {
    return line.starts_with(mark) && (line.size() == mark.size() || std::isspace(static_cast<unsigned char>(line[mark.size()])) != 0);
  };
  std::vector<std::string> documents;
  std::string document;
  std::size_t number = 0;
  bool holds = false;
  const auto end = [&](std::size_t next_line) {
    if (holds) documents.push_back(std::move(document));
    document.assign(next_line, '\n');
    holds = false;
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); ++number) {
    if (marks(line, "---")) end(number);
    const std::size_t first = line.find_first_not_of(" \t\r", marks(line, "---") ? 3 : 0);
    holds = holds || (first != std::string::npos && line[first] != '#' && line[first] != '%' && !marks(line, "..."));
    if (holds || marks(line, "---")) document += line;
    document += '\n';
    if (marks(line, "...")) end(number + 1);
  }
  end(number);
  return documents;
}

std::string yaml_scalar(const std::string& value) {
  if (is_literal(value)) return value;
  std::string quoted = "'";
  for (const char c : value) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string yaml_text(const RecipeHead& head, const RecipeSettings& settings) {
  std::string text = comment_lines(head), before;
  for (const RecipeSetting& setting : settings) {
    std::string indent;
    std::size_t begin = 0;
    for (std::size_t dot = setting.key.find('.'); dot != std::string::npos; dot = setting.key.find('.', begin)) {
      const std::string section = setting.key.substr(0, dot + 1);
      if (!before.starts_with(section)) text += indent + setting.key.substr(begin, dot - begin) + ":\n";
      indent += "  ";
      begin = dot + 1;
    }
    text += indent + setting.key.substr(begin) + ": " + yaml_scalar(setting.value) + "\n";
    before = setting.key;
  }
  return text;
}

void fill_references(RecipeSettings& settings) {
  std::map<std::string, std::string> values;
  for (const RecipeSetting& setting : settings) values[setting.key] = setting.value;
  for (int pass = 0; pass < 2; ++pass)  // one that stands further down may be a name itself
    for (RecipeSetting& setting : settings) {
      fill_references_of(setting, values);
      values[setting.key] = setting.value;
    }
}

const YamlTree* YamlTree::find(std::string_view name) const {
  const auto found = std::ranges::find_if(entries, [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &found->value;
}

std::vector<YamlTree> yaml_trees(const std::string& text, const std::string& file) {
  return with_place_of_error(file, [&] {
    std::vector<YamlTree> trees;
    const std::vector<std::string> documents = documents_of(text);
    if (documents.size() > kMostDocuments) YamlReader(file).refuse(fmt::format("holds more than {} documents", kMostDocuments));
    for (const std::string& one : documents) trees.push_back(tree_of(YAML::Load(one), YamlReader(file), 0));
    return trees;
  });
}

RecipeSettings read_yaml_as_it_stands(const std::string& text, const std::string& file) {
  return with_place_of_error(file, [&] {
    YamlReader reader(file);
    const std::vector<std::string> documents = documents_of(text);
    if (documents.size() > 1) reader.refuse(fmt::format("holds {} documents, between lines of ---", documents.size()));
    const YAML::Node root = documents.empty() ? YAML::Node() : YAML::Load(documents.front());
    if (!root.IsMap()) reader.refuse("is no YAML of names and values");
    reader.take("", root, 0);
    return std::move(reader.settings);
  });
}

RecipeSettings read_yaml(const std::string& text, const std::string& file) {
  RecipeSettings settings = read_yaml_as_it_stands(text, file);
  fill_references(settings);
  return settings;
}

bool begins_as_yaml(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty() || line[0] == '#' || line.starts_with("---")) continue;
    std::size_t end = 0;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) != 0 ||
                                 std::string_view("_.-$\"'").find(line[end]) != std::string_view::npos))
      ++end;
    const bool is_named = end > 0 && end < line.size() && line[end] == ':';
    return is_named && (end + 1 == line.size() || std::isspace(static_cast<unsigned char>(line[end + 1])) != 0);
  }
  return false;
}

}  // namespace sim
