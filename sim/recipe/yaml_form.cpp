// YAML through yaml-cpp, whose headers only this file sees. Values stay the text that they are in the file.
#include <yaml-cpp/yaml.h>

#include <fmt/format.h>

#include "sim/recipe/settings.h"

namespace sim {
namespace {

constexpr int kDeepestYaml = 16;  // an alias may name what it stands in

class YamlReader {
 public:
  explicit YamlReader(const std::string& file) : file_(file) {}

  void take(const std::string& prefix, const YAML::Node& node, int depth) {
    if (depth > kDeepestYaml) refuse("nests deeper than 16 levels");
    if (settings.size() > kMostSettings) refuse("has more than 10000 settings");
    if (node.IsMap())
      for (const auto& entry : node)
        take(prefix.empty() ? key_of(entry.first) : prefix + "." + key_of(entry.first), entry.second, depth + 1);
    else if (node.IsScalar())
      settings.push_back({prefix, node.Scalar()});
    else if (node.IsSequence())
      settings.push_back({prefix, list_of(node)});
  }
  [[noreturn]] void refuse(const std::string& problem) const {
    throw InputError(file_, {{"", problem, "give a configuration of names and values"}});
  }

  RecipeSettings settings;

 private:
  std::string key_of(const YAML::Node& node) const {
    if (!node.IsScalar()) refuse("has a name that is no text");
    return node.Scalar();
  }
  std::string list_of(const YAML::Node& node) const {
    std::string text = "[";
    for (const YAML::Node& item : node) text += (text.size() > 1 ? ", " : "") + (item.IsScalar() ? item.Scalar() : std::string("..."));
    return text + "]";
  }

  const std::string& file_;
};

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

RecipeSettings read_yaml(const std::string& text, const std::string& file) {
  YamlReader reader(file);
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) reader.refuse("is no YAML of names and values");
    reader.take("", root, 0);
  } catch (const YAML::Exception& error) {
    throw InputError(file, {{"", fmt::format("is no YAML: line {}: {}", error.mark.line + 1, error.msg), "correct it there"}});
  }
  return std::move(reader.settings);
}

}  // namespace sim
