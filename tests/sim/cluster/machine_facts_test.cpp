#include "sim/cluster/machine_facts.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace sim {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Optional;

MachineFacts of(const std::string& file) { return read_machine_facts("tests/sim/cluster/machines/" + file); }

TEST(MachineFacts, TopoNamesDevicesLinksAndAdapters) {
  const MachineFacts facts = of("topo.txt");
  EXPECT_THAT(facts.devices, Optional(4));
  EXPECT_THAT(facts.adapters, Optional(2));
  EXPECT_THAT(facts.nvlinks, Optional(12));
  EXPECT_EQ(facts.nvlinks, facts.most_nvlinks);
  EXPECT_THAT(facts.ways, ElementsAre("NV12"));
}

TEST(MachineFacts, TopologyOfNcclAddsUpTheLinksOfADevice) {
  const MachineFacts facts = of("nccl.xml");
  EXPECT_THAT(facts.devices, Optional(4));
  EXPECT_THAT(facts.nvlinks, Optional(12));
  EXPECT_THAT(facts.adapters, Optional(2));
  EXPECT_THAT(facts.adapter_speed->value(), DoubleEq(25e9));
}

TEST(MachineFacts, TheLargestMessageIsTheBus) {
  const MachineFacts facts = of("all_reduce_perf.txt");
  ASSERT_TRUE(facts.measured);
  EXPECT_DOUBLE_EQ(facts.measured->bandwidth.value(), 214.46e9);
  EXPECT_EQ(facts.measured->ranks, 4);
  EXPECT_EQ(facts.measured->hosts, 1);
  EXPECT_THAT(facts.device_names, ElementsAre("NVIDIA A100-SXM4-80GB"));
}

TEST(MachineFacts, IbstatNamesAdaptersAndTheirRate) {
  const MachineFacts facts = of("ibstat.txt");
  EXPECT_THAT(facts.adapters, Optional(2));
  EXPECT_THAT(facts.adapter_speed->value(), DoubleEq(25e9));
}

TEST(MachineFacts, LspciNamesDevicesAndAdapters) {
  const MachineFacts facts = of("lspci.txt");
  EXPECT_EQ(facts.tool, "lspci");
  EXPECT_THAT(facts.devices, Optional(4));
  EXPECT_THAT(facts.adapters, Optional(2));
  EXPECT_THAT(facts.device_names, ElementsAre("A100 SXM4 80GB"));
}

TEST(MachineFacts, AnythingElseIsRefused) {
  EXPECT_THROW(read_machine_facts("README.md"), InputError);
  EXPECT_THROW(read_machine_facts("nowhere"), InputError);
  const std::string cut = testing::TempDir() + "/cut.xml";
  save_text_file("<system version=\"1\"><cpu", cut);
  EXPECT_THROW(read_machine_facts(cut), InputError);
}

TEST(MachineFacts, WhatNoToolPrintsBreaksNothing) {
  const std::string path = testing::TempDir() + "/odd.txt";
  std::string deep = "<system>";
  for (int at = 0; at < 200'000; ++at) deep += "<a>";
  for (const std::string& text : {deep, std::string("an escape \x1b[GPU0\nGPU1 X \n")}) {
    save_text_file(text, path);
    EXPECT_THROW(read_machine_facts(path), InputError) << text.substr(0, 40);
  }
  save_text_file("\tGPU0\tGPU1\nGPU0\t X \tNV1e300\nGPU1\tNV-3\t X \n", path);
  EXPECT_THAT(read_machine_facts(path).most_nvlinks, Optional(1024));
  EXPECT_THAT(read_machine_facts(path).nvlinks, Optional(0));
}

}  // namespace
}  // namespace sim
