#include "sim/units/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/units/at.h"
#include "sim/units/near_name.h"
#include "sim/units/unit_text.h"

namespace sim {
namespace {

const Json kAbsent;  // what a reader holds whose fault was told already: it is silent

std::string escaped(const std::string& key) {  // RFC 6901
  std::string text;
  for (const char c : key) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

std::string shown(const Json& value) {
  constexpr std::size_t kLongest = 60;
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + " ...";
}

// Digits of three together, as far as they can be counted at a glance: "1,000,000", "1e+15".
std::string shown(double limit) {
  if (limit != std::trunc(limit) || std::abs(limit) < 10'000 || std::abs(limit) > 1e12) return fmt::format("{}", limit);
  std::string digits = fmt::format("{}", static_cast<std::int64_t>(std::abs(limit)));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return (limit < 0 ? "-" : "") + digits;
}

// "0 to 1,000,000", "1 up": a limit that only keeps arithmetic whole is no help.
std::string shown(JsonReader::Range range) { return shown(range.low) + (range.high < 1e15 ? " to " + shown(range.high) : " up"); }

std::optional<std::int64_t> as_integer(const Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  const bool is_whole = std::abs(number) < 0x1p63 && number == std::trunc(number);
  return is_whole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

// A quantity is text with a unit; `example` shows the form in the remedy.
template <class Quantity>
Quantity quantity(const JsonReader& reader, const Json* found, const std::string& key, std::optional<Quantity> fallback,
                  std::optional<Quantity> (*parse)(std::string_view), std::string_view example, bool may_be_zero) {
  if (found == nullptr) return fallback.value_or(Quantity{});
  const std::string remedy = fmt::format("write it like \"{}\"", example);
  if (found->is_number()) {
    reader.violate(key, fmt::format("is {}: a number needs its unit", shown(*found)), remedy);
  } else if (const auto value = found->is_string() ? parse(found->get_ref<const std::string&>()) : std::nullopt; !value) {
    reader.violate(key, fmt::format("is {}, which is no number with a unit", shown(*found)), remedy);
  } else if (*value < Quantity{}) {
    reader.violate(key, fmt::format("is {}, which is negative", shown(*found)), remedy);
  } else if (*value == Quantity{} && !may_be_zero) {
    reader.violate(key, fmt::format("is {}: a rate of zero never ends", shown(*found)), remedy);
  } else {
    return *value;
  }
  return fallback.value_or(Quantity{});
}

}  // namespace

JsonReader::JsonReader(const Json& value, std::string file) : value_(&value), file_(std::move(file)), found_(std::make_shared<Found>()) {}

JsonReader::JsonReader(const Json& value, std::string pointer, const JsonReader& parent)
    : value_(&value), file_(parent.file_), pointer_(std::move(pointer)), found_(parent.found_) {}

bool JsonReader::has(const std::string& key) const {
  if (!value_->is_object()) return false;
  Asked& asked = found_->asked[pointer_];
  asked.object = value_;
  asked.keys.insert(key);
  const auto found = value_->find(key);
  return found != value_->end() && !found->is_null();
}

std::vector<std::string> JsonReader::keys() const {
  std::vector<std::string> names;
  if (value_->is_object())
    for (const auto& item : value_->items()) {
      names.push_back(item.key());
      has(item.key());
    }
  return names;
}

const Json* JsonReader::find(const std::string& key, bool required) const {
  if (!value_->is_object()) {
    if (value_ != &kAbsent) add({pointer_, fmt::format("is {}, expected an object", shown(*value_)), "write it as { ... }"});
    return nullptr;
  }
  if (has(key)) return &*value_->find(key);
  if (required) violate(key, value_->contains(key) ? "is null" : "is missing", "add it");
  return nullptr;
}

JsonReader JsonReader::child(const std::string& key) const {
  const Json* found = find(key, true);
  if (found != nullptr && !found->is_object()) {
    violate(key, fmt::format("is {}, expected an object", shown(*found)), "write it as { ... }");
    found = nullptr;
  }
  return {found == nullptr ? kAbsent : *found, pointer_ + "/" + escaped(key), *this};
}

std::vector<JsonReader> JsonReader::children(const std::string& key) const {
  std::vector<JsonReader> readers;
  const Json* found = find(key, false);
  if (found == nullptr) return readers;
  if (!found->is_array())
    violate(key, fmt::format("is {}, expected an array", shown(*found)), "write it as [ ... ]");
  else
    for (std::size_t at = 0; at < found->size(); ++at)
      readers.push_back({(*found)[at], fmt::format("{}/{}/{}", pointer_, escaped(key), at), *this});
  return readers;
}

std::int64_t JsonReader::integer(const std::string& key, std::optional<std::int64_t> fallback, Range range) const {
  const Json* found = find(key, !fallback);
  const std::int64_t instead = fallback.value_or(static_cast<std::int64_t>(range.low));
  if (found == nullptr) return instead;
  const auto value = as_integer(*found);
  const bool is_in_range = value && static_cast<double>(*value) >= range.low && static_cast<double>(*value) <= range.high;
  if (is_in_range) return *value;
  violate(key, fmt::format("is {}, expected a whole number from {}", shown(*found), shown(range)), "correct it");
  return instead;
}

double JsonReader::number(const std::string& key, std::optional<double> fallback, Range range) const {
  const Json* found = find(key, !fallback);
  const double instead = fallback.value_or(range.low);
  if (found == nullptr) return instead;
  const double value = found->is_number() ? found->get<double>() : NAN;
  if (std::isfinite(value) && value >= range.low && value <= range.high) return value;
  violate(key, fmt::format("is {}, expected a number from {}", shown(*found), shown(range)), "correct it");
  return instead;
}

bool JsonReader::boolean(const std::string& key, std::optional<bool> fallback) const {
  const Json* found = find(key, !fallback);
  if (found != nullptr && found->is_boolean()) return found->get<bool>();
  if (found != nullptr) violate(key, fmt::format("is {}, expected true or false", shown(*found)), "correct it");
  return fallback.value_or(false);
}

std::string JsonReader::text(const std::string& key, std::optional<std::string> fallback) const {
  const Json* found = find(key, !fallback);
  if (found != nullptr && found->is_string()) return found->get<std::string>();
  if (found != nullptr) violate(key, fmt::format("is {}, expected text", shown(*found)), "put it in quotes");
  return std::move(fallback).value_or("");
}

std::size_t JsonReader::choice(const std::string& key, std::span<const std::string_view> names, std::optional<std::size_t> fallback) const {
  const Json* found = find(key, false);
  if (found == nullptr && !fallback && value_->is_object())
    violate(key, fmt::format("is missing, accepted: {}", fmt::join(names, ", ")), "add it");
  if (found == nullptr) return fallback.value_or(0);
  const auto name = found->is_string() ? std::find(names.begin(), names.end(), found->get_ref<const std::string&>()) : names.end();
  if (name != names.end()) return position_in(names, name);
  violate(key, fmt::format("is {}, accepted: {}", shown(*found), fmt::join(names, ", ")), "choose one of them");
  return fallback.value_or(0);
}

Bytes JsonReader::bytes(const std::string& key, std::optional<Bytes> fallback) const {
  return quantity(*this, find(key, !fallback), key, fallback, parse_bytes, "80 GiB", true);
}

BytesPerSecond JsonReader::bytes_per_second(const std::string& key, std::optional<BytesPerSecond> fallback) const {
  return quantity(*this, find(key, !fallback), key, fallback, parse_bytes_per_second, "450 GB/s", false);
}

FlopsPerSecond JsonReader::flops_per_second(const std::string& key, std::optional<FlopsPerSecond> fallback) const {
  return quantity(*this, find(key, !fallback), key, fallback, parse_flops_per_second, "312 TFLOP/s", false);
}

Watts JsonReader::watts(const std::string& key, std::optional<Watts> fallback) const {
  return quantity(*this, find(key, !fallback), key, fallback, parse_watts, "700 W", false);
}

Seconds JsonReader::seconds(const std::string& key, std::optional<Seconds> fallback) const {
  return quantity(*this, find(key, !fallback), key, fallback, parse_seconds, "4.5 us", true);
}

std::vector<std::int64_t> JsonReader::integers(const std::string& key) const {
  std::vector<std::int64_t> values;
  const Json* found = find(key, false);
  if (found == nullptr) return values;
  const Json single = Json::array();
  for (const Json& item : found->is_array() ? *found : single) {
    const auto value = as_integer(item);
    if (!value) violate(key, fmt::format("holds {}, expected whole numbers", shown(item)), "correct it");
    values.push_back(value.value_or(0));
  }
  if (!found->is_array()) violate(key, fmt::format("is {}, expected an array of whole numbers", shown(*found)), "write it as [ ... ]");
  return values;
}

void JsonReader::violate(const std::string& key, std::string problem, std::string remedy) const {
  add({key.empty() ? pointer_ : pointer_ + "/" + escaped(key), std::move(problem), std::move(remedy)});
}

void JsonReader::add(Violation violation) const {  // the same fault is told once
  for (const Violation& known : found_->violations)
    if (known.where == violation.where && known.problem == violation.problem) return;
  found_->violations.push_back(std::move(violation));
}

void JsonReader::refuse_unknown() const {
  for (const auto& [pointer, asked] : found_->asked) {
    if (pointer != pointer_ && !pointer.starts_with(pointer_ + "/")) continue;
    const std::vector<std::string> known(asked.keys.begin(), asked.keys.end());
    for (const auto& item : asked.object->items())
      if (!asked.keys.contains(item.key()))
        add({pointer + "/" + escaped(item.key()), "is no field that is known here", near_name_remedy(item.key(), known, "remove it")});
  }
}

std::vector<std::string> JsonReader::unasked() const {
  std::vector<std::string> keys;
  for (const auto& [pointer, asked] : found_->asked) {
    if (pointer != pointer_ && !pointer.starts_with(pointer_ + "/")) continue;
    for (const auto& item : asked.object->items())
      if (!asked.keys.contains(item.key()) && !item.value().is_null())
        keys.push_back((pointer + "/" + escaped(item.key())).substr(pointer_.size() + 1));
  }
  return keys;
}

void JsonReader::finish() const {
  if (!found_->violations.empty()) throw InputError(file_, found_->violations);
}

}  // namespace sim
