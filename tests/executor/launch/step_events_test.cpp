#include "executor/launch/step_events.h"

#include <gtest/gtest.h>

namespace executor {
namespace {

// CRC32C of RFC 3720, appendix B.4, masked as the framing says: turned right by 15 bits, and 0xa282ead8 more.
std::uint32_t masked(std::uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8U; }

TEST(StepEvents, ChecksumsAreThoseOfTheStandard) {
  EXPECT_EQ(masked_crc32c(std::string(32, '\0')), masked(0x8a9136aaU));
  EXPECT_EQ(masked_crc32c(std::string(32, '\xff')), masked(0x62a8ab43U));
  EXPECT_EQ(masked_crc32c("123456789"), masked(0xe3069283U));
}

std::size_t records(const std::string& bytes) {
  std::size_t found = 0;
  for (std::size_t at = 0; at < bytes.size(); ++found) {
    std::uint64_t length = 0;
    for (int byte = 7; byte >= 0; --byte) length = length << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(byte)]);
    at += 8 + 4 + length + 4;
    EXPECT_LE(at, bytes.size());
  }
  return found;
}

TEST(StepEvents, AFileSaysItsVersionAndWhereItGoesOn) {
  EXPECT_EQ(records(first_events({0}, {1})), 1u);
  EXPECT_EQ(records(first_events({4}, {1})), 2u);
  EXPECT_NE(first_events({0}, {1}).find("brain.Event:2"), std::string::npos);
}

TEST(StepEvents, AStepIsOneRecordOfItsNumbers) {
  StepFigures figures;
  figures.steps = {3};
  figures.summary.loss = 2.5;
  const std::string on_cpu = step_event(figures, {1});
  EXPECT_EQ(records(on_cpu), 1u);
  EXPECT_NE(on_cpu.find("tokens_per_second"), std::string::npos);
  EXPECT_EQ(on_cpu.find("memory_device_bytes"), std::string::npos);
  figures.memory.device_total = sim::Bytes(80);
  EXPECT_NE(step_event(figures, {1}).find("memory_device_bytes"), std::string::npos);
}

}  // namespace
}  // namespace executor
