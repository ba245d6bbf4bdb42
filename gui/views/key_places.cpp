#include "gui/views/key_places.h"

#include <QKeyEvent>
#include <QSettings>

namespace gui {
namespace {

constexpr const char* kKeySetting = "window/key_places";

// Of X11 and Wayland: evdev's code + 8.
struct KeyPlace {
  quint32 scan_code = 0;
  int key = 0;
};
constexpr KeyPlace kPlaces[] = {{25, Qt::Key_W},     {38, Qt::Key_A},      {39, Qt::Key_S},           {40, Qt::Key_D},
                                {59, Qt::Key_Comma}, {60, Qt::Key_Period}, {34, Qt::Key_BracketLeft}, {35, Qt::Key_BracketRight}};

}  // namespace

bool wantsKeyPlaces() { return QSettings().value(QString::fromLatin1(kKeySetting)).toBool(); }
void chooseKeyPlaces(bool wanted) { QSettings().setValue(QString::fromLatin1(kKeySetting), wanted); }

int keyOf(const QKeyEvent& event) {
  if (event.nativeScanCode() != 0 && wantsKeyPlaces())
    for (const KeyPlace& place : kPlaces)
      if (place.scan_code == event.nativeScanCode()) return place.key;
  return event.key();
}

}  // namespace gui
