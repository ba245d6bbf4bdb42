#include <gmock/gmock.h>

#include "profiles.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

HardwareProfile full_profile() {
  HardwareProfile profile = two_per_node();
  profile.kind = DeviceKind::Cpu;
  profile.cores_per_node = 2;
  profile.overlaps_communication = false;
  profile.memory_efficiency = 0.7;
  profile.sources = {{"memory", "a"},
                     {"memory_bandwidth", "b"},
                     {"memory_efficiency", "c"},
                     {"peak", "d"},
                     {"matrix_efficiency", "e"},
                     {"attention_efficiency", "f"},
                     {"kernel_overhead", "g"},
                     {"devices_per_node", "h"},
                     {"cores_per_node", "i"},
                     {"intra_node", "j"},
                     {"inter_node.latency", "k"},
                     {"inter_node.bandwidth", "l"}};
  profile.measured = {{Kernel::LinearForward, Precision::Fp32, 2, {64, 128, 256}, Seconds(1.0 / 3)},
                      {Kernel::OperatorCall, Precision::Fp64, 1, {}, Seconds(1e-6)}};
  profile.corrections = {{"forward.attention", 1.25, 30}};
  profile.traces = {"run/trace.0.json"};
  return profile;
}

std::string told(const Json& json) {
  try {
    hardware_profile_from_json(json, "f");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

Json without(const std::string& key) {
  Json json = to_json(two_per_node());
  json.erase(key);
  return json;
}

Json with(const std::string& key, const Json& value) {
  Json json = to_json(two_per_node());
  json[key] = value;
  return json;
}

TEST(HardwareProfileJson, ReadsBackWhatItWrites) {
  for (const HardwareProfile& profile : {two_per_node(), full_profile()}) {
    const Json json = to_json(profile);
    EXPECT_EQ(to_json(hardware_profile_from_json(json, "f")).dump(), json.dump());
  }
  const HardwareProfile again = hardware_profile_from_json(to_json(full_profile()), "f");
  EXPECT_EQ(again.kind, DeviceKind::Cpu);
  EXPECT_EQ(again.measured[0].time, Seconds(1.0 / 3));
  EXPECT_EQ(again.measured[0].shape, (std::vector<std::int64_t>{64, 128, 256}));
  EXPECT_EQ(again.measured[1].precision, Precision::Fp64);
  EXPECT_EQ(again.corrections[0].factor, 1.25);
  EXPECT_EQ(again.intra_node.peak_bandwidth, BytesPerSecond(150e9));
  EXPECT_FALSE(again.overlaps_communication);
  EXPECT_EQ(again.peak[static_cast<std::size_t>(Precision::Bf16)], FlopsPerSecond(0)) << "not supported";
}

TEST(HardwareProfileJson, NeedsItsSourceAndItsUnits) {
  EXPECT_THAT(told(without("source")), HasSubstr("f: /source: is missing"));
  EXPECT_THAT(told(with("source", "")), HasSubstr("f: /source: is empty"));
  EXPECT_THAT(told(without("date")), HasSubstr("/date: is missing"));
  EXPECT_THAT(told(with("memory", 80)), HasSubstr("f: /memory: is 80: a number needs its unit; write it like \"80 GiB\""));
  EXPECT_THAT(told(with("memory", "0 GiB")), HasSubstr("/memory: is zero"));
  EXPECT_THAT(told(with("kernel_overhead", "4.5")), HasSubstr("/kernel_overhead"));
}

TEST(HardwareProfileJson, TellsEveryViolationAtOnce) {
  Json json = without("memory_bandwidth");
  json["format"] = "meshwright.hardware/9";
  json["kind"] = "tpu";
  json["memory_efficiency"] = 1.5;
  json["devices_per_node"] = 0;
  json["peak"] = {{"fp8", "1 TFLOP/s"}};
  json["intra_node"]["latency"] = "-1 us";
  EXPECT_THAT(told(json),
              AllOf(HasSubstr("/memory_bandwidth: is missing"),
                    HasSubstr("/format: is \"meshwright.hardware/9\", accepted: meshwright.hardware/1, meshwright.hardware/2"),
                    HasSubstr("/kind: is \"tpu\", accepted: cpu, gpu"), HasSubstr("/memory_efficiency: is 1.5"),
                    HasSubstr("/devices_per_node: is 0"), HasSubstr("/peak/fp8: is no precision"),
                    HasSubstr("/peak: gives no precision a rate"), HasSubstr("/intra_node/latency: is \"-1 us\", which is negative")));
}

TEST(HardwareProfileJson, SourcesAreAllOrNothing) {
  Json json = to_json(full_profile());
  EXPECT_EQ(told(json), "");
  json["sources"].erase("memory");
  json["sources"].erase("inter_node.latency");
  json["sources"]["color"] = "x";
  json["sources"]["peak"] = "";
  EXPECT_THAT(told(json), AllOf(HasSubstr("/sources/memory: is missing"), HasSubstr("/sources/inter_node.latency: is missing"),
                                HasSubstr("/sources/color: names no number"), HasSubstr("/sources/peak: is empty")));
}

TEST(HardwareProfileJson, LinksMustBeThere) {
  EXPECT_THAT(told(without("intra_node")), HasSubstr("/intra_node: is missing, with several devices a node"));
  EXPECT_EQ(told(without("inter_node")), "");
  EXPECT_THAT(told(with("intra_node", {{"type", "bus"}})), AllOf(HasSubstr("/intra_node/latency"), HasSubstr("/intra_node/bandwidth")));
  EXPECT_THAT(told(with("cores_per_node", 4)), HasSubstr("GPUs share no cores"));
}

TEST(HardwareProfileJson, WorkspacesOfHandlesAreOfGpus) {
  HardwareProfile profile = two_per_node();
  EXPECT_FALSE(to_json(profile).contains("handle_workspace")) << "of most cards";
  profile.handle_workspace = Bytes(std::int64_t{32} << 20);
  EXPECT_EQ(hardware_profile_from_json(to_json(profile), "f").handle_workspace, profile.handle_workspace);
  EXPECT_EQ(hardware_profile_from_json(with("handle_workspace", "0 B"), "f").handle_workspace, Bytes(0)) << "measured";
  Json cpu = to_json(full_profile());
  cpu["handle_workspace"] = "32 MiB";
  EXPECT_THAT(told(cpu), HasSubstr("a CPU's products take none"));
}

TEST(HardwareProfileJson, PodsAreTheirNodesAndTheirShare) {
  Json network = to_json(full_profile())["inter_node"];
  EXPECT_FALSE(network.contains("pod_nodes")) << "one pod is not written";
  network["pod_nodes"] = 384;
  EXPECT_THAT(told(with("inter_node", network)), HasSubstr("/inter_node/pod_nodes: says nothing without the other"));
  network["oversubscription"] = 7;
  Json profile = with("inter_node", network);
  profile.erase("sources");
  const HardwareProfile read = hardware_profile_from_json(profile, "");
  ASSERT_EQ(read.inter_node.pods.size(), 1u);
  EXPECT_EQ(read.inter_node.pods[0].nodes, 384);
  EXPECT_EQ(to_json(read)["inter_node"]["oversubscription"], 7);
  network["oversubscription"] = 0.5;
  EXPECT_THAT(told(with("inter_node", network)), HasSubstr("/inter_node/oversubscription"));
}

TEST(HardwareProfileJson, PodsMayStandInLargerOnes) {
  Json network = to_json(full_profile())["inter_node"];
  network["pods"] = {{{"nodes", 4}, {"oversubscription", 2}}, {{"nodes", 32}, {"oversubscription", 6}}};
  Json profile = with("inter_node", network);
  profile.erase("sources");
  const HardwareProfile read = hardware_profile_from_json(profile, "");
  ASSERT_EQ(read.inter_node.pods.size(), 2u);
  EXPECT_EQ(read.inter_node.pods[1].nodes, 32);
  EXPECT_EQ(to_json(read)["inter_node"]["pods"], network["pods"]);
  network["pods"][1]["nodes"] = 30;
  EXPECT_THAT(told(with("inter_node", network)), HasSubstr("/inter_node/pods: has pods of 4 nodes in pods of 30"));
  network["pod_nodes"] = 4;
  EXPECT_THAT(told(with("inter_node", network)), HasSubstr("/inter_node/pod_nodes: stands beside pods"));
  network["pods"] = Json::array();
  EXPECT_THAT(told(with("inter_node", network)), HasSubstr("has 0 levels, and 2 to 3 levels are understood"));
}

TEST(HardwareProfileJson, SwitchesThatSumNeedAWayToPriceThem) {
  Json profile = to_json(load_hardware_profile("h100-80gb-sxm"));
  EXPECT_FALSE(profile["inter_node"].contains("switch_sums"));
  profile["inter_node"]["switch_sums"] = true;
  const HardwareProfile read = hardware_profile_from_json(profile, "");
  EXPECT_TRUE(read.inter_node.switch_sums);
  EXPECT_EQ(to_json(read)["inter_node"]["switch_sums"], true);
  profile.erase("kernels");
  profile.erase("sources");
  EXPECT_THAT(told(profile), HasSubstr("/inter_node: has switch_sums, and block \"kernels\" is missing"));
}

TEST(HardwareProfileJson, MeasuredPointsFitTheirKernel) {
  const auto point = [](const Json& measured) { return told(with("measured", Json::array({measured}))); };
  EXPECT_EQ(point({{"kernel", "copy"}, {"shape", {64}}, {"time", "1 us"}}), "");
  EXPECT_THAT(point({{"kernel", "copy"}, {"shape", {64, 2}}, {"time", "1 us"}}), HasSubstr("/measured/0/shape: has 2 numbers, expected 1"));
  EXPECT_THAT(point({{"kernel", "copy"}, {"shape", {-1}}, {"time", "1 us"}}), HasSubstr("negative size"));
  EXPECT_THAT(point({{"kernel", "fly"}, {"shape", {1}}, {"time", 3}}),
              AllOf(HasSubstr("/measured/0/kernel"), HasSubstr("/measured/0/time")));
}

TEST(HardwareProfileJson, ABrokenFileIsAnInputErrorAndNothingElse) {
  const std::string text = load_text_file("profiles/hardware/a100-80gb-sxm.json");
  const std::size_t last = text.rfind('}');
  for (std::size_t length = 0; length <= last; length += 7)
    EXPECT_THROW(hardware_profile_from_json(parse_json(text.substr(0, length), "f"), "f"), InputError) << length;
  std::uint32_t state = 1;  // the same damage on every run
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  for (int round = 0; round < 2000; ++round) {
    std::string broken = text;
    for (int damage = 0; damage < 3; ++damage) broken[next() % broken.size()] = static_cast<char>(next());
    try {
      hardware_profile_from_json(parse_json(broken, "f"), "f");
    } catch (const InputError& error) {
      EXPECT_FALSE(error.violations().empty());
    }
  }
}

// What is sold, from the data sheets.
TEST(HardwareProfileJson, A100AndH100AreThoseOfTheirDataSheets) {
  const HardwareProfile a100 = load_hardware_profile("a100-80gb-sxm"), h100 = load_hardware_profile("h100-80gb-sxm");
  const auto peak = [](const HardwareProfile& profile, Precision precision) { return profile.peak[static_cast<std::size_t>(precision)]; };
  EXPECT_EQ(peak(a100, Precision::Bf16), FlopsPerSecond(312e12));
  EXPECT_EQ(peak(a100, Precision::Tf32), FlopsPerSecond(156e12));
  EXPECT_EQ(peak(a100, Precision::Fp32), FlopsPerSecond(19.5e12));
  EXPECT_EQ(a100.memory_bandwidth, BytesPerSecond(2039e9));
  EXPECT_EQ(a100.intra_node.peak_bandwidth, BytesPerSecond(300e9));
  EXPECT_EQ(a100.inter_node.peak_bandwidth, BytesPerSecond(200e9));
  EXPECT_EQ(peak(h100, Precision::Bf16), FlopsPerSecond(989.4e12));
  EXPECT_EQ(peak(h100, Precision::Tf32), FlopsPerSecond(494.7e12));
  EXPECT_EQ(peak(h100, Precision::Fp32), FlopsPerSecond(66.9e12));
  EXPECT_EQ(h100.memory_bandwidth, BytesPerSecond(3352e9));
  EXPECT_EQ(h100.intra_node.peak_bandwidth, BytesPerSecond(450e9));
  EXPECT_EQ(h100.inter_node.peak_bandwidth, BytesPerSecond(400e9));
  for (const HardwareProfile& profile : {a100, h100}) {
    EXPECT_EQ(profile.memory, Bytes(80LL << 30));
    EXPECT_EQ(profile.devices_per_node, 8);
    EXPECT_FALSE(profile.sources.empty()) << "each number has its own";
    EXPECT_LE(profile.intra_node.bandwidth, profile.intra_node.peak_bandwidth);
    EXPECT_LE(profile.inter_node.bandwidth, profile.inter_node.peak_bandwidth);
  }
}

}  // namespace
}  // namespace sim
