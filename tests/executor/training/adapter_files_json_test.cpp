#include "executor/training/adapter_files.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

using testing::HasSubstr;

TEST(AdapterConfigs, OtherAdaptersAreNamed) {
  const ScratchFolder folder;
  sim::save_text_file(R"({"peft_type": "LORA", "r": 2, "lora_alpha": 3.5, "use_dora": true, "bias": "all"})",
                      folder.file("adapter_config.json"));
  EXPECT_THAT([&] { load_adapter_config(folder.file("adapter_config.json")); },
              testing::ThrowsMessage<sim::InputError>(testing::AllOf(HasSubstr("lora_alpha"), HasSubstr("use_dora"), HasSubstr("bias"))));
  EXPECT_TRUE(is_adapter_folder(folder.file("")));
  sim::save_text_file(R"({"r": 2})", folder.file("adapter_config.json"));
  EXPECT_THAT([&] { base_of_adapters(folder.file("")); }, testing::ThrowsMessage<sim::InputError>(HasSubstr("names no weights")));
}

}  // namespace
}  // namespace executor
