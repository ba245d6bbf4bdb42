#include <QAbstractButton>
#include <QLabel>
#include <QListWidget>
#include <QScrollBar>
#include <QTextEdit>

#include "gui/pages/answers_page.h"
#include "gui/pages/command_palette.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/key_list.h"
#include "gui/pages/knobs_panel.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/trace_page.h"
#include "gui/views/translation.h"
#include "tests/cli/simulated_run.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/idle.h"
#include "tests/gui/import/traces.h"
#include "tests/gui/journeys/filled_pages.h"
#include "tests/gui/journeys/journey.h"
#include "tests/gui/journeys/painted_places.h"
#include "tests/gui/journeys/shown_texts.h"
#include "tests/sim/timeline/timelines.h"

namespace gui::test {
namespace {

// Tabs that are cut or pushed out, entries of lists, names of panels, what the status bar says, numbers.
QStringList clippedParts(const QWidget& window) {
  constexpr int kDockButtons = 44, kStatusMargins = 12, kSpinButtons = 20;
  QStringList found;
  const auto check = [&](const QWidget& widget, const QString& text, int room) {
    if (widget.isVisible() && widget.fontMetrics().horizontalAdvance(QString(text).remove('&')) > room) found << text;
  };
  for (const QTabBar* tabs : window.findChildren<QTabBar*>())
    for (int tab = 0; tab < tabs->count(); ++tab)
      check(*tabs, tabs->tabText(tab),
            tabs->usesScrollButtons() && tabs->parent() != window.findChild<PageStack*>()
                ? tabs->tabRect(tab).width()
                : std::min(tabs->tabRect(tab).width(), tabs->width() - tabs->tabRect(tab).left()));
  for (const QListWidget* list : window.findChildren<QListWidget*>())
    for (int item = 0; !list->wordWrap() && item < list->count(); ++item) check(*list, list->item(item)->text(), list->viewport()->width());
  for (const QDockWidget* dock : window.findChildren<QDockWidget*>()) check(*dock, dock->windowTitle(), dock->width() - kDockButtons);
  for (const QStatusBar* bar : window.findChildren<QStatusBar*>()) check(*bar, bar->currentMessage(), bar->width() - kStatusMargins);
  for (const QAbstractSpinBox* box : window.findChildren<QAbstractSpinBox*>()) check(*box, box->text(), box->width() - kSpinButtons);
  return found;
}

// Cells that are cut say the whole in a tool tip.
QStringList clippedCells(const QWidget& window) {
  constexpr int kMargins = 6, kRows = 40;
  QStringList found;
  for (const QTableView* view : window.findChildren<QTableView*>()) {
    if (!view->isVisible() || view->model() == nullptr) continue;
    for (int row = 0; row < std::min(kRows, view->model()->rowCount()); ++row)
      for (int column = 0; column < view->model()->columnCount(); ++column) {
        const QModelIndex cell = view->model()->index(row, column);
        const QString text = cell.data().toString();
        if (view->fontMetrics().horizontalAdvance(text) > view->columnWidth(column) - kMargins &&
            cell.data(Qt::ToolTipRole).toString().isEmpty())
          found << text;
      }
  }
  return found;
}

// What does not fit where it stands: buttons, labels that neither wrap nor scroll, choices, what empty lines say, headers of columns.
QStringList clippedIn(const QWidget& window) {
  constexpr int kArrow = 24, kMargins = 8;  // of a choice, of a line
  QStringList found;
  for (const QAbstractButton* button : window.findChildren<QAbstractButton*>())
    if (button->isVisible() && !button->text().isEmpty() && button->minimumSizeHint().width() > button->width()) found << button->text();
  for (const QLabel* label : window.findChildren<QLabel*>())
    if (label->isVisible() && !label->wordWrap() && label->sizeHint().width() > label->width() + 1) found << label->text();
  for (const QComboBox* box : window.findChildren<QComboBox*>())
    if (box->isVisible() && !box->isEditable() && box->fontMetrics().horizontalAdvance(box->currentText()) > box->width() - kArrow)
      found << box->currentText();
  for (const QLineEdit* line : window.findChildren<QLineEdit*>())
    if (line->isVisible() && line->text().isEmpty() &&
        line->fontMetrics().horizontalAdvance(line->placeholderText()) > line->width() - kMargins)
      found << line->placeholderText();
  for (const QHeaderView* header : window.findChildren<QHeaderView*>())
    for (int column = 0; header->isVisible() && header->orientation() == Qt::Horizontal && column < header->count(); ++column)
      if (const QString text = header->model()->headerData(column, Qt::Horizontal).toString();
          header->fontMetrics().horizontalAdvance(text) > header->sectionSize(column))
        found << text;
  return found;
}

// Every text of the window that holds nothing of a plan, in both languages.
const QSet<QString>& fixedWords() {
  static const QSet<QString> all = [] {
    QSet<QString> words;
    QFile table(QStringLiteral("gui/translations/zh_CN.tsv"));
    if (!table.open(QIODevice::ReadOnly)) return words;
    for (const QString& line : QString::fromUtf8(table.readAll()).split('\n'))
      if (!line.startsWith('#') && !line.contains('%'))
        for (const QString& side : line.split('\t')) words << side;
    words.remove(QString());
    return words;
  }();
  return all;
}

// A name of any length is cut where there is no room for it, and its tool tip has all of it.
QStringList lostIn(const QWidget& window) {
  QStringList lost = clippedIn(window) + clippedParts(window) + clippedCells(window);
  QStringList fixed;  // words of ours fit; what is cut is what a person or a plan brings along
  for (const QString& one : lost)
    if (fixedWords().contains(one)) fixed << one;
  for (const QWidget* widget : window.findChildren<QWidget*>())
    if (widget->isVisible()) lost.removeAll(widget->toolTip());
  return lost + fixed;
}

// The list of commands and that of keys lie over the window.
void expectListsFit(MainWindow& window) {
  window.commands()->open();
  QTest::qWait(5);
  EXPECT_EQ(clippedParts(window).join('|').toStdString(), "") << "commands at " << window.width();
  EXPECT_LE(window.commands()->geometry().right(), window.width());
  window.commands()->close();
  showKeys(window.actions(), &window);
  auto* keys = window.findChild<QDialog*>();
  ASSERT_NE(keys, nullptr);
  QTest::qWait(5);
  EXPECT_LE(keys->width(), window.width());
  const auto* words = keys->findChild<QTextEdit*>();
  EXPECT_EQ(words->horizontalScrollBar()->maximum(), 0) << "keys at " << window.width();
  delete keys;
}

// All pages, on the screens that people have: 1366 x 768 and 1280 x 720 at 150 %, too.
void expectNothingCutOff(MainWindow& window) {
  for (const QSize size : {QSize(1920, 1050), QSize(1440, 900), QSize(1366, 740), QSize(853, 440)}) {
    window.resize(size);
    for (int page = 0; page < window.pages()->count(); ++page) {
      window.pages()->setCurrentIndex(page);
      QTest::qWait(5);
      EXPECT_EQ(window.size(), size) << "the window is as large as the screen on page " << page;
      EXPECT_EQ(lostIn(window).join('|').toStdString(), "") << size.width() << " x " << size.height() << ", page " << page;
      for (View* view : window.pages()->widget(page)->findChildren<View*>())
        if (view->isVisible()) {
          EXPECT_EQ(misplacedIn(*view).join('|').toStdString(), "")
              << size.width() << " x " << size.height() << ", page " << page << ", " << view->accessibleName().toStdString();
        }
    }
    expectListsFit(window);
  }
  window.resize(1440, 900);
}

struct InChinese {  // before the window is made
  InChinese() { QApplication::installTranslator(&translator); }
  ~InChinese() { QApplication::removeTranslator(&translator); }
  TableTranslator translator;
};

// What is the same in every language: names of the field, of files, of keys, of what a person types; units; Qt's own words, which Qt translates.
const QRegularExpression& names() {
  static const QRegularExpression known(QStringLiteral(
      "^.* – Meshwright$|✓.*|<[^>]*>|&\\w+;"                           // a document, what was chosen, by its name; mark-up
      "|[\\w.~-]*/[\\w./-]*|\\w*\\.(json|gz|bin|pickle)\\b|--[a-z-]+"  // files, options
      "|[\\w*-]+=\\S+|\\w+[.:][\\w*.|]+|\\w+_\\w+"                     // knobs, keys of tasks, examples of what to search for
      "|\\b(Ctrl|Shift|Esc|Return|Enter|Scroll Left|Scroll Right|Float)\\b"
      "|\\b(Meshwright|Hugging "
      "Face|PyTorch|Chrome|JSON|CSV|PNG|SVG|PDF|ZeRO|Pareto|MFU|GPU|CPU|CUDA|token|tokens|rank|config|meshwright|run|a100-80gb-sxm)\\b"
      "|\\b(gpipe|interleaved|zb-\\dp|zbv|v-half|v-min|looped-bfs|dualpipev|csv|mpirun|srun|torchrun|Megatron-LM|Megatron-Bridge|NeMo|"
      "nanotron|"
      "fairseq|Lightning|FairScale|OSS|ShardedDDP|TeraPipe|Seq1F1B|ByteScheduler|"
      "hierarchical|slices|tensors|copies|in place|broadcast|fp16|bf16|"
      "DeepSpeed|Transformers|bitsandbytes|PagedAdamW|unfused|fused softmax|efficient masked|efficient|FlashAttention|cudnn|cuDNN|"
      "Accelerate|torchtitan|torchtune|AZERTY|Dvorak|"
      "gpt2|selective|full|modules|layernorm|mlp|moe|op|adam|flash\\d|logits|HSDP|FSDP\\d?|hpZ|DDP|offload|GiB|MiB|KiB)\\b|\\b\\d\\w+\\b"));
  return known;
}

bool isProfile(const QString& text) {
  static const std::vector<std::string> all[] = {knownClusters(), knownSoftware()};
  const std::string name = text.toStdString();
  const bool listed = std::any_of(std::begin(all), std::end(all),
                                  [&](const auto& some) { return std::find(some.begin(), some.end(), name) != some.end(); });
  return listed || QFile::exists(QString::fromStdString(modelsFolder()) + '/' + text + ".json");
}

// Texts that hold a word of English.
QStringList english(const QStringList& texts) {
  static const QRegularExpression word(QStringLiteral("[A-Za-z]{3,}"));
  QStringList found;
  for (const QString& text : texts)
    if (!isProfile(text) && QString(text).remove(names()).contains(word)) found << text;
  return found;
}

class ChineseJourney : public InChinese, public Journey {
 protected:
  void expectChinese(const char* where) { EXPECT_EQ(english(shownTexts(window_)).join('\n').toStdString(), "") << where; }
};

class EnglishJourney : public Journey {};

TEST_F(EnglishJourney, NothingIsCutOffOnAnyPage) {
  expectNothingCutOff(window_);
  planGpt2();
  fillEveryPage(window_);
  expectNothingCutOff(window_);
}

// "1 microbatches", "1 files": wherever one is counted.
QStringList onesInThePlural(const QStringList& texts) {
  static const QRegularExpression one(QStringLiteral(
      "(?<![\\d.,])\\b1 (allocations|blocks|candidates|chunks|cores|devices|events|files|flows|GPUs|heads|kernels|layers|matches|"
      "microbatches|nodes|pairs|plans|ranks|rows|runs|samples|settings|slices|stages|steps|tasks|tokens|traces)\\b"));
  QStringList found;
  for (const QString& text : texts)
    if (text.contains(one)) found << text;
  return found;
}

TEST_F(EnglishJourney, OneIsNoPlural) {
  EXPECT_EQ(onesInThePlural({"1 microbatches of 4", "11 slices", "2.1 slices", "rank 1 has 2"}), QStringList{"1 microbatches of 4"});
  sim::ParallelPlan plan = examplePlan();
  plan.mesh = {.data = 1, .pipeline = 1, .tensor = 1};
  plan.cluster.devices = 1;
  plan.microbatch_size = plan.workload.global_batch;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  window_.session()->show(plan, Session::Origin::Chosen);
  waitForPlan();
  fillEveryPage(window_);
  static const sim::testing::TemporaryFolder folder;
  sim::testing::put(folder.file("one.json"), document(slice("aten::mm", R"("ts": 1, "dur": 2)")));
  window_.open(QString::fromStdString(folder.file("one.json")));
  waitForAll();
  EXPECT_EQ(onesInThePlural(shownTexts(window_)).join('\n').toStdString(), "");
}

TEST_F(ChineseJourney, NothingIsCutOffOnAnyPage) {
  expectNothingCutOff(window_);
  planGpt2();
  fillEveryPage(window_);
  expectNothingCutOff(window_);
  tour("zh_CN");
  window_.pages()->setCurrentIndex(1);
  picture("timeline_zh_CN");
}

TEST_F(ChineseJourney, NoEnglishIsLeftOnAnyPage) {
  expectChinese("at the start");
  planGpt2();
  choosePipelined(4);
  expectChinese("a plan");
  window_.open(QString::fromStdString(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_chinese", {.factor = 1.5})));
  ASSERT_TRUE(QTest::qWaitFor([this] { return window_.comparePage()->comparison() != nullptr; }, 60000));
  expectChinese("a run");
  AnswersPage* answers = window_.answersPage();
  for (int question = 0; question < answers->questions()->count(); ++question) {
    answers->questions()->setCurrentRow(question);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !answers->isAsking(); }, 60000));
    expectChinese(("answer " + std::to_string(question)).c_str());
  }
  window_.knobs()->findChild<QSpinBox*>("tensor")->setValue(3);  // 25 heads: refused in words
  QTest::qWait(200);
  expectChinese("a refusal");
}

}  // namespace
}  // namespace gui::test
