// The window in another language: a table of English and its translation (gui/translations), built into the program. No tool and no file is
// needed; one English string has one translation. Sentences that the simulator made with numbers in them (context "Violation") are known by
// their pattern: "{} B is not positive".
#pragma once

#include <QHash>
#include <QRegularExpression>
#include <QTranslator>
#include <vector>

namespace gui {

class TableTranslator : public QTranslator {
  Q_OBJECT
 public:
  explicit TableTranslator(QObject* parent = nullptr);  // Simplified Chinese
  QString translate(const char* context, const char* source, const char* disambiguation, int n) const override;
  bool isEmpty() const override { return texts_.isEmpty(); }
  qsizetype size() const { return texts_.size(); }

 private:
  QString matched(const QString& english) const;
  struct Pattern {
    QRegularExpression english;
    QString translated;
  };
  QHash<QByteArray, QString> texts_;
  std::vector<Pattern> patterns_;
};

bool wantsChinese();              // as chosen, else as the system is set
void chooseChinese(bool wanted);  // from the next start on

}  // namespace gui
