// Fields of one block of a row; whatever is null gets its fallback and is noted.
#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "sim/units/json_fwd.h"
#include "sim/validation/published_row.h"

namespace sim {

class JsonReader;

class FieldReader {
 public:
  FieldReader(const JsonReader& reader, std::string block, std::vector<Assumption>& assumed)
      : reader_(reader), block_(std::move(block)), assumed_(assumed) {}

  bool has(const std::string& key) const;
  std::int64_t size(const std::string& key, std::int64_t fallback, bool noted = true) const;  // a positive whole number
  bool flag(const std::string& key, bool fallback) const;
  double number(const std::string& key, double fallback) const;
  std::string text(const std::string& key, const std::string& fallback) const;
  std::size_t choice(const std::string& key, std::span<const std::string_view> names, std::size_t fallback) const;
  std::int64_t required(const std::string& key) const;
  const JsonReader& reader() const { return reader_; }

 private:
  void note(const std::string& key, std::string value) const { assumed_.push_back({block_ + "." + key, std::move(value)}); }

  const JsonReader& reader_;
  std::string block_;
  std::vector<Assumption>& assumed_;
};

}  // namespace sim
