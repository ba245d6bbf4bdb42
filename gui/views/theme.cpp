#include "gui/views/theme.h"

namespace gui {
namespace {

struct PaletteColors {
  const char *window, *base, *alternate, *text, *faint, *button, *highlight, *outline;
};

QPalette paletteOf(const PaletteColors& colors) {
  QPalette palette;
  palette.setColor(QPalette::Window, QColor(colors.window));
  palette.setColor(QPalette::Base, QColor(colors.base));
  palette.setColor(QPalette::AlternateBase, QColor(colors.alternate));
  palette.setColor(QPalette::Button, QColor(colors.button));
  palette.setColor(QPalette::ToolTipBase, QColor(colors.base));
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText})
    palette.setColor(role, QColor(colors.text));
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, QColor(colors.faint));
  palette.setColor(QPalette::PlaceholderText, QColor(colors.faint));
  palette.setColor(QPalette::Highlight, QColor(colors.highlight));
  palette.setColor(QPalette::HighlightedText, Qt::white);
  for (const QPalette::ColorRole role : {QPalette::Mid, QPalette::Light}) palette.setColor(role, QColor(colors.outline));
  return palette;
}

}  // namespace

QPalette lightPalette() { return paletteOf({"#f5f6f8", "#ffffff", "#f7f8fa", "#1d2330", "#646b78", "#ffffff", "#2f6fde", "#c4c9d1"}); }
QPalette darkPalette() { return paletteOf({"#1e2128", "#16181d", "#1b1e24", "#e6e8ec", "#9aa1ad", "#2a2e37", "#3471dd", "#596070"}); }

QPalette highContrastPalette() {
  return paletteOf({"#000000", "#000000", "#101010", "#ffffff", "#e8e8e8", "#000000", "#1667fa", "#d0d0d0"});
}

Theme themeOf(const QPalette& palette) {
  const QColor base = palette.color(QPalette::Base);
  if (base == QColor(Qt::black))
    return {.background = base,
            .band = QColor(0x10, 0x10, 0x10),
            .grid = QColor(0xa0, 0xa0, 0xa0),
            .text = Qt::white,
            .faint = QColor(0xe8, 0xe8, 0xe8),
            .accent = QColor(0x66, 0xb2, 0xff),
            .warning = QColor(0xff, 0xd0, 0x40),
            .outlined = true};
  const bool dark = base.lightness() < 128;
  return {.background = base,
          .band = dark ? QColor(0x22, 0x26, 0x2e) : QColor(0xf3, 0xf4, 0xf7),
          .grid = dark ? QColor(0x38, 0x3d, 0x48) : QColor(0xdf, 0xe3, 0xe8),
          .text = palette.color(QPalette::Text),
          .faint = dark ? QColor(0x9a, 0xa1, 0xad) : QColor(0x5b, 0x64, 0x72),
          .accent = palette.color(QPalette::Highlight),
          .warning = dark ? QColor(0xff, 0x8a, 0x80) : QColor(0xc6, 0x28, 0x28)};
}

QBrush patternBrush(Pattern pattern, Rgb on) {
  QColor ink = colorOf(readableOn(on));
  ink.setAlpha(70);
  switch (pattern) {
    case Pattern::Rising: return {ink, Qt::BDiagPattern};
    case Pattern::Falling: return {ink, Qt::FDiagPattern};
    case Pattern::Dots: return {ink, Qt::Dense6Pattern};
    case Pattern::Lines: return {ink, Qt::HorPattern};
    default: return Qt::NoBrush;
  }
}

}  // namespace gui
