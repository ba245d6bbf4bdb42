// Performs the opcodes of a pickle on a stack, as far as they are data (docs.python.org/3/library/pickletools). Declared in pickle.h.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "gui/import/pickle.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace gui {

class PickleReader {
 public:
  PickleReader(Pickle& into, const std::string& path, Progress& progress)
      : pickle_(into), bytes_(into.bytes_), path_(path), progress_(progress) {
    add({});  // none()
  }

  void run() {
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

 private:
  using Value = Pickle::Value;

  [[noreturn]] void refuse(const std::string& problem) const {
    throw sim::InputError(
        path_, {{fmt::format("byte {}", at_), problem, "write it again: torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")"}});
  }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) refuse("ends in the middle: it was cut, or is still being written");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::uint64_t number(std::size_t bytes) {  // little endian
    const std::string_view text = take(bytes);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
    return value;
  }

  std::uint32_t add(const Value& value) {
    constexpr std::size_t kMost = 0xfffffff0;
    if (pickle_.values_.size() >= kMost) refuse("holds more values than can be numbered");
    pickle_.values_.push_back(value);
    return static_cast<std::uint32_t>(pickle_.values_.size() - 1);
  }
  void push(const Value& value) { stack_.push_back(add(value)); }
  std::uint32_t pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) refuse("is no valid pickle: it takes what was never put");
    const std::uint32_t id = stack_.back();
    stack_.pop_back();
    return id;
  }
  std::uint32_t top() const {
    if (stack_.empty()) refuse("is no valid pickle: it takes what was never put");
    return stack_.back();
  }
  std::vector<std::uint32_t> popToMark() {
    if (marks_.empty()) refuse("is no valid pickle: a mark is missing");
    std::vector<std::uint32_t> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }

  void text(std::uint64_t length) {
    constexpr std::uint64_t kMost = 0xffffffff;
    const std::size_t begin = at_;
    take(length);
    if (length > kMost) refuse("holds a text of more than 4 GiB");
    push({static_cast<std::int64_t>(begin), static_cast<std::uint32_t>(length), PickleKind::Text});
  }
  void integer(std::int64_t value) { push({value, 0, PickleKind::Integer}); }
  void container(PickleKind kind, std::vector<std::uint32_t> items = {}) {
    pickle_.children_.push_back(std::move(items));
    push({static_cast<std::int64_t>(pickle_.children_.size() - 1), 0, kind});
  }
  void tuple(std::size_t count) {
    std::vector<std::uint32_t> items(count);
    for (std::size_t i = count; i > 0; --i) items[i - 1] = pop();
    container(PickleKind::List, std::move(items));
  }
  void extend(PickleKind kind, const std::vector<std::uint32_t>& items) {
    const Value& into = pickle_.values_[top()];
    if (into.kind != kind || (kind == PickleKind::Dictionary && items.size() % 2 != 0))
      refuse("is no valid pickle: items without their list");
    std::vector<std::uint32_t>& all = sim::at(pickle_.children_, into.number);
    all.insert(all.end(), items.begin(), items.end());
  }
  void setItem() {
    const std::uint32_t value = pop(), key = pop();
    extend(PickleKind::Dictionary, {key, value});
  }
  // Beyond 8 bytes only the lowest are kept: addresses of unusual allocators.
  void longInteger(std::uint64_t bytes) {
    const std::string_view digits = take(bytes);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(8, digits.size()); ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(digits[i])) << (8 * i);
    const bool negative = !digits.empty() && (digits.back() & 0x80) != 0;
    if (negative && digits.size() < 8) value |= ~std::uint64_t{0} << (8 * digits.size());
    integer(static_cast<std::int64_t>(value));
  }
  void real() {
    std::uint64_t bits = 0;
    for (const char byte : take(8)) bits = bits << 8 | static_cast<unsigned char>(byte);
    const double value = std::bit_cast<double>(bits);
    push({std::isfinite(value) && std::abs(value) < 9e18 ? static_cast<std::int64_t>(value) : 0, 0, PickleKind::Real});
  }
  void remember(std::uint64_t place) {
    if (place > bytes_.size()) refuse("is no valid pickle: it remembers more than it holds");
    if (place >= memo_.size()) memo_.resize(place + 1);
    memo_[place] = top();
    memoized_ = std::max(memoized_, place + 1);
  }
  void recall(std::uint64_t place) {
    if (place >= memo_.size()) refuse("is no valid pickle: it recalls what it never saw");
    stack_.push_back(memo_[place]);
  }

  void perform(unsigned char opcode) {
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
  void performValue(unsigned char opcode) {
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
  void performContainer(unsigned char opcode) {
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

  Pickle& pickle_;
  std::string_view bytes_;
  const std::string& path_;
  Progress& progress_;
  std::size_t at_ = 0, steps_ = 0;
  std::uint64_t memoized_ = 0;
  bool done_ = false;
  std::vector<std::uint32_t> stack_, memo_;
  std::vector<std::size_t> marks_;
};

Pickle::Pickle(std::string_view bytes, const std::string& path, Progress& progress) : bytes_(bytes) {
  PickleReader(*this, path, progress).run();
}

}  // namespace gui
