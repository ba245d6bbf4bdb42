// Reads Protocol Buffers' wire format back, by its rules and not by our writer: for the tests of what is written.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sim::testing {

struct ProtobufValue {
  std::uint64_t number = 0;  // varint, or 64 bits
  std::string_view text{};   // of what has a length: a text or a message
};
using ProtobufFields = std::multimap<std::uint32_t, ProtobufValue>;

inline ProtobufFields protobuf_fields(std::string_view bytes) {
  std::size_t at = 0;
  const auto need = [&](std::size_t count) {
    if (count > bytes.size() - at) throw std::runtime_error("cut");
  };
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      need(1);
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  ProtobufFields fields;
  while (at < bytes.size()) {
    const std::uint64_t tag = varint();
    ProtobufValue value;
    if ((tag & 7) == 0) {
      value.number = varint();
    } else if ((tag & 7) == 1) {
      need(8);
      std::memcpy(&value.number, bytes.data() + at, 8);
      at += 8;
    } else if ((tag & 7) == 2) {
      const std::uint64_t length = varint();
      need(length);
      value.text = bytes.substr(at, length);
      at += length;
    } else {
      throw std::runtime_error("a wire type that is not written");
    }
    fields.emplace(static_cast<std::uint32_t>(tag >> 3), value);
  }
  return fields;
}

inline ProtobufValue field(const ProtobufFields& fields, std::uint32_t number) {
  const auto found = fields.find(number);
  return found == fields.end() ? ProtobufValue() : found->second;
}

// The packets of a Perfetto trace.
inline std::vector<ProtobufFields> perfetto_packets(std::string_view bytes) {
  std::vector<ProtobufFields> packets;
  for (const auto& [number, packet] : protobuf_fields(bytes)) packets.push_back(protobuf_fields(packet.text));
  return packets;
}

}  // namespace sim::testing
