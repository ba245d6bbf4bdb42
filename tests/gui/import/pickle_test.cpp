#include "gui/import/pickle.h"

#include <gmock/gmock.h>

#include <random>

#include "sim/units/input_error.h"

namespace gui {
namespace {

using namespace std::string_literals;

Pickle read(std::string_view bytes) {
  Progress progress;
  return Pickle(bytes, "a.pickle", progress);
}

// {"a": [1, -2, 300, None], "b": (True, "é", 2.5), "c": 1 << 40} as Python 3 writes it, protocol 4.
const std::string kExample =
    "\x80\x04\x95\x35\0\0\0\0\0\0\0}\x94(\x8c\x01"
    "a\x94]\x94(K\x01J\xfe\xff\xff\xffM\x2c\x01Ne\x8c\x01"
    "b\x94\x88\x8c\x02\xc3\xa9\x94G@\x04\0\0\0\0\0\0\x87\x94"
    "\x8c\x01"
    "c\x94\x8a\x06\0\0\0\0\0\x01u."s;

TEST(Pickle, HoldsWhatWasWritten) {
  const Pickle pickle = read(kExample);
  const PickleId list = pickle.member(pickle.root(), "a"), tuple = pickle.member(pickle.root(), "b");
  ASSERT_EQ(pickle.size(list), 4u);
  EXPECT_EQ(pickle.integer(pickle.item(list, 0)), 1);
  EXPECT_EQ(pickle.integer(pickle.item(list, 1)), -2);
  EXPECT_EQ(pickle.integer(pickle.item(list, 2)), 300);
  EXPECT_EQ(pickle.kind(pickle.item(list, 3)), PickleKind::None);
  ASSERT_EQ(pickle.size(tuple), 3u);
  EXPECT_EQ(pickle.integer(pickle.item(tuple, 0)), 1);
  EXPECT_EQ(pickle.text(pickle.item(tuple, 1)), "é");
  EXPECT_EQ(pickle.integer(pickle.item(tuple, 2)), 2);
  EXPECT_EQ(pickle.integer(pickle.member(pickle.root(), "c")), std::int64_t{1} << 40);
  EXPECT_EQ(pickle.kind(pickle.member(pickle.root(), "none")), PickleKind::None);
}

TEST(Pickle, SurvivesEveryCutAndGarbage) {
  for (std::size_t length = 0; length < kExample.size(); ++length)
    EXPECT_THROW(read(std::string_view(kExample).substr(0, length)), sim::InputError) << length;
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = kExample;
    for (int change = 0; change < 3; ++change) bytes[2 + random() % (bytes.size() - 2)] = static_cast<char>(random());
    try {
      const Pickle pickle = read(bytes);
      pickle.size(pickle.member(pickle.root(), "a"));
    } catch (const sim::InputError&) {
    }
  }
}

}  // namespace
}  // namespace gui
