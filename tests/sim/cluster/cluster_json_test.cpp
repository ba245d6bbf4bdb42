#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "profiles.h"
#include "sim/cluster/cluster.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string cluster_problem(const std::string& text) {
  try {
    cluster_from_json(parse_json(text, "c.json"), "c.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ClusterJson, ReadsBackWhatItWrites) {
  const Cluster cluster{two_per_node(), 4};
  const Json json = to_json(cluster);
  const Cluster again = cluster_from_json(json, "f");
  EXPECT_EQ(again.devices, 4);
  EXPECT_EQ(to_json(again).dump(), json.dump());
}

TEST(ClusterJson, TakesAProfileWithACount) {
  const Cluster cluster = load_cluster("a100-80gb-sxm", {16});
  EXPECT_EQ(cluster.devices, 16);
  EXPECT_EQ(cluster.nodes(), 2);
  EXPECT_EQ(cluster.hardware.name, "a100-80gb-sxm");
  EXPECT_THAT([] { load_cluster("a100-80gb-sxm", {}); }, ThrowsMessage<InputError>(HasSubstr("add --devices N (a node has 8)")));
}

TEST(ClusterJson, TakesAClusterOrAPartOfIt) {
  EXPECT_EQ(load_cluster("dgx-h100-1024", {}).devices, 1024);
  EXPECT_EQ(load_cluster("dgx-h100-1024", {64}).devices, 64);
  EXPECT_EQ(load_cluster("profiles/clusters/dgx-a100-64.json", {}).hardware.name, "a100-80gb-sxm");
  EXPECT_THAT([] { load_cluster("dgx-a100-64", {65}); }, ThrowsMessage<InputError>(HasSubstr("/devices: is 64, and 65 are asked for")));
}

TEST(ClusterJson, GroupsOfDifferentDevicesAreOneCluster) {
  const auto text = [](const std::string& second, const std::string& more = "") {
    return R"({"format": "meshwright.cluster/1", "groups": [{"hardware": "a100-80gb-sxm", "devices": 64}, )" + second + "]" + more + "}";
  };
  const std::string h100 = R"({"hardware": "h100-80gb-sxm", "devices": 64})";
  const Cluster cluster = cluster_from_json(parse_json(text(h100), "c.json"), "c.json");
  EXPECT_EQ(cluster.devices, 128);
  EXPECT_EQ(cluster.nodes(), 16);
  EXPECT_EQ(cluster.hardware.name, "a100-80gb-sxm beside h100-80gb-sxm");
  EXPECT_EQ(to_json(cluster_from_json(to_json(cluster), "again")).dump(), to_json(cluster).dump()) << "a plan holds what followed of them";
  EXPECT_THAT(cluster_problem(text(h100, R"(, "devices": 128)")), HasSubstr("/devices: stands beside groups"));
  EXPECT_THAT(cluster_problem(text(R"({"hardware": "h100-80gb-sxm", "devices": 12})")),
              HasSubstr("/groups: 12 devices of h100-80gb-sxm are no whole nodes"));
  EXPECT_THAT(cluster_problem(text(R"({"hardware": "h100-80gb-sxm"})")), HasSubstr("devices: is missing"));
  EXPECT_THAT(cluster_problem(R"({"format": "meshwright.cluster/1", "groups": []})"), HasSubstr("/groups: is empty"));
}

TEST(ClusterJson, GroupsWithSharesStayGroups) {
  const auto text = [](const std::string& first, const std::string& second) {
    return R"({"format": "meshwright.cluster/1", "groups": [{"hardware": "a100-80gb-sxm", "devices": 64)" + first +
           R"(}, {"hardware": "h100-80gb-sxm", "devices": 32)" + second + "}]}";
  };
  const Cluster cluster = cluster_from_json(parse_json(text(R"(, "share": 1)", R"(, "share": 3)"), "c.json"), "c.json");
  ASSERT_EQ(cluster.groups.size(), 2u);
  EXPECT_EQ(group_of(cluster.groups, Rank(63)).hardware.name, "a100-80gb-sxm");
  EXPECT_EQ(group_of(cluster.groups, Rank(64)).share, 3);
  EXPECT_EQ(cluster.hardware.name, "a100-80gb-sxm beside h100-80gb-sxm") << "what knows one device has the least of them";
  EXPECT_EQ(to_json(cluster_from_json(to_json(cluster), "again")).dump(), to_json(cluster).dump());
  EXPECT_THAT(cluster_problem(text(R"(, "share": 1)", "")), HasSubstr("/groups: say a share of some and not of others"));
  EXPECT_THAT(cluster_problem(text(R"(, "share": 0)", R"(, "share": 1)")), HasSubstr("share: is 0"));
}

TEST(ClusterJson, RefusesCountsThatCannotBe) {
  for (const std::int32_t count : {-1, 1 << 21})
    EXPECT_THAT([&] { load_cluster("a100-80gb-sxm", {count}); }, ThrowsMessage<InputError>(HasSubstr("--devices: is"))) << count;
  EXPECT_THAT(cluster_problem(R"({"format": "meshwright.cluster/1", "devices": 0})"), HasSubstr("/devices: is 0"));
  EXPECT_THAT(cluster_problem(R"({"format": "meshwright.cluster/2", "devices": "8"})"), AllOf(HasSubstr("/format"), HasSubstr("/devices")));
}

TEST(ClusterJson, NamesWhatIsWrongInTheHardware) {
  EXPECT_THAT(cluster_problem(R"({"format": "meshwright.cluster/1", "devices": 2})"), HasSubstr("/hardware: is missing"));
  EXPECT_THAT(cluster_problem(R"({"format": "meshwright.cluster/1", "devices": 2, "hardware": {"memory": 80}})"),
              HasSubstr("c.json: /hardware: /memory: is 80: a number needs its unit"));
  EXPECT_THAT(cluster_problem(R"({"format": "meshwright.cluster/1", "devices": 2, "hardware": "a100-80gb-sx"})"),
              HasSubstr("did you mean a100-80gb-sxm?"));
}

TEST(ClusterJson, SeveralNodesNeedALink) {
  HardwareProfile profile = two_per_node();
  profile.inter_node = {};
  EXPECT_EQ(cluster_problem(to_json(Cluster{profile, 2}).dump()), "");
  EXPECT_THAT(cluster_problem(to_json(Cluster{profile, 3}).dump()), HasSubstr("/inter_node: is missing, and 3 devices need 2 nodes of 2"));
}

TEST(ClusterJson, AMeasuredProfileIsFoundByItsPath) {
  const std::string path = testing::TempDir() + "measured_" + std::to_string(::getpid()) + ".json";
  save_json_file(to_json(two_per_node()), path);
  EXPECT_EQ(load_cluster(path, {2}).hardware.name, "pair");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace sim
