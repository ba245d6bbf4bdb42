#include "sim/cluster/read_lspci.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

MachineFacts facts_of(const std::vector<std::string>& lines) {
  MachineFacts facts;
  read_lspci(facts, lines);
  return facts;
}

TEST(ReadLspci, AnAcceleratorIsACardOfNvidiaOrAmdThatIsNoBridge) {
  const MachineFacts facts = facts_of({"07:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)",
                                       "08:00.0 Bridge: NVIDIA Corporation Device 22a3 (rev a1)",
                                       "62:00.0 VGA compatible controller: ASPEED Technology, Inc. ASPEED Graphics Family (rev 41)"});
  EXPECT_THAT(facts.devices, Optional(1));
  EXPECT_THAT(facts.device_names, ElementsAre("H100 SXM5 80GB"));
  EXPECT_THAT(facts.adapters, Eq(std::nullopt));
  EXPECT_THAT(
      facts_of({"63:00.0 Processing accelerators: Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [Instinct MI300X]"}).device_names,
      ElementsAre("Instinct MI300X"));
}

TEST(ReadLspci, WhatItsOptionsAddIsLeftOut) {
  const MachineFacts facts = facts_of({"0000:07:00.0 3D controller [0302]: NVIDIA Corporation GA100 [A100 SXM4 80GB] [10de:20b2] (rev a1)",
                                       "\tSubsystem: NVIDIA Corporation Device 1463", "\tKernel driver in use: nvidia"});
  EXPECT_THAT(facts.devices, Optional(1));
  EXPECT_THAT(facts.device_names, ElementsAre("A100 SXM4 80GB"));
  EXPECT_THAT(facts_of({"07:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)"}).device_names,
              ElementsAre("NVIDIA Corporation Device 2330"));
}

TEST(ReadLspci, AGuestSeesVirtualFunctionsOnly) {
  const std::string port = "a1:00.0 Infiniband controller: Mellanox Technologies MT28908 Family [ConnectX-6]";
  const std::string function = "a1:00.1 Infiniband controller: Mellanox Technologies MT28908 Family [ConnectX-6 Virtual Function]";
  EXPECT_THAT(facts_of({port, function, function}).adapters, Optional(1));
  EXPECT_THAT(facts_of({function, function}).adapters, Optional(2));
}

TEST(ReadLspci, IsKnownByItsLines) {
  EXPECT_TRUE(is_lspci({"pcilib: a warning", "07:00.0 Bridge: NVIDIA Corporation Device 22a3"}));
  EXPECT_FALSE(is_lspci({"12:00:00 INFO: not one"}));
  EXPECT_FALSE(is_lspci({"07:00.0 " + std::string(1 << 20, ' ')}));
}

}  // namespace
}  // namespace sim
