#include "sim/units/profile_search.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"

namespace sim {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ProfileSearch, APathIsItself) {
  EXPECT_EQ(find_profile("profiles/hardware/a100-80gb-sxm.json", {"hardware"}), "profiles/hardware/a100-80gb-sxm.json");
}

TEST(ProfileSearch, ANameIsFoundInItsFolder) {
  EXPECT_THAT(find_profile("a100-80gb-sxm", {"hardware"}), EndsWith("profiles/hardware/a100-80gb-sxm.json"));
  EXPECT_THROW(find_profile("a100-80gb-sxm", {"clusters"}), InputError);
}

TEST(ProfileSearch, AnUnknownNameHasTheNearestElseTheKnown) {
  EXPECT_THAT([] { find_profile("h100-80gb-smx", {"hardware"}); },
              ThrowsMessage<InputError>(
                  "h100-80gb-smx: is neither a file nor a known profile; did you mean h100-80gb-sxm? Else give the path of a file"));
  EXPECT_THAT([] { find_profile("rtx-4090", {"hardware"}); }, ThrowsMessage<InputError>(HasSubstr("did you mean rtx-4090-24gb?")));
  EXPECT_THAT([] { find_profile("meta-llama/Llama-3.1-8B", {"models"}); },
              ThrowsMessage<InputError>(HasSubstr("did you mean llama-3.1-8b?")));
  EXPECT_THAT([] { find_profile("nope", {"hardware"}); },
              ThrowsMessage<InputError>(
                  AllOf(HasSubstr("h100-80gb-sxm, h100-96gb-hbm2e"), HasSubstr("give one of these names, or the path of a file"))));
  EXPECT_THROW(find_profile("", {"hardware"}), InputError);
  EXPECT_THROW(find_profile("profiles/hardware", {"hardware"}), InputError) << "a folder is no profile";
  EXPECT_THROW(find_profile(std::string(100'000, 'x'), {"hardware"}), InputError);
  for (const char* path : {"/nowhere/x", "./x", "../x", "x.json"})
    EXPECT_THAT([&] { find_profile(path, {"hardware"}); }, ThrowsMessage<InputError>(HasSubstr("is not there; check the path"))) << path;
  EXPECT_THAT([] { find_profile("x", {"no such folder"}); }, ThrowsMessage<InputError>(HasSubstr("no profiles were found")));
  ::setenv("MESHWRIGHT_DATA", "/said/profiles", 1);  // the folder of profiles itself, as people give it
  EXPECT_THAT([] { find_profile("x", {"no such folder"}); },
              ThrowsMessage<InputError>(HasSubstr("in /said/profiles/profiles, which is MESHWRIGHT_DATA")));
  ::unsetenv("MESHWRIGHT_DATA");
}

// One's own come first; what stands beside the working directory comes last.
TEST(ProfileSearch, FoldersStandInTheOrderOfWhoSaysSo) {
  ::setenv("MESHWRIGHT_DATA", "/said", 1);
  ::setenv("XDG_DATA_HOME", "/home", 1);
  const std::vector<std::filesystem::path> folders = profile_folders();
  ::unsetenv("MESHWRIGHT_DATA");
  ::unsetenv("XDG_DATA_HOME");
  ASSERT_EQ(folders.size(), 4u);
  EXPECT_EQ(folders[0], "/said/profiles");
  EXPECT_EQ(folders[1], "/home/meshwright/profiles");
  EXPECT_THAT(folders[2].string(), EndsWith("share/meshwright/profiles"));
  EXPECT_EQ(folders[3], "profiles");
}

}  // namespace
}  // namespace sim
