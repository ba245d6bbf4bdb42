#include "sim/recipe/shell_script.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

// Every command on a line of its own, '?' before one under an undecided condition.
std::string followed(const std::string& text, const Texts& given = {}) {
  std::string all;
  for (const ShellCommand& command : follow_shell(text, "x.sh", given).commands) {
    all += command.is_in_doubt ? "?" : "";
    for (const std::string& word : command.words) all += shown(word) + " ";
    all += "\n";
  }
  return all;
}

TEST(ShellScript, VariablesGrowAndAreGivenFromOutside) {
  const std::string text =
      "TP=4; ARGS=\"--a $TP \"\nARGS+=\"--b\"\nexport PP=${PP:-2}\nLIST=(--c  # why\n  $PP\n)\nLIST+=(--d)\nrun $ARGS ${LIST[@]}";
  EXPECT_EQ(followed(text), "run --a 4 --b --c 2 --d \n");
  EXPECT_EQ(followed(text, {{"TP", "8"}, {"PP", "1"}}), "run --a 8 --b --c 1 --d \n");
}

TEST(ShellScript, ConditionsThatTheTextDecides) {
  const std::string text =
      "SIZE=${1:-7b}\nif [ \"$SIZE\" = 13b ]; then L=40\nelif [[ $SIZE == 7b ]]; then L=32; else L=1; fi\n"
      "case $SIZE in\n  13b|14b) H=5120 ;;\n  7b) H=4096;;\n  *) H=1 ;;\nesac\nrun --l $L --h $H";
  EXPECT_EQ(followed(text), "run --l 32 --h 4096 \n");
  EXPECT_EQ(followed(text, {{"1", "13b"}}), "run --l 40 --h 5120 \n");
}

TEST(ShellScript, ArithmeticChangesVariables) {
  EXPECT_EQ(followed("N=3\nif [ 0 -eq 0 ]; then ((N++)); fi\nrun --n $N"), "run --n 4 \n");
  EXPECT_EQ(followed("N=3\n(( N += 2 * 4 ))\n((M = N - 1))\n((--M))\nrun --n $N --m $M"), "run --n 11 --m 9 \n");
  EXPECT_EQ(followed("N=3\nif [ $WHO = me ]; then ((N++)); fi\nrun --n $N"), "run --n $WHO \n");
  EXPECT_EQ(followed("N=3\n((N += OTHER))\nrun --n $N"), "run --n $N \n");
  EXPECT_EQ(followed("N=0\n((N++)) || run --first\n((N == 1)) && run --second"), "run --first \nrun --second \n");
}

TEST(ShellScript, LetCounts) {
  EXPECT_EQ(followed("N=3\nlet N++\nlet \"M = N * 2\" M-=1\nrun --n $N --m $M"), "run --n 4 --m 7 \n");
  EXPECT_EQ(followed("N=3\nif [ $WHO = me ]; then let N++; fi\nrun --n $N"), "run --n $WHO \n");
  EXPECT_EQ(followed("N=0\nlet N && run --first\nlet N=1 && run --second"), "run --second \n");
}

// A subshell, a function's own variables, those in front of a command: what was set before stands behind them again.
TEST(ShellScript, WhatIsSetForAPartEndsWithIt) {
  for (const char* const part :
       {"(N=7; go there)", "f() { local N=7; }\nf", "N=7 go there", "N=7 f() { true; }", "f() { g; }\ng() { true; }\nN=7 f"})
    EXPECT_THAT(followed("N=4\n" + std::string(part) + "\nrun --n $N"), ::testing::EndsWith("run --n 4 \n")) << part;
  EXPECT_EQ(followed("N=4\nN=7 run --n $N"), "run --n 4 \n");
  EXPECT_EQ(followed("N=4\nf() { run --n $N; }\nN=7 f\nf"), "run --n 7 \nrun --n 4 \n");
  EXPECT_EQ(followed("f() { N=7; }\nN=4\nf\nrun --n $N"), "run --n 7 \n");
}

TEST(ShellScript, ARedirectionAlone) { EXPECT_EQ(followed("> log\nrun --a\n2>/dev/null\n"), "run --a \n"); }

TEST(ShellScript, WhatIsReadNobodySays) {
  for (const char* const reads : {"read -r N", "read -p 'how many' N", "printf -v N '%d' $X", "mapfile -t N < file"})
    EXPECT_EQ(followed("N=4\n" + std::string(reads) + "\nrun --n $N"), "run --n $N \n") << reads;
}

TEST(ShellScript, WhatItDoesNotDecideStaysInDoubt) {
  EXPECT_EQ(followed("A=1\nif [ $MODE = big ]; then A=2; fi\nrun --a $A"), "run --a $MODE \n");
  EXPECT_EQ(followed("A=1\nif [ $MODE = big ]; then A=1; fi\nrun --a $A"), "run --a 1 \n");
  EXPECT_EQ(followed("for n in $ALL; do run --n $n; done"), "?run --n $n \n");
  EXPECT_EQ(followed("if grep -q x /etc/y; then run --a; fi"), "grep -q x /etc/y \n?run --a \n");
}

// What a round sets whatever the word is stands; what it adds adds up.
TEST(ShellScript, ALoopOverWordsIsFollowed) {
  EXPECT_EQ(followed("for n in 1 2; do run --n $n; done"), "run --n $n \n");
  EXPECT_EQ(followed("for n in 4; do run --n $n; done"), "run --n 4 \n");
  EXPECT_EQ(followed("C=0\nFILES=(a b c)\nfor f in ${FILES[@]}; do C=$((C + 1)); KEPT=z3; done\nrun --c $C --kept $KEPT"),
            "run --c 3 --kept z3 \n");
  EXPECT_EQ(followed("for f in *.json; do C=1; done\nrun --c $C"), "run --c $f \n");
  EXPECT_EQ(followed("for f in a b c; do C+=x; break; done\nrun --c $C"), "run --c x \n");
  EXPECT_EQ(followed("L=()\nfor f in ${L[@]}; do run --f; done\nrun --g"), "run --g \n");
  EXPECT_EQ(followed("N=(m7 m13)\nfor i in ${!N[@]}; do D=${N[0]}\nrun --d $D --n ${N[$i]}; done"), "run --d m7 --n $i \n");
}

TEST(ShellScript, WhatIsUnsetIsEmpty) {
  EXPECT_EQ(followed("OLD=1\nunset OLD\nif [ -n \"${OLD+x}\" ]; then A=--a; fi\nrun $A ${OLD-b}"), "run $A b \n");
  EXPECT_EQ(followed("OLD=1\nunset OLD\nrun ${OLD:+--old} --a"), "run --a \n");
  EXPECT_EQ(followed("OLD=1\nif [ $NEW = 1 ]; then unset OLD; fi\nrun --a $OLD"), "run --a $NEW \n");
}

TEST(ShellScript, FunctionsAndCommandsInWords) {
  EXPECT_EQ(followed("launch() {\n  run --a $1\n}\nlaunch 4"), "run --a 4 \n");
  EXPECT_EQ(followed("CMD=\"python a.py --x 1\"\nbash -c \"$CMD --y \\$Z\""),
            "python a.py --x 1 --y $Z \nbash -c python a.py --x 1 --y $Z \n");
  EXPECT_EQ(followed("CMD='run --x 1'; echo $CMD; eval $CMD"), "run --x 1 \n");
}

TEST(ShellScript, ArgumentsAreTakenOneByOne) {
  const std::string text =
      "TP=1\nwhile [[ $# -gt 0 ]]; do\n  case \"$1\" in\n    --tp) TP=$2; shift 2 ;;\n    -f) FLAG=--f; shift ;;\n    *) break ;;\n  esac\n"
      "done\nrun --tp $TP $FLAG $@";
  EXPECT_EQ(followed(text, {{"1", "--tp"}, {"2", "4"}, {"3", "-f"}, {"4", "x"}}), "run --tp 4 --f x \n");
  EXPECT_EQ(followed("TP=2\n" + text.substr(5), {}), "run --tp 2 $FLAG \n");
}

TEST(ShellScript, OptionsOfALetter) {
  const std::string text =
      "T=1; P=1\nwhile getopts \"t:p:\" o; do\n  case $o in\n    t) T=$OPTARG ;;\n    p) P=${OPTARG} ;;\n  esac\ndone\n"
      "shift $((OPTIND - 1))\nrun --t $T --p $P $1";
  EXPECT_EQ(followed(text, {{"1", "-p"}, {"2", "8"}, {"3", "here"}}), "run --t 1 --p 8 here \n");
  EXPECT_EQ(followed("f() { shift; run --n $# $1; }\nset -- a b c\nf x y\nrun $2"), "run --n 1 y \nrun b \n");
}

// A loop that takes nothing away is left in doubt.
TEST(ShellScript, ALoopThatGoesNowhere) {
  EXPECT_EQ(followed("A=1\nwhile [ $# -gt 0 ]; do A=$1; done\nrun --a $A", {{"1", "x"}}), "run --a x \n");
  EXPECT_EQ(followed("while true; do run --a; done"), "?run --a \n");
}

TEST(ShellScript, ScriptsThatItStarts) {
  const std::map<std::string, std::string> files = {{"env.sh", "TP=4\nf() { run --f; }"},
                                                    {"in/go.sh", "PP=${PP:-1}\nrun --tp ${TP:-1} --pp $PP $1 $2"}};
  const OtherScript other = [&](const std::string& path) {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
  const auto commands = [&](const std::string& text) {
    std::string all;
    for (const ShellCommand& command : follow_shell(text, "x.sh", {}, other).commands) {
      for (const std::string& word : command.words) all += shown(word) + " ";
      all += "\n";
    }
    return all;
  };
  EXPECT_EQ(commands("source env.sh\nf\nrun --tp $TP"), "run --f \nrun --tp 4 \n");
  EXPECT_EQ(commands("TP=2\nPP=8 bash -x in/go.sh --a 5\nrun $1 $TP"), "run --tp 1 --pp 8 --a 5 \nrun $1 2 \n");
  EXPECT_EQ(commands("export TP=2\n. gone.sh\nbash in/go.sh"), ". gone.sh \nrun --tp 2 --pp 1 $1 $2 \n");
}

TEST(ShellScript, RedirectionsAndDocuments) {
  const ShellScript script =
      follow_shell("STAGE=1\nF=ds.json\ncat <<EOT > $F\n{\"stage\": $STAGE}\nEOT\nrun --c $F 2>&1 | tee log\n", "x.sh");
  EXPECT_EQ(script.documents.at("ds.json"), "{\"stage\": 1}\n");
  EXPECT_THAT(script.commands.at(1).words, ::testing::ElementsAre("run", "--c", "ds.json"));
}

TEST(ShellScript, NothingRunsOnForEver) {
  EXPECT_THROW(followed("f() { f; f; }\nf"), InputError);
  std::string grows = "A=xxxxxxxxxxxxxxxx\n";
  for (int time = 0; time < 40; ++time) grows += "A=$A$A\n";
  EXPECT_THROW(followed(grows), InputError);
  for (const char* const broken : {"if", "case x in", ")", "((", "run \"", "f() {", "cat <<EOT", "while [ ", "A=(", "${", "$((", "| && ;;"})
    followed(broken);
}

// What is set there is named by the condition that is open, not by the one within it that the text decides.
TEST(ShellScript, AnOpenConditionOutsideNamesWhatIsSetInside) {
  const std::string text =
      "L=none\nN=1\nif [[ $1 = small ]]; then\n  if [[ $L = none ]]; then L=8; fi\n  case $N in 1) M=2 ;; esac\nfi\nrun --l $L --m $M";
  EXPECT_EQ(followed(text), "run --l $1 --m $1 \n");
  EXPECT_EQ(followed(text, {{"1", "small"}}), "run --l 8 --m 2 \n");
}

// Somebody is to fill it in: no redirection, which would swallow the option behind it.
TEST(ShellScript, WhatIsToBeFilledInIsAWord) {
  EXPECT_EQ(followed("run --save <PATH TO CHECKPOINTS> --fp16"), "run --save <PATH TO CHECKPOINTS> --fp16 \n");
  EXPECT_EQ(followed("run --a 1 <In.txt >out --fp16"), "run --a 1 --fp16 \n");
}

// Of `a && b || c`: what is skipped decides nothing.
TEST(ShellScript, AChainGoesByTheLastThatRan) {
  const std::string text = "[[ $1 = on ]] && MODE=yes || MODE=no\nrun --m $MODE";
  EXPECT_EQ(followed(text, {{"1", "on"}}), "run --m yes \n");
  EXPECT_EQ(followed(text, {{"1", "off"}}), "run --m no \n");
  EXPECT_EQ(followed("case x in x) [ 1 = 1 ] && A=1 || A=2 ;; esac\nrun --a $A"), "run --a 1 \n");
  EXPECT_EQ(followed("A=1\n[ $N = 1 ] && A=2 || A=3\nrun --a $A"), "run --a $N \n");
}

// A profiler around a command, under a condition: the command's options are what they were.
TEST(ShellScript, WhatMayWrapACommandLeavesItsOptions) {
  const std::string text = "CMD='python a.py --x 1'\nif [ $WATCH = 1 ]; then CMD=\"nsys profile $CMD\"; fi\n$CMD";
  EXPECT_THAT(followed(text), ::testing::StartsWith("python a.py --x 1 "));
}

TEST(ShellScript, ScriptsThatNobodyHasAreNamed) {
  const auto nobody = [](const std::string&) { return std::optional<std::string>(); };
  EXPECT_THAT(follow_shell("source env.sh\n. ./sizes.sh\nbash other.sh\n", "x.sh", {}, nobody).missing,
              ::testing::ElementsAre("env.sh", "./sizes.sh"));
}

// What is not known has spaces of its own, and is one word, also where a command is read a second time.
TEST(ShellScript, WhatIsOpenStaysAWordWhenReadAgain) {
  EXPECT_EQ(followed("ARGS=\"--x $((8 / N)) --y $(nproc --all) --z 1\"\neval python a.py $ARGS"),
            "python a.py --x ((8/$N)) --y $(nproc --all) --z 1 \n");
}

// HERE=$(cd ... && pwd): where a script lies is not known, and what it is called is.
TEST(ShellScript, AScriptInAFolderThatNobodyKnows) {
  const auto beside = [](const std::string& path) {
    return path.ends_with("/common.sh") ? std::optional<std::string>(": ${N:=8}\n") : std::nullopt;
  };
  const ShellScript script = follow_shell("HERE=$(cd x && pwd)\nsource \"$HERE/../common.sh\"\nrun --n $N\n", "x.sh", {}, beside);
  ASSERT_EQ(script.commands.size(), 1U);
  EXPECT_EQ(script.commands.front().words.back(), "8");
  EXPECT_THAT(follow_shell("source \"$HERE/other.sh\"\nrun\n", "x.sh", {}, beside).missing, ::testing::SizeIs(1));
}

// A job that a script writes, and what it hands to whoever starts jobs.
TEST(ShellScript, ScriptsThatAScriptWritesAreFollowed) {
  const std::string job = "srun python a.py --n $N\n";
  EXPECT_EQ(followed("N=4\ncat > job.sh <<EOF\n" + job + "EOF\nsbatch job.sh\n"), "cat \nsrun python a.py --n 4 \n");
  EXPECT_EQ(followed("N=4\nsbatch --nodes 2 <<EOF\n" + job + "EOF\n"), "srun python a.py --n 4 \n");
  EXPECT_EQ(followed("N=4\nsbatch <<'EOF'\nN=8\n" + job + "EOF\n"), "srun python a.py --n 8 \n");
  EXPECT_EQ(followed("N=2\nbash <<'EOF'\nN=8\nEOF\nrun --n $N\n"), "run --n 2 \n");
  EXPECT_EQ(followed("cat > go.sh <<'EOF'\nrun $1\nEOF\n./go.sh 2\n"), "cat \nrun 2 \n");
  EXPECT_EQ(followed("cat > job <<'EOF'\nrun $1 $SLURM_NNODES\nEOF\nsbatch -J a -N 4 ./job 2\n"), "cat \nrun 2 4 \n");
}

// A document is a script for whoever ends in a shell, and for what reads it behind a pipe.
TEST(ShellScript, ADocumentThatALaunchersShellReads) {
  EXPECT_EQ(followed("srun -N 2 bash <<EOF\nrun --a 1\nEOF"), "run --a 1 \n");
  EXPECT_EQ(followed("A=2\nLOG=x srun bash -s <<'END'\nrun --a $A\nEND"), "run --a $A \n");
  EXPECT_EQ(followed("export A=2\ndocker run -i image /bin/bash <<'END'\nrun --a $A\nEND"), "run --a 2 \n");
  EXPECT_EQ(followed("cat <<EOF | srun -n 4 bash\nrun --a 1\nEOF"), "run --a 1 \n");
  EXPECT_EQ(followed("cat <<EOF | tee notes\nrun --a 1\nEOF"), "cat \n");
  EXPECT_EQ(followed("IFS= read -r -d '' LINE <<EOF\nrun --a 1\nEOF\nsrun bash -c \"$LINE\""), "run --a 1 \nsrun bash -c run --a 1\n \n");
}

// What $(...) prints where a function, echo or a document says it; what another command prints is asked for.
TEST(ShellScript, WhatACommandPrints) {
  EXPECT_EQ(followed("width() { echo 4; }\nrun --a $(width)"), "run --a 4 \n");
  EXPECT_EQ(followed("size() {\n  local all=$1\n  if [ $all = 8 ]; then echo 2; return; fi\n  echo 1\n}\nrun --a $(size 8) --b `size 4`"),
            "run --a 2 --b `size 4` \n");
  EXPECT_EQ(followed("more() { echo --a 1 --b; }\nrun $(more)"), "run --a 1 --b \n");
  EXPECT_EQ(followed("A=$(cat <<EOF\n--a 1\n--b\nEOF\n)\nrun $A"), "run --a 1 --b \n");
  EXPECT_EQ(followed("A=1\nof() { A=2; echo $A; }\nB=$(of)\nrun --a $A --b $B"), "run --a 1 --b 2 \n");
  EXPECT_EQ(followed("of() { grep a b; }\nrun --a $(of)"), "run --a $(of) \n");
  EXPECT_EQ(followed("run --a $(echo a b | cut -c 1)"), "run --a $(echo a b | cut -c 1) \n");
  EXPECT_EQ(followed("of() { if [ $X = 1 ]; then echo 1; else echo 2; fi; }\nrun --a $(of)"), "run --a $(of) \n");
}

// `[` of a line whose bracket is missing fails, and the script goes on below it.
TEST(ShellScript, ATestThatNoBracketCloses) {
  EXPECT_EQ(followed("K=\nif [ -z \"$K\"]; then A=1; else A=2; fi\nrun --a $A"), "run --a 2 \n");
  EXPECT_EQ(followed("if [[ -z \"$K\" &&\n  1 == 1 ]]; then A=1; else A=2; fi\nrun --a $A"), "run --a 1 \n");
}

// A name may have more letters than a variable's; what nobody calls is not followed.
TEST(ShellScript, FunctionsThatNobodyCalls) {
  const std::string text = "common () {\n  run.py --a 1 \"$@\"\n}\ntrain_1.3B () {\n  common --b 2\n}\n";
  const ShellScript alone = follow_shell(text, "x.sh");
  EXPECT_TRUE(alone.commands.empty());
  EXPECT_EQ(alone.uncalled, (std::vector<std::string>{"common", "train_1.3B"}));
  const ShellScript called = follow_shell(text + "train_1.3B\n", "x.sh");
  ASSERT_EQ(called.commands.size(), 1u);
  EXPECT_EQ(called.commands.front().words, (std::vector<std::string>{"run.py", "--a", "1", "--b", "2"}));
  EXPECT_TRUE(called.uncalled.empty());
}

TEST(ShellScript, ACommandInAWordWithoutOptions) {
  const ShellScript script = follow_shell("srun bash -c \"A=1 cd there;\n  python train.py model.a=4\"\n", "x.sh");
  ASSERT_FALSE(script.commands.empty());
  EXPECT_TRUE(std::ranges::any_of(script.commands, [](const ShellCommand& one) {
    return one.words == std::vector<std::string>{"python", "train.py", "model.a=4"};
  }));
}

TEST(ShellScript, NothingRunsBehindAnExit) {
  EXPECT_EQ(follow_shell("a.py --x 1\nexit\na.py --x 2\n", "x.sh").commands.size(), 1U);
  EXPECT_EQ(follow_shell("a.py --x 1\nexit 0\na.py --x 2\n", "x.sh").commands.size(), 1U);
  EXPECT_EQ(follow_shell("if [ $# -lt 1 ]; then exit 1; fi\na.py --x $1\n", "x.sh").commands.size(), 1U);  // a check
  EXPECT_EQ(follow_shell("f() { exit 0; }\na.py --x 2\n", "x.sh").commands.size(), 1U);
}

}  // namespace
}  // namespace sim
