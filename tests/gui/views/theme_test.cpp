#include "gui/views/theme.h"

#include <gmock/gmock.h>

#include <cmath>

namespace gui {
namespace {

double luminanceOf(const QColor& color) {
  const auto linear = [](double share) { return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}
double contrast(const QColor& a, const QColor& b) {
  const double x = luminanceOf(a) + 0.05, y = luminanceOf(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

TEST(Theme, TextContrastsInBoth) {
  for (const QPalette& palette : {lightPalette(), darkPalette()}) {
    const Theme theme = themeOf(palette);
    EXPECT_GE(contrast(theme.text, theme.background), 4.5);
    EXPECT_GE(contrast(theme.faint, theme.background), 4.5);
    EXPECT_GE(contrast(theme.faint, theme.band), 4.5);
    EXPECT_GE(contrast(theme.warning, theme.background), 4.5);
    EXPECT_GE(contrast(palette.color(QPalette::HighlightedText), palette.color(QPalette::Highlight)), 3.0);
  }
}

TEST(Theme, LabelsOnSlicesContrast) {
  for (const WorkKindLook& look : allWorkKinds())
    EXPECT_GE(contrast(colorOf(readableOn(look.color)), colorOf(look.color)), 4.5) << look.name;
}

TEST(Theme, Patterns) {
  EXPECT_EQ(patternBrush(Pattern::None, {0xffffffff}).style(), Qt::NoBrush);
  EXPECT_EQ(patternBrush(Pattern::Rising, {0xffffffff}).style(), Qt::BDiagPattern);
}

double lightness(const QColor& color) {
  const auto linear = [](double share) { return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

// At least 7 to 1 in high contrast, and slices have an outline.
TEST(Theme, HighContrast) {
  const Theme theme = themeOf(highContrastPalette());
  EXPECT_TRUE(theme.outlined);
  EXPECT_FALSE(themeOf(darkPalette()).outlined);
  for (const QColor& color : {theme.text, theme.faint, theme.accent, theme.warning, theme.grid})
    EXPECT_GE((lightness(color) + 0.05) / (lightness(theme.background) + 0.05), 7.0) << color.name().toStdString();
}

}  // namespace
}  // namespace gui
