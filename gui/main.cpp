#include <QApplication>
#include <QCommandLineParser>
#include <QLibraryInfo>
#include <algorithm>
#include <memory>
#include <string_view>

#include "gui/main_window.h"
#include "gui/pages/question_panel.h"
#include "gui/views/application.h"
#include "gui/views/translation.h"

// Words alone: no display is needed for them.
static bool asksForWords(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view word) {
    return word == "--help" || word == "-h" || word == "--help-all" || word == "--version" || word == "-v";
  });
}

int main(int argc, char** argv) {
  const bool shows_window = !asksForWords(argc, argv);
  const std::unique_ptr<QCoreApplication> application(shows_window ? new QApplication(argc, argv) : new QCoreApplication(argc, argv));
  gui::nameApplication();
  QCoreApplication::setApplicationVersion(QStringLiteral(MESHWRIGHT_VERSION));
  if (shows_window) gui::styleApplication();
  QTranslator of_qt;
  gui::TableTranslator of_ours;
  if (gui::wantsChinese()) {
    if (of_qt.load(QStringLiteral("qtbase_zh_CN"), QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
      application->installTranslator(&of_qt);
    application->installTranslator(&of_ours);
  }
  QCommandLineParser parser;
  parser.setApplicationDescription(QCoreApplication::translate("main", "Plan, see, run and compare distributed training."));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(
      QStringLiteral("files"),
      QCoreApplication::translate("main", "a config.json, a plan file, a cluster file, a run folder or traces of a profiler"),
      QStringLiteral("[files...]"));
  const QCommandLineOption devices(QStringLiteral("devices"), QCoreApplication::translate("main", "Number of devices"),
                                   QStringLiteral("N"));
  const QCommandLineOption cluster(QStringLiteral("cluster"), QCoreApplication::translate("main", "Cluster or hardware profile"),
                                   QStringLiteral("name"));
  const QCommandLineOption picture(QStringLiteral("picture"), QCoreApplication::translate("main", "Save a picture of the window, then end"),
                                   QStringLiteral("file"));
  parser.addOptions({devices, cluster, picture});
  parser.process(*application);
  gui::MainWindow window;
  const gui::DisplayGuard guard([&] { window.work()->keepNow(); });
  window.restoreLast();
  if (parser.positionalArguments().isEmpty() && !parser.isSet(picture)) window.work()->restore();
  if (!parser.positionalArguments().isEmpty() && !parser.isSet(picture)) window.work()->begin();
  gui::PlanQuestion question = window.question()->question();
  if (parser.isSet(devices)) question.devices = parser.value(devices).toInt();
  if (parser.isSet(cluster)) question.cluster = parser.value(cluster).toStdString();
  window.question()->setQuestion(question);
  window.openAll(parser.positionalArguments());
  window.show();
  if (parser.isSet(picture)) window.pictureWhenReady(parser.value(picture));
  return QApplication::exec();
}
