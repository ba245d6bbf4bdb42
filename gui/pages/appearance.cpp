#include "gui/pages/appearance.h"

#include <QAbstractItemView>
#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QScrollBar>
#include <QSettings>

#include "gui/pages/actions.h"
#include "gui/views/key_places.h"
#include "gui/views/theme.h"
#include "gui/views/translation.h"

namespace gui {
namespace {

const QString kTheme = QStringLiteral("window/theme");

}  // namespace

Appearance::Appearance(QWidget* window) : QObject(window), window_(window), themes_(new QActionGroup(this)) {
  themes_->setExclusionPolicy(QActionGroup::ExclusionPolicy::ExclusiveOptional);
}

void Appearance::addActions(Actions& actions) {
  const QString view = tr("&View");
  addThemes(actions, view);
  QAction* chinese = actions.add({view, tr("&Chinese from the next start on (中文)"), tr("Ctrl+Shift+C")}, [] {});
  chinese->setCheckable(true);
  chinese->setChecked(wantsChinese());
  connect(chinese, &QAction::toggled, this, &chooseChinese);
  QAction* places = actions.add({view, tr("&Keys by their place (AZERTY, Dvorak)"), tr("Ctrl+Shift+W")}, [] {});
  places->setCheckable(true);
  places->setChecked(wantsKeyPlaces());
  connect(places, &QAction::toggled, this, &chooseKeyPlaces);
}

// Neither is light.
void Appearance::addThemes(Actions& actions, const QString& menu) {
  const auto add = [&](const ActionText& text, const char* name, QPalette (*colors)()) {
    QAction* theme = actions.add(text, [] {});
    theme->setCheckable(true);
    theme->setObjectName(QString::fromLatin1(name));
    themes_->addAction(theme);
    connect(theme, &QAction::toggled, this, [this, colors](bool chosen) {
      if (!chosen && themes_->checkedAction() != nullptr) return;  // the other one is
      setColors(chosen ? colors() : lightPalette());
      if (keeps_) QSettings().setValue(kTheme, chosen ? themes_->checkedAction()->objectName() : QString());
    });
  };
  add({menu, tr("&Dark theme"), tr("Ctrl+D")}, "dark", darkPalette);
  add({menu, tr("&High contrast"), tr("Ctrl+Shift+D")}, "contrast", highContrastPalette);
}

void Appearance::setColors(const QPalette& palette) {
  QApplication::setPalette(palette);
  for (QAbstractItemView* view : window_->findChildren<QAbstractItemView*>()) {  // they and their scroll bars do not follow by themselves
    view->setPalette(palette);
    for (QScrollBar* bar : view->findChildren<QScrollBar*>()) bar->setPalette(palette);
  }
}

void Appearance::restore() {
  keeps_ = true;
  const QString name = QSettings().value(kTheme).toString();
  for (QAction* theme : themes_->actions())
    if (theme->objectName() == name) theme->setChecked(true);
}

}  // namespace gui
