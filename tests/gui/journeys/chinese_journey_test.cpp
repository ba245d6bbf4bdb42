#include <QAbstractButton>
#include <QLabel>
#include <QTabBar>

#include "gui/views/translation.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

// What does not fit where it stands: buttons, and labels that neither wrap nor scroll.
QStringList clippedIn(const QWidget& window) {
  QStringList found;
  for (const QAbstractButton* button : window.findChildren<QAbstractButton*>())
    if (button->isVisible() && !button->text().isEmpty() && button->minimumSizeHint().width() > button->width()) found << button->text();
  for (const QLabel* label : window.findChildren<QLabel*>())
    if (label->isVisible() && !label->wordWrap() && label->sizeHint().width() > label->width() + 1) found << label->text();
  return found;
}

struct InChinese {  // before the window is made
  InChinese() { QApplication::installTranslator(&translator); }
  ~InChinese() { QApplication::removeTranslator(&translator); }
  TableTranslator translator;
};

class ChineseJourney : public InChinese, public Journey {
 protected:
  // Texts without a single Chinese character that hold a word: they would be English that somebody forgot.
  static bool isForgotten(const QString& text) {
    static const QRegularExpression word(QStringLiteral("[a-z]{4}")), chinese(QStringLiteral("\\p{Han}"));
    return text.contains(word) && !text.contains(chinese) && !text.contains('/') && !text.contains(QStringLiteral("config.json"));
  }
  QStringList forgotten() const {
    QStringList found;
    for (const QLabel* label : window_.findChildren<QLabel*>())
      if (isForgotten(label->text())) found << label->text();
    for (const QAbstractButton* button : window_.findChildren<QAbstractButton*>())
      if (isForgotten(button->text())) found << button->text();
    for (const QAction* action : window_.actions().all())
      if (isForgotten(action->text())) found << action->text();
    for (int page = 0; page < window_.pages()->count(); ++page)
      if (isForgotten(window_.pages()->tabText(page))) found << window_.pages()->tabText(page);
    return found;
  }
};

using EnglishJourney = Journey;

TEST_F(EnglishJourney, NothingIsCutOffOnAnyPage) {
  planGpt2();
  for (int page = 0; page < window_.pages()->count(); ++page) {
    window_.pages()->setCurrentIndex(page);
    QTest::qWait(5);
    EXPECT_EQ(clippedIn(window_).join('|').toStdString(), "") << page;
  }
}

TEST_F(ChineseJourney, EveryPageSpeaksChineseAndNothingIsCutOff) {
  EXPECT_EQ(forgotten().join('|').toStdString(), "");
  planGpt2();
  for (int page = 0; page < window_.pages()->count(); ++page) {
    window_.pages()->setCurrentIndex(page);
    QTest::qWait(5);
    EXPECT_EQ(clippedIn(window_).join('|').toStdString(), "") << page;
  }
  window_.pages()->setCurrentIndex(1);
  picture("timeline_zh_CN");
}

}  // namespace
}  // namespace gui::test
