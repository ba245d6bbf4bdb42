#include "executor/training/hugging_face.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(HuggingFaceConfig, IsReadAsItWasWritten) {
  const ScratchFolder folder;
  save_model_config(tiny_plan().model, folder.file("config.json"));
  EXPECT_EQ(sim::load_model_config(folder.file("config.json")), tiny_plan().model);
}

}  // namespace
}  // namespace executor
