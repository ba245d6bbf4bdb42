// One list of fields, read and written: a profile says what it holds once, as  field("name", value)  or  field("name", value, range).
#pragma once

#include <string>

#include "sim/units/json_reader.h"
#include "sim/units/unit_text.h"

namespace sim {

inline std::string required_source(const JsonReader& block) {
  std::string source = block.text("source");
  if (source.empty()) block.violate("source", "is empty", "say where these numbers come from");
  return source;
}

class FieldsIn {  // a field that is not there keeps its value
 public:
  explicit FieldsIn(const JsonReader& reader) : reader_(reader) {}
  void operator()(const char* key, bool& value) const { value = reader_.boolean(key, value); }
  void operator()(const char* key, std::string& value) const { value = reader_.text(key, value); }
  void operator()(const char* key, Seconds& value) const { value = reader_.seconds(key, value); }
  void operator()(const char* key, BytesPerSecond& value) const { value = reader_.bytes_per_second(key, value); }
  void operator()(const char* key, FlopsPerSecond& value) const { value = reader_.flops_per_second(key, value); }
  void operator()(const char* key, double& value, JsonReader::Range range) const { value = reader_.number(key, value, range); }
  void operator()(const char* key, std::int32_t& value, JsonReader::Range range) const {
    value = static_cast<std::int32_t>(reader_.integer(key, value, range));
  }

 private:
  const JsonReader& reader_;
};

class FieldsOut {
 public:
  explicit FieldsOut(Json& json) : json_(json) {}
  template <class Value>
  void operator()(const char* key, const Value& value) const {
    if constexpr (requires { to_exact_text(value); })
      add_unit(key, value);
    else
      json_[key] = value;
  }
  template <class Number>
  void operator()(const char* key, const Number& value, JsonReader::Range) const {
    json_[key] = value;
  }

 private:
  template <class Value>
  void add_unit(const char* key, const Value& value) const {
    if (value > Value{}) json_[key] = to_exact_text(value);  // a rate of nothing has no text
  }
  Json& json_;
};

}  // namespace sim
