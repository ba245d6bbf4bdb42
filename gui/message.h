// What the window tells a person who gave it something it cannot use: the problem, and what to do. Made from any exception.
#pragma once

#include <QMetaType>
#include <QString>
#include <exception>

namespace gui {

struct Message {
  QString problem, remedy;
};
Message messageOf(const std::exception_ptr& error);

}  // namespace gui

Q_DECLARE_METATYPE(gui::Message)
