// What a pickle may hold, and what it is refused for.
#include <gmock/gmock.h>

#include "gui/import/pickle.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

using namespace std::string_literals;

std::string refusalOf(const std::string& bytes) {
  Progress progress;
  try {
    const Pickle pickle(bytes, "a.pickle", progress);
  } catch (const sim::InputError& error) {
    return error.what();
  }
  return {};
}

// os.system, as an attacker writes it: by name, by STACK_GLOBAL, with REDUCE.
TEST(PickleReader, RunsNothing) {
  for (const std::string& bytes : {"\x80\x02"
                                   "cos\nsystem\n(X\x02\0\0\0idtR."s,
                                   "\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02id\x85R."s, "\x80\x02]R."s, "\x80\x02}b."s})
    EXPECT_THAT(refusalOf(bytes), testing::HasSubstr("it is not run"));
}

TEST(PickleReader, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(refusalOf("PK\x03\x04"s), testing::HasSubstr("no pickle"));
  EXPECT_THAT(refusalOf("\x80\x02X\xff\xff\xff\xff"s), testing::HasSubstr("cut, or is still being written"));
  EXPECT_THAT(refusalOf("\x80\x02N"s), testing::HasSubstr("byte 3"));
  EXPECT_THAT(refusalOf("\x80\x02h\x05."s), testing::HasSubstr("recalls what it never saw"));
  EXPECT_THAT(refusalOf("\x80\x02NNe."s), testing::HasSubstr("a mark is missing"));
  EXPECT_THAT(refusalOf("\x80\x02.q"s), testing::HasSubstr("takes what was never put"));
}

}  // namespace
}  // namespace gui
