#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/recipe/settings.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

// What a list of texts holds that a script left open.
std::string with_marks(std::string text) {
  for (const auto& [escaped, mark] : {std::pair<std::string, char>{"\\u0001", kUnknownBegin}, {"\\u0002", kUnknownEnd}})
    for (std::size_t at = text.find(escaped); at != std::string::npos; at = text.find(escaped, at))
      text.replace(at, escaped.size(), 1, mark);
  return text;
}

void flatten_json(const std::string& prefix, const Json& value, RecipeSettings& settings) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) flatten_json(prefix.empty() ? key : prefix + "." + key, inner, settings);
    return;
  }
  settings.push_back({prefix, value.is_string() ? value.get<std::string>() : with_marks(value.dump())});
}

Json& place_of(Json& root, const std::string& key) {
  Json* place = &root;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    place = &(*place)[key.substr(begin, end - begin)];
    begin = end + 1;
  }
  return *place;
}

// As a text of JSON, without its quotes.
std::string escaped(const std::string& text) {
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);  // of a broken file
  return quoted.substr(1, quoted.size() - 2);
}

// Where a value ends that a script left open: a name between its marks, or a formula with some in it; `at`: none stands there.
std::size_t end_of_open(std::string_view text, std::size_t at) {
  if (text[at] == kUnknownBegin) return std::min(text.find(kUnknownEnd, at), text.size() - 1) + 1;
  if (!text.substr(at).starts_with("((")) return at;
  const std::size_t end = std::min(text.find("))", at), text.size());
  return text.substr(at, end - at).find(kUnknownBegin) == std::string_view::npos ? at : std::min(end + 2, text.size());
}

// A value that a script left open becomes a text with its marks, which whoever reads the setting asks for by name.
class OpenValues {
 public:
  OpenValues(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::string as_texts() && {
    while (at_ < text_.size()) step();
    return std::move(known_);
  }

 private:
  void step() {
    if (const std::size_t end = end_of_open(text_, at_); end > at_) return take(end);
    if (text_[at_] == '\\' && at_ + 1 < text_.size())
      known_ += text_[at_++];  // the letter behind it is no quote
    else if (text_[at_] == '"')
      is_text_ = !is_text_;
    known_ += text_[at_++];
  }
  void take(std::size_t end) {
    const std::string open(text_.substr(at_, end - at_));
    if (!is_text_ && !stands_alone(end))
      throw InputError(file_, {{"", fmt::format("depends on {}, which the script alone does not say", shown(open)),
                                "give --set of its variables, or the file as it is written then"}});
    known_ += is_text_ ? escaped(open) : "\"" + escaped(open) + "\"";
    at_ = end;
  }
  bool stands_alone(std::size_t end) const {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t before = known_.find_last_not_of(kBlanks), behind = text_.find_first_not_of(kBlanks, end);
    return before != std::string::npos && std::string_view(":,[").find(known_[before]) != std::string_view::npos &&
           behind != std::string_view::npos && std::string_view(",}]").find(text_[behind]) != std::string_view::npos;
  }

  std::string_view text_;
  const std::string& file_;
  std::string known_;
  std::size_t at_ = 0;
  bool is_text_ = false;
};

}  // namespace

std::string json_text(const RecipeHead& head, const RecipeSettings& settings) {
  Json json;
  json["_meshwright"] = {{"made", head.title}, {"notes", head.remarks}};
  for (const RecipeSetting& setting : settings)
    place_of(json, setting.key) = is_literal(setting.value) ? parse_json(setting.value, setting.key) : Json(setting.value);
  return json.dump(2) + "\n";
}

RecipeSettings read_json(std::string_view text, const std::string& file) {
  const bool has_open = text.find(kUnknownBegin) != std::string_view::npos;
  const Json json = parse_json(has_open ? OpenValues(text, file).as_texts() : std::string(text), file);
  if (!json.is_object()) throw InputError(file, {{"", "is no JSON object", "give a configuration as {\"key\": value}"}});
  RecipeSettings settings;
  for (const auto& [key, value] : json.items())
    if (key != "_meshwright") flatten_json(key, value, settings);
  if (settings.size() > kMostSettings) throw InputError(file, {{"", "has more than 10000 settings", "give one configuration"}});
  return settings;
}

}  // namespace sim
