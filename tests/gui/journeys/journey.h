// A window of a fixed size, and the steps that journeys share. A picture is saved where MESHWRIGHT_SCREENSHOTS says; else nowhere.
#pragma once

#include <gmock/gmock.h>

#include <QTest>

#include "gui/core/knobs.h"
#include "gui/main_window.h"
#include "gui/pages/message_bar.h"
#include "gui/pages/plan_page.h"
#include "gui/pages/question_panel.h"

namespace gui::test {

// The same question of another model, cluster and batch.
inline PlanQuestion about(PlanQuestion asked, const char* model, const char* cluster, int devices, int batch, int sequence) {
  asked.model = QFileInfo(QString("profiles/models/%1.json").arg(model)).absoluteFilePath().toStdString();
  asked.cluster = cluster;
  asked.devices = devices;
  asked.global_batch = batch;
  asked.sequence = sequence;
  return asked;
}

// A search whose answer fills every page: 16 GPUs, a model that needs some thought.
inline PlanQuestion gpt2OnSixteen(const PlanQuestion& asked) { return about(asked, "gpt2-xl", "a100-80gb-sxm", 16, 64, 1024); }

// One that takes long: GPT-3 on 1,024 GPUs.
inline PlanQuestion gpt3OnAThousand(const PlanQuestion& asked) { return about(asked, "gpt3-175b", "dgx-h100-1024", 1024, 1536, 2048); }

// At most 256 colors, the most frequent that are not alike: a third of the bytes, and nobody sees what is missing.
inline QImage withFewColors(const QImage& picture) {
  constexpr qsizetype kMost = 256;
  constexpr int kAlike = 6;
  const QImage all = picture.convertToFormat(QImage::Format_RGB32);
  QHash<QRgb, int> count;
  for (int y = 0; y < all.height(); ++y)
    for (int x = 0; x < all.width(); ++x) ++count[all.pixel(x, y)];
  QList<QRgb> colors = count.keys(), kept;
  std::sort(colors.begin(), colors.end(), [&](QRgb a, QRgb b) { return count[a] != count[b] ? count[a] > count[b] : a < b; });
  const auto alike = [](QRgb a, QRgb b) {
    return std::abs(qRed(a) - qRed(b)) + std::abs(qGreen(a) - qGreen(b)) + std::abs(qBlue(a) - qBlue(b)) < kAlike;
  };
  for (const QRgb color : colors)
    if (kept.size() < kMost && std::none_of(kept.begin(), kept.end(), [&](QRgb one) { return alike(one, color); })) kept << color;
  return all.convertToFormat(QImage::Format_Indexed8, kept, Qt::ThresholdDither | Qt::AvoidDither);
}

class Journey : public testing::Test {
 protected:
  Journey() {
    window_.resize(1440, 900);
    window_.show();
    QTest::qWait(0);
  }

  void planGpt2() {
    window_.open(QFileInfo("profiles/models/gpt2-xl.json").absoluteFilePath());
    window_.question()->setQuestion(gpt2OnSixteen(window_.question()->question()));
    window_.plan();
    ASSERT_TRUE(QTest::qWaitFor([this] { return !window_.planPage()->candidates().empty(); }, 60000));
    waitForPlan();
  }
  void planGpt3(MainWindow& window) {  // and does not wait for it
    window.question()->setQuestion(gpt3OnAThousand(window.question()->question()));
    window.plan();
  }
  void waitForPlan() {
    ASSERT_TRUE(QTest::qWaitFor(
        [this] {
          return window_.session()->plan() &&
                 sim::plan_hash(window_.session()->plan()->plan) == sim::plan_hash(*window_.session()->wanted());
        },
        20000));
  }
  // The best plan of at least so many pipeline stages: a picture with something to see.
  void choosePipelined(std::int32_t stages);

  void waitForAll() {
    ASSERT_TRUE(QTest::qWaitFor([this] { return !window_.isWorking(); }, 60000));
  }
  void key(QWidget* widget, Qt::Key key) { QTest::keyClick(widget, key); }
  void trigger(const QString& shortcut) {
    for (QAction* action : window_.actions().all())
      if (action->shortcut() == QKeySequence(shortcut)) return action->trigger();
    FAIL() << "no action with " << shortcut.toStdString();
  }
  void picture(const QString& name) {
    waitForAll();
    QTest::qWait(30);  // until the layout has settled
    keep(window_.grab().toImage(), name);
  }
  // A picture of every page, where MESHWRIGHT_TOUR says how large ("1366x768"): tour_dark_1.png.
  void tour(const QString& look) {
    const QStringList sides = qEnvironmentVariable("MESHWRIGHT_TOUR").split('x');
    if (sides.size() != 2) return;
    window_.resize(sides[0].toInt(), sides[1].toInt());
    for (int page = 0; page < window_.pages()->count(); ++page) {
      window_.pages()->setCurrentIndex(page);
      picture(QStringLiteral("tour_%1_%2").arg(look).arg(page + 1));
    }
  }
  static void keep(const QImage& image, const QString& name) {
    const QString folder = qEnvironmentVariable("MESHWRIGHT_SCREENSHOTS");
    EXPECT_TRUE(folder.isEmpty() || withFewColors(image).save(folder + '/' + name + ".png"));
  }

  MainWindow window_;
};

inline void Journey::choosePipelined(std::int32_t stages) {
  const std::vector<Candidate>& all = window_.planPage()->candidates();
  sim::ParallelPlan plan = all.front().plan.plan;
  for (const Candidate& candidate : all)
    if (candidate.plan.plan.mesh.pipeline == stages) {
      plan = candidate.plan.plan;
      break;
    }
  if (plan.mesh.pipeline < stages) {
    plan = turned(plan, {"pipeline", std::int64_t{stages}});
    plan = turned(plan, {"schedule", std::string("1f1b")});
    plan = turned(plan, {"microbatch", std::int64_t{1}});
    plan = turned(plan, {"zero", std::int64_t{1}});
  }
  window_.session()->show(plan, Session::Origin::Chosen);
  waitForPlan();
}

}  // namespace gui::test
