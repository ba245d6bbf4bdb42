#include "sim/timeline/memory_snapshot.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

TEST(MemorySnapshot, NamesTaskLayerAndStage) {
  const testing::TemporaryFolder folder;
  const TaskKey key = testing::compute_key(StageIndex(1), 3, Phase::Recompute);
  write_memory_snapshot(
      {{{Rank(2), StageIndex(1)},
        {{MemoryCategory::Parameters, {}, Bytes(100)}, {MemoryCategory::Activations, key, Bytes(50), testing::us(5), testing::us(9)}}}},
      folder.file("s.pickle"));
  const std::string text = testing::content_of(folder.file("s.pickle"));
  EXPECT_TRUE(text.starts_with("\x80\x02"));
  for (const char* part : {"attention activations", "layer", "microbatch", "backward (recompute)", "training step", "segment_free"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THROW(write_memory_snapshot({}, "/no/such/folder/s"), InputError);
}

}  // namespace
}  // namespace sim
