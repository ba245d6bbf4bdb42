#include "sim/cluster/unread_numbers_json.h"

#include <span>
#include <string>

namespace sim {
namespace {

struct UnreadNumber {
  const char* block;  // "": the profile itself
  const char* key;
  bool (*is_unread)(const Json& profile);
  const char* why;
};

bool holds(const Json& profile, const char* block, const char* key) {
  const Json& at = *block == '\0' ? profile : profile.contains(block) ? profile[block] : Json();
  return at.is_object() && at.contains(key) && !at[key].is_null();
}

bool has_no_fp8(const Json& profile) { return describes_kernels(profile) && !holds(profile, "kernels", "fp8_peak"); }
bool has_no_fp4(const Json& profile) { return describes_kernels(profile) && !holds(profile, "kernels", "fp4_peak"); }
bool is_of_no_framework(const Json& profile) { return !profile.contains("frameworks") || profile["frameworks"].empty(); }

constexpr UnreadNumber kOfHardware[] = {
    {"", "matrix_efficiency", describes_kernels, "prices nothing beside block kernels, whose matrix_share does"},
    {"", "attention_efficiency", describes_kernels, "prices nothing beside block kernels, whose flash2_share and the like do"},
    {"inter_node", "latency", describes_kernels, "prices nothing beside block kernels, whose collective_start does"},
    {"inter_node", "bandwidth", describes_kernels, "prices nothing beside block kernels, whose network_share of peak_bandwidth does"},
    {"kernels", "fp8_share", has_no_fp8, "prices nothing without fp8_peak"},
    {"fitted", "fp8_share", has_no_fp8, "prices nothing without fp8_peak"},
    {"kernels", "fp4_share", has_no_fp4, "prices nothing without fp4_peak"}};

constexpr UnreadNumber kOfSoftware[] = {
    {"", "from_year", is_of_no_framework, "chooses nothing without frameworks"},
    {"", "reduce_bytes", is_of_no_framework, "says nothing without frameworks, by which published runs find their program"},
    {"", "images_per_worker", is_of_no_framework, "says nothing without frameworks, by which published runs find their program"}};

void refuse(const JsonReader& profile, std::span<const UnreadNumber> numbers) {
  for (const UnreadNumber& number : numbers)
    if (holds(profile.json(), number.block, number.key) && number.is_unread(profile.json()))
      (*number.block == '\0' ? profile : profile.child(number.block)).violate(number.key, number.why, "remove it");
}

// Bytes of an element that a gradient has in 16 or 32 bits.
void must_be_two_or_four(const JsonReader& profile, const char* key) {
  if (!profile.has(key) || !profile.json()[key].is_number()) return;
  const auto bytes = profile.json()[key].get<double>();
  if (bytes != 2 && bytes != 4)
    profile.violate(key, "is " + profile.json()[key].dump() + ", expected 2 or 4", "give the bytes of an element");
}

}  // namespace

bool describes_kernels(const Json& hardware) {
  const bool has_points = hardware.contains("measured") && hardware["measured"].is_array() && !hardware["measured"].empty();
  return hardware.contains("kernels") && hardware["kernels"].is_object() && !has_points;
}

void refuse_unread_hardware(const JsonReader& profile) { refuse(profile, kOfHardware); }

void refuse_unread_software(const JsonReader& profile) {
  refuse(profile, kOfSoftware);
  for (const char* key : {"reduce_bytes", "accumulate_bytes"}) must_be_two_or_four(profile, key);
}

void erase_unread_hardware(Json& profile) {
  for (const UnreadNumber& number : kOfHardware)
    if (holds(profile, number.block, number.key) && number.is_unread(profile))
      (*number.block == '\0' ? profile : profile[number.block]).erase(number.key);
}

}  // namespace sim
