// What a window was used for, kept while it changes and shown again at the next start: question, plans with their undo, the plans that were found,
// view, run form.
#pragma once

#include "gui/jobs/autosave.h"
#include "gui/jobs/background_job.h"
#include "gui/pages/timeline_page.h"
#include "gui/session.h"

class QUndoStack;

namespace gui {

class PageStack;
class QuestionPanel;

class KeptWork : public QObject {
  Q_OBJECT
 public:
  struct Of {
    Session& session;
    PageStack& pages;
    QuestionPanel& question;
    QUndoStack& undo;
    TimelineActions timeline;
  };
  KeptWork(const Of& of, QObject* parent);
  void restore();  // what the last window kept; from now on this one's is kept
  void begin();    // from now on, in place of the last window's
  void keepNow() { autosave_.finish(); }
  void forget();

 Q_SIGNALS:
  void told(const gui::Message& message);

 private:
  LastWork work() const;
  void goOn(const LastWork& work);
  void restoreAnswer();
  void keepAnswer(const SharedAnswer& answer);

  Of of_;
  Autosave autosave_{[this] { return work(); }, this};
  BackgroundJob keeping_;
  bool keeps_ = false;
};

}  // namespace gui
