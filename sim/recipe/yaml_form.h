// YAML for whoever changes values before those that name others are filled in, and as a tree.
#pragma once

#include "sim/recipe/settings.h"

namespace sim {

// A document with its lists and maps, for whoever looks for a place in it.
struct YamlEntry;
struct YamlTree {
  std::string text;                // of a scalar; null and what is none: ""
  std::vector<YamlTree> items;     // of a list
  std::vector<YamlEntry> entries;  // of a map, in the order of the file

  const YamlTree* find(std::string_view name) const;  // null: no such entry
};
struct YamlEntry {
  std::string name;
  YamlTree value;
};
std::vector<YamlTree> yaml_trees(const std::string& text, const std::string& file);  // a document each; throws as read_yaml() does

RecipeSettings read_yaml_as_it_stands(const std::string& text, const std::string& file);  // throws as read_yaml() does
void fill_references(RecipeSettings& settings);                                           // ${a.b}, ${.b}, ${multiply:4, ${.b}}

}  // namespace sim
