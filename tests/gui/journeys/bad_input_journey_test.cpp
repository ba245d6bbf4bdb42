#include <filesystem>
#include <fstream>

#include "tests/cli/simulated_run.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

class BadInputJourney : public Journey {
 protected:
  QString file(const QString& name, const std::string& text) {
    std::ofstream(folder_.filePath(name).toStdString()) << text;
    return folder_.filePath(name);
  }
  void isTold(const char* words) {
    EXPECT_TRUE(QTest::qWaitFor([&] { return window_.message()->text().contains(words); }, 60000))
        << words << " is not in: " << window_.message()->text().toStdString();
  }
  QTemporaryDir folder_;
};

TEST_F(BadInputJourney, AFileThatIsNotWhatItSays) {
  window_.open(file("config.json", "this is no JSON"));
  isTold("What helps");
  window_.open(file("other.json", "{\"model_type\": \"mystery\"}"));
  isTold("mystery");
  window_.open("/no/such/file");
  isTold("is not there");
  picture("bad_input");
}

TEST_F(BadInputJourney, AClusterWithoutUnits) {
  std::ifstream whole("profiles/hardware/a100-80gb-sxm.json");
  std::string text((std::istreambuf_iterator<char>(whole)), {});
  const std::size_t unit = text.find("GiB\"");
  ASSERT_NE(unit, std::string::npos);
  text.erase(unit, 3);
  window_.open(file("cluster.json", text));
  isTold("memory");
  EXPECT_FALSE(QString::fromStdString(window_.question()->question().cluster).contains("cluster.json"));
}

TEST_F(BadInputJourney, NoModelChosen) {
  window_.plan();
  isTold("no model is chosen");
}

TEST_F(BadInputJourney, ARunThatIsHalfWritten) {
  const std::string run = cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_half_written");
  std::filesystem::resize_file(run + "/trace.1.json", std::filesystem::file_size(run + "/trace.1.json") / 2);
  window_.open(QString::fromStdString(run));
  isTold("trace.1.json");
  EXPECT_EQ(window_.session()->run(), nullptr);
}

TEST_F(BadInputJourney, ABrokenPlan) {
  window_.open(file("plan.json", "{\"format\": \"meshwright.plan/1\"}"));
  isTold("plan.json");
}

TEST_F(BadInputJourney, ALimitWithoutItsUnit) {
  PlanQuestion question = window_.question()->question();
  question.model = "profiles/models/tiny-gpt2.json";
  question.memory_limit = "70";
  window_.question()->setQuestion(question);
  window_.plan();
  isTold("70");
  EXPECT_TRUE(window_.message()->text().contains("GiB")) << window_.message()->text().toStdString();
}

TEST_F(BadInputJourney, NothingAtAll) {
  QDir(folder_.path()).mkdir("empty");
  for (const QString& path : {file("empty.json", ""), file("empty.pickle", ""), file("view.json", "{\"format\": \"meshwright.view/1\"}"),
                              folder_.filePath("empty"), file("zip.zip", "PK")}) {
    window_.message()->hide();
    window_.open(path);
    EXPECT_TRUE(QTest::qWaitFor([&] { return window_.message()->text().contains("What helps"); }, 60000)) << path.toStdString();
  }
}

// A trace and a plan that is cut anywhere: a message or a picture, never an end of the program.
TEST_F(BadInputJourney, APlanThatIsCutInHalf) {
  sim::save_plan(cli::test::simulated_plan(), folder_.filePath("whole.json").toStdString());
  std::ifstream whole(folder_.filePath("whole.json").toStdString());
  const std::string text((std::istreambuf_iterator<char>(whole)), {});
  for (const std::size_t part : {1, 3, 7}) {
    window_.message()->hide();
    window_.open(file("cut.json", text.substr(0, text.size() * part / 8)));
    isTold("What helps");
  }
}

}  // namespace
}  // namespace gui::test
