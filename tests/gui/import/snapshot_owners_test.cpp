#include "gui/import/snapshot_owners.h"

#include <gmock/gmock.h>

#include "tests/gui/import/snapshots.h"

namespace gui {
namespace {

struct Judged {
  AllocatedIn part;
  std::string name;
};

// Frames as (function, file), innermost first; all of line 3.
Judged judged(const std::vector<std::pair<std::string, std::string>>& frames) {
  std::vector<std::string> items;
  for (const auto& [function, file] : frames)
    items.push_back(test::dictionary({{"name", test::pickled(function)}, {"filename", test::pickled(file)}, {"line", test::pickled(3)}}));
  const std::string bytes = "\x80\x02" + test::list(items) + ".";
  Progress progress;
  const Pickle pickle(bytes, "a.pickle", progress);
  std::vector<std::string> names;
  SnapshotOwners owners(pickle, names);
  const SnapshotOwner owner = owners.of(pickle.root());
  EXPECT_EQ(owners.of(pickle.root()).number, owner.number);
  return {owner.part, names[owner.number]};
}

TEST(SnapshotOwners, TheProgramsInnermostLineAndTheFirstPartOnTheWayOut) {
  const Judged own = judged({{"linear", "/usr/torch/nn/functional.py"},
                             {"forward", "/home/me/model.py"},
                             {"_call_impl", "/usr/torch/nn/module.py"},
                             {"step", "/home/me/train.py"}});
  EXPECT_EQ(own.name, "model.py:3 forward");
  EXPECT_EQ(own.part, AllocatedIn::Forward);
  EXPECT_EQ(judged({{"torch::autograd::Engine", "engine.cpp"}, {"forward", "/home/me/model.py"}}).part, AllocatedIn::Backward);
  EXPECT_EQ(judged({{"step", "/usr/torch/optim/adamw.py"}, {"main", "train.py"}}).part, AllocatedIn::Optimizer);
}

TEST(SnapshotOwners, APlansOwnersAreItsLayers) {
  const Judged planned = judged({{"mlp activations", "layer"}, {"backward (recompute)", "microbatch"}, {"training step", "stage"}});
  EXPECT_EQ(planned.name, "layer:3 mlp activations");
  EXPECT_EQ(planned.part, AllocatedIn::Backward);
}

TEST(SnapshotOwners, NobodyIsUnknown) {
  const Judged nobody = judged({{"malloc", "libc.so"}});
  EXPECT_EQ(nobody.name, "(unknown)");
  EXPECT_EQ(nobody.part, AllocatedIn::Elsewhere);
}

}  // namespace
}  // namespace gui
