#include "executor/training/hugging_face.h"
#include "sim/units/text_file.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(HuggingFaceConfig, IsReadAsItWasWritten) {
  const ScratchFolder folder;
  save_model_config(tiny_plan().model, folder.file("config.json"));
  EXPECT_EQ(sim::load_model_config(folder.file("config.json")), tiny_plan().model);
}

TEST(HuggingFaceConfig, AnExportedOneSaysClassAndType) {
  const ScratchFolder folder;
  save_exported_config(tiny_plan().model, c10::kFloat, folder.file("config.json"));
  const std::string text = sim::load_text_file(folder.file("config.json"));
  EXPECT_THAT(text, testing::HasSubstr("GPT2LMHeadModel"));
  EXPECT_THAT(text, testing::HasSubstr("\"dtype\": \"float32\""));
  EXPECT_EQ(sim::load_model_config(folder.file("config.json")), tiny_plan().model);
}

}  // namespace
}  // namespace executor
