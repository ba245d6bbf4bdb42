// Every number of every kind of profile moves a prediction, or its reader refuses it. How: moves.h; what is asked: questions.h. Networks (profiles/models)
// are no profiles of ours: docs/decisions/140-unread-keys.md says what becomes of their keys.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "moves.h"
#include "questions.h"
#include "sim/clock/behavior.h"
#include "sim/cluster/cluster.h"
#include "sim/units/input_error.h"
#include "sim/units/json_reader.h"
#include "tests/sim/plan/plans.h"

namespace moved {
namespace {

using sim::Json;
using testing::IsEmpty;

template <class Profile>
using Reader = Profile (*)(const Json&, const std::string&);

std::vector<std::string> unmoved(const Json& profile, const std::vector<std::string>& pointers, Reader<sim::HardwareProfile> read) {
  const sim::HardwareProfile usual = read(profile, "usual");
  Asked asked({.hardware = &usual});
  return decoration(
      profile, pointers, [&](const Json& json) { read(json, "moved"); },
      [&](const Json& json) {
        const sim::HardwareProfile other = read(json, "moved");
        return asked.moves({.hardware = &other});
      });
}

std::vector<std::string> unmoved(const Json& profile, const std::vector<std::string>& pointers, Reader<sim::SoftwareStack> read) {
  const sim::SoftwareStack usual = read(profile, "usual");
  Asked asked({.software = &usual});
  return decoration(
      profile, pointers, [&](const Json& json) { read(json, "moved"); },
      [&](const Json& json) {
        const sim::SoftwareStack other = read(json, "moved");
        return asked.moves({.software = &other});
      });
}

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("profiles/" + folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

// What block "fitted" says again is where a fit begins, which reads the profile without that block.
bool is_restated(const Json& profile, const std::string& pointer) {
  const std::string name = pointer.substr(pointer.rfind('/') + 1);
  return !pointer.starts_with("/fitted/") && profile.contains("fitted") && profile["fitted"].contains(name);
}

// Restated numbers are asked as the fit reads them.
template <class Read>
std::vector<std::string> unmoved_in_file(const Json& profile, Read read) {
  std::vector<std::string> stated = numbers_of(profile), restated;
  std::ranges::copy_if(stated, std::back_inserter(restated), [&](const std::string& pointer) { return is_restated(profile, pointer); });
  std::erase_if(stated, [&](const std::string& pointer) { return is_restated(profile, pointer); });
  Json before_fit = profile;
  before_fit.erase("fitted");
  std::vector<std::string> found = unmoved(profile, stated, read);
  for (const std::string& one : unmoved(before_fit, restated, read)) found.push_back(one + ", without block fitted");
  return found;
}

TEST(MovedNumbers, OfEveryGpuModel) {
  for (const std::string& file : files_of("hardware"))
    EXPECT_THAT(unmoved_in_file(sim::load_json_file(file), sim::hardware_profile_from_json), IsEmpty()) << file;
}

TEST(MovedNumbers, OfEveryProgram) {
  for (const std::string& file : files_of("software"))
    EXPECT_THAT(unmoved_in_file(sim::load_json_file(file), sim::software_stack_from_json), IsEmpty()) << file;
}

TEST(MovedNumbers, OfBehavior) {
  const Json profile = sim::load_json_file("profiles/behavior/common.json");
  const auto read = [](const Json& json) { return sim::behavior_from_json(json, "moved"); };
  Asked asked({});
  EXPECT_THAT(decoration(profile, numbers_of(profile), read,
                         [&](const Json& json) {
                           const sim::BehaviorInstead instead(read(json));
                           return asked.moves({});
                         }),
              IsEmpty());
}

// Devices of a cluster are the ranks of a plan: another number of them is another plan, of which the old mesh is no cut.
TEST(MovedNumbers, OfEveryCluster) {
  for (const std::string& file : files_of("clusters")) {
    const Json profile = sim::load_json_file(file);
    EXPECT_THAT(numbers_of(profile), testing::ElementsAre("/devices"));
    EXPECT_THAT(decoration(
                    profile, {"/devices"}, [](const Json& json) { sim::cluster_from_json(json, "moved"); },
                    [&](const Json& json) {
                      return differ(answer_of(sim::cluster_from_json(json, "moved")), answer_of(sim::cluster_from_json(profile, "usual")));
                    }),
                IsEmpty());
  }
}

// What no file states, and a person may.
TEST(MovedNumbers, OfBlocksThatNoFileHas) {
  Json part = sim::load_json_file("profiles/hardware/b300-288gb-sxm.json");
  part["kernels"]["host_memory"] = "20 GB/s";
  EXPECT_THAT(unmoved(part, {"/kernels/host_memory"}, sim::hardware_profile_from_json), IsEmpty());
  Json program = sim::load_json_file("profiles/software/torchtitan.json");
  const Json more = {{"fragmentation", 0.1},        {"launches_per_expert", 3}, {"pace", 1.1},
                     {"host_per_adapter", "50 us"}, {"unfused_adapters", true}, {"dispatch_share", 0.8}};
  program.update(more);
  std::vector<std::string> pointers = numbers_of(more);
  EXPECT_THAT(unmoved(program, pointers, sim::software_stack_from_json), IsEmpty());
  program["learned_interval"] = 0.05, program["learned_forms"] = "data sharded tensor pipeline nodes context experts";
  program["learned_runs"] = {{{"kind", ""}, {"numbers", "bf16"}, {"at", {0, 0, 0, 0.5, 1, 5, 12, 1}}, {"weight", 0.1}}};
  pointers = numbers_of({{"learned_interval", 0.05}, {"learned_runs", program["learned_runs"]}});
  EXPECT_THAT(unmoved(program, pointers, sim::software_stack_from_json), IsEmpty());
}

// A data sheet alone: the roofline prices it.
TEST(MovedNumbers, OfADataSheet) {
  Json sheet = sim::to_json(sim::load_hardware_profile("h100-80gb-sxm"));
  for (const char* key : {"kernels", "sources"}) sheet.erase(key);
  sheet.update({{"matrix_efficiency", 0.7}, {"attention_efficiency", 0.3}});
  sheet["inter_node"].update({{"latency", "2 us"}, {"bandwidth", "330 GB/s"}});
  EXPECT_THAT(unmoved(sheet, numbers_of(sheet), sim::hardware_profile_from_json), IsEmpty());
}

// As `measure` and `calibrate` write it.
TEST(MovedNumbers, OfAMeasuredMachine) {
  sim::HardwareProfile machine = sim::testing::two_core_machine();
  machine.devices_per_node = 4;
  machine.measured = {{sim::Kernel::LinearForward, sim::Precision::Fp32, 4, {4096, 4096, 4096}, sim::Seconds(5)},
                      {sim::Kernel::AttentionForward, sim::Precision::Fp32, 4, {4, 32, 1024, 128}, sim::Seconds(2)},
                      {sim::Kernel::NormForward, sim::Precision::Fp32, 4, {4096, 4096}, sim::Seconds(0.05)},
                      {sim::Kernel::OperatorCall, sim::Precision::Fp32, 4, {}, sim::Seconds(1e-3)},
                      {sim::Kernel::AllReduce, sim::Precision::Fp32, 4, {1 << 25, 8}, sim::Seconds(0.1)}};
  const std::size_t points =
      machine.measured.size();  // behind them the same with a rank more, which a node of four asks only once a rank more is at work
  for (std::size_t at = 0; at < points; ++at) {
    machine.measured.push_back(machine.measured[at]);
    machine.measured.back().concurrent_ranks = 5, machine.measured.back().time *= 1.5;
    if (!machine.measured[at].shape.empty()) machine.measured.back().shape[0] /= 2;
  }
  machine.corrections = {{"forward.attention", 1.25, 30}};
  const Json profile = sim::to_json(machine);
  std::vector<std::string> pointers = numbers_of(profile);
  std::erase(pointers, "/corrections/0/samples");  // how many spans a factor rests on: `calibrate` says it to people
  for (std::size_t at = points; at < machine.measured.size(); ++at)
    std::erase_if(pointers, [&](const std::string& pointer) { return pointer.starts_with(fmt::format("/measured/{}/", at)); });
  EXPECT_THAT(unmoved(profile, pointers, sim::hardware_profile_from_json), IsEmpty());
}

TEST(Questions, AreAnswered) {
  for (const Question& question : questions()) EXPECT_NO_THROW(question.ask({})) << question.name;
}

// A reader that passes over a number, or takes it without a use, is found.
TEST(TheTestCanFail, ANumberThatIsNotReadIsFound) {
  const Reader<sim::HardwareProfile> forgetful = [](const Json& json, const std::string& file) {
    Json other = json;
    other["memory_efficiency"] = 0.5;
    return sim::hardware_profile_from_json(other, file);
  };
  const Json profile = sim::load_json_file("profiles/hardware/h100-80gb-sxm.json");
  const std::vector<std::string> asked{"/memory_efficiency", "/memory_bandwidth"};
  EXPECT_THAT(unmoved(profile, asked, forgetful), testing::Each(testing::StartsWith("/memory_efficiency: ")));
  EXPECT_THAT(unmoved(profile, asked, forgetful), testing::Not(IsEmpty()));
  EXPECT_THAT(unmoved(profile, asked, sim::hardware_profile_from_json), IsEmpty());
}

TEST(TheTestCanFail, DecorationOfTheFirstFormatIsFound) {
  Json profile = sim::load_json_file("profiles/hardware/h100-80gb-sxm.json");
  profile["format"] = "meshwright.hardware/1";
  profile.erase("sources");
  profile["matrix_efficiency"] = 0.7;
  profile["kernels"]["drive"] = "2 GB/s";
  profile["inter_node"].update({{"latency", "1.5 us"}, {"bandwidth", "330 GB/s"}});
  const std::vector<std::string> decorated{"/matrix_efficiency", "/kernels/drive", "/inter_node/bandwidth"};
  const std::vector<std::string> found = unmoved(profile, decorated, sim::hardware_profile_from_json);
  for (const std::string& pointer : decorated) EXPECT_THAT(found, testing::Contains(testing::StartsWith(pointer + ": a fifth"))) << pointer;
}

}  // namespace
}  // namespace moved
