#include "gui/views/accessible_view.h"

#include <QAccessibleWidget>

#include "gui/views/timeline_view.h"

namespace gui {
namespace {

View* viewOf(QObject* object) { return qobject_cast<View*>(object); }

// The chosen slice, point, bar or moment.
class AccessibleCurrent : public QAccessibleInterface {
 public:
  explicit AccessibleCurrent(View* view) : view_(view) {}
  bool isValid() const override { return view_ != nullptr; }
  QObject* object() const override { return nullptr; }
  QAccessibleInterface* parent() const override { return QAccessible::queryAccessibleInterface(view_); }
  QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  QAccessibleInterface* child(int) const override { return nullptr; }
  int childCount() const override { return 0; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QRect rect() const override { return view_ == nullptr ? QRect() : QRect(view_->mapToGlobal(QPoint()), view_->size()); }
  QAccessible::Role role() const override { return QAccessible::ListItem; }
  QString text(QAccessible::Text kind) const override {
    return kind == QAccessible::Name && view_ != nullptr ? view_->current() : QString();
  }
  void setText(QAccessible::Text, const QString&) override {}
  QAccessible::State state() const override {
    QAccessible::State state;
    state.focusable = state.selectable = state.selected = true;
    state.focused = view_ != nullptr && view_->hasFocus();
    return state;
  }

 private:
  QPointer<View> view_;
};

class AccessibleView : public QAccessibleWidget {
 public:
  explicit AccessibleView(View* view)
      : QAccessibleWidget(view, qobject_cast<TimelineView*>(view) != nullptr ? QAccessible::List : QAccessible::Chart),
        current_(QAccessible::registerAccessibleInterface(new AccessibleCurrent(view))) {}
  ~AccessibleView() override { QAccessible::deleteAccessibleInterface(current_); }

  int childCount() const override { return isChosen() ? 1 : 0; }
  QAccessibleInterface* child(int index) const override {
    return index == 0 && isChosen() ? QAccessible::accessibleInterface(current_) : nullptr;
  }
  int indexOfChild(const QAccessibleInterface* child) const override {
    return child == QAccessible::accessibleInterface(current_) ? 0 : -1;
  }
  QAccessibleInterface* focusChild() const override { return child(0); }
  QString text(QAccessible::Text kind) const override {
    return kind == QAccessible::Value ? viewOf(object())->current() : QAccessibleWidget::text(kind);
  }

 private:
  bool isChosen() const { return viewOf(object()) != nullptr && !viewOf(object())->current().isEmpty(); }
  QAccessible::Id current_;
};

QAccessibleInterface* interfaceOf(const QString&, QObject* object) {
  View* view = viewOf(object);
  return view == nullptr ? nullptr : new AccessibleView(view);
}

}  // namespace

void installAccessibleViews() { QAccessible::installFactory(interfaceOf); }

}  // namespace gui
