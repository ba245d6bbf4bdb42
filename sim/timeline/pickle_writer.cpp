#include "sim/timeline/pickle_writer.h"

namespace sim {

template <int kBytes>
void PickleWriter::little_endian(std::uint64_t value) {
  std::string text;
  for (int i = 0; i < kBytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  file_.write(text);
}

void PickleWriter::number(std::int64_t value) {
  if (value == static_cast<std::int32_t>(value)) {
    file_.write("J");
    return little_endian<4>(static_cast<std::uint64_t>(value));
  }
  file_.write("\x8a\x08");  // LONG1, eight bytes
  little_endian<8>(static_cast<std::uint64_t>(value));
}

void PickleWriter::text(std::string_view text) {
  if (const auto known = texts_.find(text); known != texts_.end()) return again(known->second);
  file_.write("X");
  little_endian<4>(text.size());
  file_.write(text);
  texts_.emplace(text, remember());
}

PickleMemo PickleWriter::remember() {
  file_.write("r");
  little_endian<4>(memos_);
  return {memos_++};
}

void PickleWriter::again(PickleMemo memo) {
  if (memo.number < 256) {
    file_.write("h");
    return little_endian<1>(memo.number);
  }
  file_.write("j");
  little_endian<4>(memo.number);
}

}  // namespace sim
