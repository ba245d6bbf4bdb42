// Fields of rows; see field_reader.h.
#include "sim/units/json_reader.h"
#include "sim/validation/field_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kSize = {1, 1e12};

}  // namespace

bool FieldReader::has(const std::string& key) const { return reader_.has(key); }

std::int64_t FieldReader::required(const std::string& key) const { return reader_.integer(key, {}, kSize); }

std::int64_t FieldReader::size(const std::string& key, std::int64_t fallback, bool noted) const {
  if (!has(key) && noted) note(key, std::to_string(fallback));
  return reader_.integer(key, fallback, kSize);
}

bool FieldReader::flag(const std::string& key, bool fallback) const {
  if (!has(key)) note(key, fallback ? "true" : "false");
  return reader_.boolean(key, fallback);
}

double FieldReader::number(const std::string& key, double fallback) const {
  if (!has(key)) note(key, fmt::format("{}", fallback));
  return reader_.number(key, fallback, {0, 1e9});
}

std::string FieldReader::text(const std::string& key, const std::string& fallback) const {
  if (!has(key)) note(key, fallback);
  return reader_.text(key, fallback);
}

std::size_t FieldReader::choice(const std::string& key, std::span<const std::string_view> names, std::size_t fallback) const {
  if (!has(key)) note(key, std::string(names[fallback]));
  return reader_.choice(key, names, fallback);
}

}  // namespace sim
