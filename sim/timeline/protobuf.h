// Protocol Buffers' wire format, written: the fields of one message, one behind the other (protobuf.dev/programming-guides/encoding).
// Reads nothing and knows no schema: whoever writes names the fields.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace sim {

struct ProtobufField {
  std::uint32_t number = 0;
};

class ProtobufMessage {
 public:
  void number(ProtobufField field, std::uint64_t value) {  // int, enum, bool; negative ones as two's complement
    tag(field, 0);
    varint(value);
  }
  void fixed(ProtobufField field, std::uint64_t value) {
    tag(field, 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift & 0xff);
  }
  void real(ProtobufField field, double value) { fixed(field, std::bit_cast<std::uint64_t>(value)); }
  void single(ProtobufField field, float value) {
    tag(field, 5);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_ += static_cast<char>(bits >> shift & 0xff);
  }
  void text(ProtobufField field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(ProtobufField field, const ProtobufMessage& value) { text(field, value.bytes_); }

  std::string_view bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  void tag(ProtobufField field, std::uint32_t wire_type) { varint(field.number << 3 | wire_type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace sim
