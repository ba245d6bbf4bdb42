// What does which key: those of timelines, then every action of the window. Opened by the window.
#pragma once

class QWidget;

namespace gui {

class Actions;
void showKeys(const Actions& actions, QWidget* window);

}  // namespace gui
