#include "gui/jobs/message.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"

namespace gui {
namespace {

TEST(Message, SaysProblemAndRemedy) {
  const Message message =
      messageOf(std::make_exception_ptr(sim::InputError("a.json", {{"/memory", "has no unit", "write 80 GiB"}, {"", "odd", ""}})));
  EXPECT_EQ(message.problem, "a.json: /memory: has no unit; odd");
  EXPECT_EQ(message.remedy, "write 80 GiB");
}

TEST(Message, ManyProblemsAreCounted) {
  const std::vector<sim::Violation> many(9, sim::Violation{"", "bad", "mend"});
  const Message message = messageOf(std::make_exception_ptr(sim::InputError("", many)));
  EXPECT_TRUE(message.problem.endsWith("and 5 more"));
  EXPECT_EQ(message.remedy, "mend");
}

TEST(Message, OfAnyException) {
  EXPECT_EQ(messageOf(std::make_exception_ptr(std::runtime_error("oh"))).problem, "oh");
  EXPECT_FALSE(messageOf(std::make_exception_ptr(std::bad_alloc())).remedy.isEmpty());
}

TEST(Message, OfWhatACommandSaid) {
  const Message message = messageOf(QStringLiteral("measuring\nerror: mpirun is missing\nremedy: apt-get install openmpi-bin\n"));
  EXPECT_EQ(message.problem, "mpirun is missing");
  EXPECT_EQ(message.remedy, "apt-get install openmpi-bin");
  EXPECT_TRUE(messageOf(QStringLiteral("all is well")).problem.isEmpty());
}

}  // namespace
}  // namespace gui
