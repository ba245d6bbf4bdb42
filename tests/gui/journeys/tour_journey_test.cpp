#include <QAction>
#include <QTabBar>

#include "gui/views/theme.h"
#include "tests/gui/journeys/filled_pages.h"
#include "tests/gui/journeys/journey.h"

namespace gui::test {
namespace {

// WCAG 2: how far two colors lie apart; 4.5 is what small print needs.
double contrast(const QColor& a, const QColor& b) {
  const auto luminance = [](const QColor& color) {
    const auto part = [](double value) { return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4); };
    return 0.2126 * part(color.redF()) + 0.7152 * part(color.greenF()) + 0.0722 * part(color.blueF());
  };
  const double one = luminance(a) + 0.05, other = luminance(b) + 0.05;
  return std::max(one, other) / std::min(one, other);
}

class TourJourney : public Journey {
 protected:
  void choose(const char* theme) {
    for (const char* name : {"dark", "contrast"})
      window_.findChild<QAction*>(name)->setChecked(QLatin1String(name) == QLatin1String(theme));
    QTest::qWait(0);
  }
};

// Every page in every theme: words can be read on what they stand on, and each page is there to be looked at.
TEST_F(TourJourney, EveryPageInEveryTheme) {
  planGpt2();
  choosePipelined(4);
  if (qEnvironmentVariableIsSet("MESHWRIGHT_TOUR")) fillEveryPage(window_);
  for (const char* theme : {"light", "dark", "contrast"}) {
    choose(theme);
    const QPalette palette = QApplication::palette();
    EXPECT_GE(contrast(palette.color(QPalette::Text), palette.color(QPalette::Base)), 7) << theme;
    EXPECT_GE(contrast(palette.color(QPalette::Disabled, QPalette::WindowText), palette.color(QPalette::Window)), 4.5) << theme;
    EXPECT_GE(contrast(themeOf(palette).faint, themeOf(palette).background), 4.5) << theme;
    EXPECT_GE(contrast(themeOf(palette).warning, themeOf(palette).background), 4.5) << theme;
    EXPECT_GE(contrast(palette.color(QPalette::HighlightedText), palette.color(QPalette::Highlight)), 4.5) << theme;
    tour(theme);
  }
  choose("light");
}

}  // namespace
}  // namespace gui::test
