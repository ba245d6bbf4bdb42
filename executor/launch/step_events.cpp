#include "executor/launch/step_events.h"

#include <array>

#include "sim/timeline/protobuf.h"

namespace executor {
namespace {

// Numbers of tensorflow/core/util/event.proto and framework/summary.proto.
constexpr sim::ProtobufField kWallTime{1}, kStep{2}, kFileVersion{3}, kSummary{5}, kSessionLog{7};
constexpr sim::ProtobufField kSessionStatus{1}, kSummaryValue{1}, kTag{1}, kSimpleValue{2};
constexpr std::uint64_t kSessionStart = 1;

// Castagnoli's polynomial, its bits turned round.
constexpr std::array<std::uint32_t, 256> kCrcOfByte = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0x82f63b78U : 0U);
    table[byte] = rest;
  }
  return table;
}();

template <class Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (std::size_t byte = 0; byte < sizeof(Number); ++byte) bytes += static_cast<char>(number >> (8 * byte) & 0xff);
  return bytes;
}

std::string record(const sim::ProtobufMessage& message) {
  const std::string length = little_endian(static_cast<std::uint64_t>(message.bytes().size()));
  return length + little_endian(masked_crc32c(length)) + std::string(message.bytes()) + little_endian(masked_crc32c(message.bytes()));
}

void add_value(sim::ProtobufMessage& summary, std::string_view tag, double number) {
  sim::ProtobufMessage value;
  value.text(kTag, tag);
  value.single(kSimpleValue, static_cast<float>(number));
  summary.message(kSummaryValue, value);
}

double bytes_of(sim::Bytes bytes) { return static_cast<double>(bytes.value()); }

}  // namespace

std::uint32_t masked_crc32c(std::string_view data) {
  constexpr std::uint32_t kMaskDelta = 0xa282ead8;
  std::uint32_t crc = ~0U;
  for (const char c : data) crc = kCrcOfByte[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ (crc >> 8);
  crc = ~crc;
  return (crc >> 15 | crc << 17) + kMaskDelta;
}

std::string first_events(CompletedSteps resumed, WallTime now) {
  sim::ProtobufMessage version, session, start;
  version.real(kWallTime, now.seconds);
  version.text(kFileVersion, "brain.Event:2");
  if (resumed.value == 0) return record(version);
  session.number(kSessionStatus, kSessionStart);
  start.real(kWallTime, now.seconds);
  start.number(kStep, static_cast<std::uint64_t>(resumed.value + 1));
  start.message(kSessionLog, session);
  return record(version) + record(start);
}

std::string step_event(const StepFigures& figures, WallTime now) {
  const DeviceMemory& memory = figures.memory;
  sim::ProtobufMessage event, summary;
  add_value(summary, "loss", figures.summary.loss);
  add_value(summary, "grad_norm", figures.summary.gradient_norm);
  add_value(summary, "lr", figures.learning_rate);
  add_value(summary, "tokens_per_second", figures.tokens_per_second);
  add_value(summary, "step_time_seconds", sim::to_seconds(figures.time).count());
  add_value(summary, "memory_allocated_bytes", bytes_of(memory.allocated_peak));
  if (memory.device_total.value() != 0) {
    add_value(summary, "memory_active_bytes", bytes_of(memory.active_peak));
    add_value(summary, "memory_reserved_bytes", bytes_of(memory.reserved_peak));
    add_value(summary, "memory_device_bytes", bytes_of(memory.device_used));
  }
  if (figures.summary.loss_scale != 1) add_value(summary, "loss_scale", figures.summary.loss_scale);
  event.real(kWallTime, now.seconds);
  event.number(kStep, static_cast<std::uint64_t>(figures.steps.value));
  event.message(kSummary, summary);
  return record(event);
}

}  // namespace executor
