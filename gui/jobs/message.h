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
Message messageOf(const QString& said);  // the last error among the words of a command of meshwright; no problem: there is none

}  // namespace gui

Q_DECLARE_METATYPE(gui::Message)
