// Text <-> JSON documents. Declared in json_reader.h.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr int kDeepest = 200;  // levels; parser and destructor recurse, so deeper text is refused before either runs

bool nests_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// The parser's sentence, short and printable whatever bytes the file holds: "line 3, column 7: unexpected end of input".
std::string why_not_json(const std::string& message) {
  constexpr std::size_t kLongest = 200;
  const std::size_t tag = message.find("] ");
  std::string text = tag == std::string::npos ? message : message.substr(tag + 2);
  for (const std::string_view prefix : {"parse error at ", "parse error: "})
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  if (text.size() > kLongest) text = text.substr(0, kLongest) + " ...";
  return text;
}

// Told by the parser as it goes; a later value would silently replace the earlier one.
template <class Document>
class KeysOnce {
 public:
  using Event = typename Document::parse_event_t;
  bool operator()(int, Event event, const Document& parsed) {
    switch (event) {
      case Event::object_start: open_.emplace_back(); break;
      case Event::object_end: open_.pop_back(); break;
      case Event::key:
        if (const auto& key = parsed.template get_ref<const std::string&>(); !open_.back().insert(key).second && twice_.empty())
          twice_ = key;
        break;
      default: break;
    }
    return true;
  }
  const std::string& twice() const { return twice_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string twice_;
};

template <class Document>
Document parsed(std::string_view text, const std::string& name) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  if (std::all_of(text.begin(), text.end(), is_space)) throw InputError(name, {{"", "is empty", "check that it was written completely"}});
  if (nests_too_deep(text))
    throw InputError(name, {{"", fmt::format("nests deeper than {} levels", kDeepest), "check that this is the right file"}});
  try {
    KeysOnce<Document> keys;
    Document document = Document::parse(text.begin(), text.end(), std::ref(keys));
    if (!keys.twice().empty())
      throw InputError(name, {{"", fmt::format("has the key \"{}\" twice in one object", keys.twice()), "keep one of them"}});
    return document;
  } catch (const Json::exception& error) {
    throw InputError(name, {{"", fmt::format("is not JSON: {}", why_not_json(error.what())), "check that it was written completely"}});
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name) { return parsed<Json>(text, name); }
nlohmann::json parse_sorted_json(std::string_view text, const std::string& name) { return parsed<nlohmann::json>(text, name); }

Json load_json_file(const std::string& path) { return parse_json(load_text_file(path), path); }

// Names of files that stand in it may hold any bytes.
void save_json_file(const Json& document, const std::string& path) {
  save_text_file(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", path);
}

}  // namespace sim
