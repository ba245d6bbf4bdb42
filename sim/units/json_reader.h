// Reads our JSON files field by field, collecting every violation before one InputError is thrown by finish().
// Includes nlohmann/json.hpp (5 s a translation unit): include it in *_json.cpp files only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"
#include "sim/units/json_fwd.h"  // Json is ordered: the same bytes every time
#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"
#include "sim/units/text_file.h"

namespace sim {

// Throws InputError for a file that cannot be read, is no JSON, holds a key twice in one object, or nests deeper than 200 levels.
Json load_json_file(const std::string& path);
Json parse_json(std::string_view text, const std::string& name);
// For objects of very many keys, which an ordered document would search one by one.
nlohmann::json parse_sorted_json(std::string_view text, const std::string& name);
// Written aside, flushed, then renamed: a reader sees the old file or the new one. Throws InputError naming the disk's reason.
void save_json_file(const Json& document, const std::string& path);

// A null is as good as a missing key. Every getter returns its fallback (or a harmless value) where it found a fault, so that
// reading goes on to the next one; nothing read may be used before finish() has passed.

class JsonReader {
 public:
  JsonReader(const Json& value, std::string file);

  bool has(const std::string& key) const;
  std::vector<std::string> keys() const;
  JsonReader child(const std::string& key) const;                  // an object; missing or other type: a violation
  std::vector<JsonReader> children(const std::string& key) const;  // an array, its elements of any type; missing: empty

  struct Range {
    double low;
    double high;
  };
  std::int64_t integer(const std::string& key, std::optional<std::int64_t> fallback = {}, Range range = {0, 1e15}) const;
  double number(const std::string& key, std::optional<double> fallback = {}, Range range = {-1e300, 1e300}) const;
  bool boolean(const std::string& key, std::optional<bool> fallback = {}) const;
  std::string text(const std::string& key, std::optional<std::string> fallback = {}) const;
  // One of `names`; returns its position, so that enums and name tables stay side by side.
  std::size_t choice(const std::string& key, std::span<const std::string_view> names, std::optional<std::size_t> fallback = {}) const;
  // Text with a unit; not negative, and a rate not zero.
  Bytes bytes(const std::string& key, std::optional<Bytes> fallback = {}) const;
  BytesPerSecond bytes_per_second(const std::string& key, std::optional<BytesPerSecond> fallback = {}) const;
  FlopsPerSecond flops_per_second(const std::string& key, std::optional<FlopsPerSecond> fallback = {}) const;
  Watts watts(const std::string& key, std::optional<Watts> fallback = {}) const;
  Seconds seconds(const std::string& key, std::optional<Seconds> fallback = {}) const;
  std::vector<std::int64_t> integers(const std::string& key) const;  // missing: empty

  void violate(const std::string& key, std::string problem, std::string remedy) const;
  // Keys that nothing has asked for, here or in objects inside that were read, as pointers from here: "rope_scaling/kind". A null is no key.
  std::vector<std::string> unasked() const;
  // Of formats that are ours: a key that nothing has asked for, here or in objects inside that were read, is a violation. Call it last.
  void refuse_unknown() const;
  void finish() const;  // throws InputError when anything was violated
  const Json& json() const { return *value_; }

 private:
  JsonReader(const Json& value, std::string pointer, const JsonReader& parent);
  const Json* find(const std::string& key, bool required) const;
  void add(Violation violation) const;

  struct Asked {
    const Json* object;
    std::set<std::string> keys;
  };
  struct Found {  // by a reader and those of the objects inside
    std::vector<Violation> violations;
    std::map<std::string, Asked> asked;  // by pointer
  };

  const Json* value_;
  std::string file_;
  std::string pointer_;
  std::shared_ptr<Found> found_;
};

}  // namespace sim
