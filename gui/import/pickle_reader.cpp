#include "gui/import/pickle_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/units/input_error.h"

namespace gui {

void PickleReader::run() {
  if (bytes_.size() < 2 || bytes_[0] != '\x80') refuse("is no pickle of protocol 2 or later");
  progress_.all = static_cast<std::int64_t>(bytes_.size());
  while (!done_) {
    constexpr std::size_t kOften = (1 << 20) - 1;
    if ((++steps_ & kOften) == 0) {
      progress_.done = static_cast<std::int64_t>(at_);
      progress_.stopIfCancelled();
    }
    perform(static_cast<unsigned char>(take(1)[0]));
  }
  pickle_.root_ = {pop()};
}

void PickleReader::refuse(const std::string& problem) const {
  throw sim::InputError(
      path_, {{fmt::format("byte {}", at_), problem, "write it again: torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")"}});
}

// Beyond 8 bytes only the lowest are kept: addresses of unusual allocators.
void PickleReader::longInteger(std::uint64_t bytes) {
  const std::string_view digits = take(bytes);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(8, digits.size()); ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(digits[i])) << (8 * i);
  const bool negative = !digits.empty() && (digits.back() & 0x80) != 0;
  if (negative && digits.size() < 8) value |= ~std::uint64_t{0} << (8 * digits.size());
  integer(static_cast<std::int64_t>(value));
}

void PickleReader::real() {
  std::uint64_t bits = 0;
  for (const char byte : take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
  const double value = std::bit_cast<double>(bits);
  push({std::isfinite(value) && std::abs(value) < 9e18 ? static_cast<std::int64_t>(value) : 0, 0, PickleKind::Real});
}

void PickleReader::perform(unsigned char opcode) {
  switch (opcode) {
    case 0x80: take(1); return;                            // PROTO
    case 0x95: take(8); return;                            // FRAME
    case '.': done_ = true; return;                        // STOP
    case '(': marks_.push_back(stack_.size()); return;     // MARK
    case '0': pop(); return;                               // POP
    case '1': popToMark(); return;                         // POP_MARK
    case '2': stack_.push_back(top()); return;             // DUP
    case 'N': stack_.push_back(0); return;                 // NONE
    case 0x88: push({1, 0, PickleKind::Boolean}); return;  // NEWTRUE
    case 0x89: push({0, 0, PickleKind::Boolean}); return;  // NEWFALSE
    default: return performValue(opcode);
  }
}
void PickleReader::performValue(unsigned char opcode) {
  switch (opcode) {
    case 'J': return integer(static_cast<std::int32_t>(number(4)));  // BININT
    case 'K': return integer(static_cast<std::int64_t>(number(1)));  // BININT1
    case 'M': return integer(static_cast<std::int64_t>(number(2)));  // BININT2
    case 0x8a: return longInteger(number(1));                        // LONG1
    case 0x8b: return longInteger(number(4));                        // LONG4
    case 'G': return real();                                         // BINFLOAT
    case 0x8c:
    case 'U':
    case 'C': return text(number(1));  // SHORT_BINUNICODE, SHORT_BINSTRING, SHORT_BINBYTES
    case 'X':
    case 'T':
    case 'B': return text(number(4));  // BINUNICODE, BINSTRING, BINBYTES
    case 0x8d:
    case 0x8e: return text(number(8));  // BINUNICODE8, BINBYTES8
    default: return performContainer(opcode);
  }
}
void PickleReader::performContainer(unsigned char opcode) {
  switch (opcode) {
    case '}': return container(PickleKind::Dictionary);
    case ']':
    case ')': return container(PickleKind::List);
    case 't':
    case 'l': return container(PickleKind::List, popToMark());
    case 'd': return container(PickleKind::Dictionary, popToMark());
    case 0x85:
    case 0x86:
    case 0x87: return tuple(opcode - 0x84u);
    case 'a': {
      const std::uint32_t item = pop();
      return extend(PickleKind::List, {item});
    }
    case 'e': {
      const std::vector<std::uint32_t> items = popToMark();
      return extend(PickleKind::List, items);
    }
    case 's': return setItem();
    case 'u': {
      const std::vector<std::uint32_t> items = popToMark();
      return extend(PickleKind::Dictionary, items);
    }
    case 0x94: return remember(memoized_);
    case 'q': return remember(number(1));
    case 'r': return remember(number(4));
    case 'h': return recall(number(1));
    case 'j': return recall(number(4));
    default: refuse(fmt::format("holds something other than data (opcode 0x{:02x}); it is not run", opcode));
  }
}

}  // namespace gui
