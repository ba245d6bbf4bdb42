#include "executor/training/safetensors.h"

#include <ATen/ops/arange.h>

#include "sim/units/input_error.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<NamedTensor> two_tensors() {
  return {{.name = "a", .values = at::arange(6, at::kDouble).view({2, 3})}, {.name = "b", .values = at::arange(5, at::kFloat)}};
}

TEST(Safetensors, WritesAndReads) {
  const ScratchFolder folder;
  write_safetensors(folder.file("x.safetensors"), two_tensors());
  const SafetensorsFile file(folder.file("x.safetensors"));
  EXPECT_TRUE(at::equal(file.tensor("a"), two_tensors()[0].values));
  EXPECT_TRUE(at::equal(file.tensor("b"), two_tensors()[1].values));
  EXPECT_FALSE(file.has("c"));
  EXPECT_GE(safetensors_bytes(two_tensors()), static_cast<std::int64_t>(std::filesystem::file_size(folder.file("x.safetensors"))));
}

TEST(Safetensors, RefusesTruncatedAndLyingFiles) {
  const ScratchFolder folder;
  const std::string path = folder.file("x.safetensors");
  write_safetensors(path, two_tensors());
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 1);
  EXPECT_THAT([&] { SafetensorsFile{path}; }, ThrowsMessage<sim::InputError>(HasSubstr("truncated: tensor b")));
  std::filesystem::resize_file(path, 20);
  EXPECT_THAT([&] { SafetensorsFile{path}; }, ThrowsMessage<sim::InputError>(HasSubstr("its header takes")));
  std::filesystem::resize_file(path, 0);
  EXPECT_THAT([&] { SafetensorsFile{path}; }, ThrowsMessage<sim::InputError>(HasSubstr("is no safetensors file")));
}

TEST(Safetensors, NamesTheDisksReason) {
  EXPECT_THAT([] { write_safetensors("/dev/full", two_tensors()); }, ThrowsMessage<sim::InputError>(HasSubstr("No space left")));
  EXPECT_THAT([] { write_safetensors("/no/such/folder/x", two_tensors()); }, ThrowsMessage<sim::InputError>(HasSubstr("No such file")));
}

}  // namespace
}  // namespace executor
