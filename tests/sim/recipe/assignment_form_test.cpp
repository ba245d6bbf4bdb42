#include <gmock/gmock.h>

#include "sim/recipe/settings.h"

namespace sim {
namespace {

std::string assigned(const std::string& text) {
  std::string all;
  for (const RecipeSetting& setting : read_assignments(text, "x.py")) all += setting.key + "=" + setting.value + ";";
  return all;
}

TEST(AssignmentForm, PythonByAttributeAndByArgument) {
  EXPECT_EQ(assigned("config.a.b = 4  # four\nreturn C(x=True, y='text', z=[[1], [2]])\nif a == 3: pass\n\"\"\"doc = 1\"\"\""),
            "config.a.b=4;x=true;y=text;z=[[1], [2]];");
}
TEST(AssignmentForm, NumbersWithExponents) { EXPECT_EQ(assigned("a = 3e-4\nb = -1.5E+3\nc = e-4"), "a=3e-4;b=-1.5E+3;c=e;"); }
TEST(AssignmentForm, CallsAreNamedAndTheirArgumentsRead) { EXPECT_EQ(assigned("config.p = P.Config(a=1)"), "config.p=P.Config;a=1;"); }
TEST(AssignmentForm, Toml) {
  EXPECT_EQ(assigned("[parallelism]\ntensor_parallel_degree = 4\nname = \"x\" # y = 2\nshard = -1\n"),
            "parallelism.tensor_parallel_degree=4;parallelism.name=x;parallelism.shard=-1;");
}

// A name stands for the one literal that the text gives it; quoted it is a text, and of two literals nobody knows which.
TEST(AssignmentForm, NamesThatTheTextSets) {
  const auto value_of = [](const std::string& text, const std::string& key) {
    std::string all;
    for (const RecipeSetting& setting : read_assignments(text, "x.py"))
      if (setting.key == key) all += setting.value + ";";
    return all;
  };
  EXPECT_EQ(value_of("def f(gbs: int = 8, n: Optional[int] = 2):\n  g(a=gbs, b=n)\n", "a"), "8;");
  EXPECT_EQ(value_of("N = 4\ncfg.tp = N\n", "cfg.tp"), "4;");
  EXPECT_EQ(value_of("bf16 = True\nprecision = \"bf16\"\n", "precision"), "bf16;");
  EXPECT_EQ(value_of("n = 4\nn = 8\ncfg.tp = n\n", "cfg.tp"), "n;");
  EXPECT_EQ(value_of("if x: tp = 3\nelse: tp = 4\n", "tp"), "3;4;");
}

// What a parameter is without an argument counts where nothing else sets it.
TEST(AssignmentForm, ANameWithDotsThatTheTextSets) {
  EXPECT_EQ(assigned("a.c.length = 128\nb.length = a.c.length\nb.kind = torch.half"), "a.c.length=128;b.length=128;b.kind=torch.half;");
}

// TOML's parser refuses it; Python's last one counts.
TEST(AssignmentForm, ANameTwiceInASection) {
  EXPECT_THROW(assigned("[a]\nx = 1\ny = 2\nx = 3\n"), InputError);
  EXPECT_EQ(assigned("[a]\nx = 1\n[b]\nx = 3\n"), "a.x=1;b.x=3;");
  EXPECT_EQ(assigned("x = 1\nx = 3\n"), "x=1;x=3;");
}

TEST(AssignmentForm, DefaultsOfParameters) {
  EXPECT_EQ(assigned("def f(\n    tp: int = 1,\n    pp: int = 2,\n):\n  g(a=tp, b=pp)\n\ntp = 8\n"), "tp=1;pp=2;a=8;b=2;tp=8;");
}

TEST(AssignmentForm, ANameThatOnlyStandsForAValueSaysNoMore) {
  std::string all;
  const auto is_known = [](const std::string& key) { return key == "size"; };
  for (const RecipeSetting& setting : read_assignments("gbs = 8\nseed = 3\nsize = gbs\n", "x.py", is_known))
    all += setting.key + "=" + setting.value + ";";
  EXPECT_EQ(all, "seed=3;size=8;");
}

TEST(AssignmentForm, AnArgumentByTheSameNameElsewhere) {
  EXPECT_EQ(assigned("t = make(steps=100)\ns = plan(steps=t.steps)\n"), "t=make;steps=100;s=plan;steps=100;");
}

}  // namespace
}  // namespace sim
