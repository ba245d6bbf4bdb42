#include "sim/timeline/pickle_writer.h"

namespace sim {

void PickleWriter::little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  file_.write(text);
}

void PickleWriter::number(std::int64_t value) {
  if (value == static_cast<std::int32_t>(value)) {
    file_.write("J");
    return little_endian(static_cast<std::uint64_t>(value), 4);
  }
  file_.write("\x8a\x08");  // LONG1, eight bytes
  little_endian(static_cast<std::uint64_t>(value), 8);
}

void PickleWriter::text(std::string_view text) {
  if (const auto known = texts_.find(text); known != texts_.end()) return again(known->second);
  file_.write("X");
  little_endian(text.size(), 4);
  file_.write(text);
  texts_.emplace(text, remember());
}

PickleMemo PickleWriter::remember() {
  file_.write("r");
  little_endian(memos_, 4);
  return {memos_++};
}

void PickleWriter::again(PickleMemo memo) {
  if (memo.number < 256) {
    file_.write("h");
    return little_endian(memo.number, 1);
  }
  file_.write("j");
  little_endian(memo.number, 4);
}

}  // namespace sim
