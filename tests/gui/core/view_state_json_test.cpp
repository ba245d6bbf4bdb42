#include <gmock/gmock.h>

#include <fstream>

#include "gui/core/file_kind.h"
#include "gui/core/view_state.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

TEST(ViewStateFile, ReadsBackTheSame) {
  const std::string path = testing::TempDir() + "view.json";
  const ViewState state{.shown = {sim::SimTime(123'456'789), sim::SimTime(2'000'000'000'000)},
                        .group = GroupBy::Tensor,
                        .pinned = {3, 9},
                        .marks = {{sim::SimTime(5'000), "here it waits"}},
                        .search = "backward",
                        .collapsed = {0, 3}};
  saveView(state, path);
  EXPECT_EQ(loadView(path), state);
  EXPECT_EQ(kindOfFile(path), FileKind::View);
}

TEST(ViewStateFile, RefusesWhatIsNone) {
  const std::string path = testing::TempDir() + "no_view.json";
  std::ofstream(path) << "{\"format\": \"meshwright.view/9\", \"shown\": {\"begin\": 3}}";
  EXPECT_THROW(loadView(path), sim::InputError);
}

}  // namespace
}  // namespace gui
