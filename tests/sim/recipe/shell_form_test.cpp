#include <gmock/gmock.h>

#include "sim/recipe/settings.h"

namespace sim {
namespace {

std::string shell_settings(const std::string& text) {
  std::string all;
  for (const RecipeSetting& setting : read_shell(text, "x.sh").settings) all += setting.key + "=" + shown(setting.value) + " ";
  return all;
}

TEST(ShellForm, OptionsOfOneLine) {
  EXPECT_EQ(shell_settings("torchrun pretrain.py --a 4 --flag --b=5 --c 'x y'"), "a=4 flag=true b=5 c=x y ");
}

TEST(ShellForm, ScriptsAsPeopleWriteThem) {
  EXPECT_EQ(
      shell_settings("#!/bin/bash\nTP=4   # tensor\nPP=${SIZE}\nARGS=(\n  --tensor-model-parallel-size ${TP} \n  --swiglu\n)\nMORE=\"x\"\n"
                     "python a.py ${ARGS[@]} \\\n  --pipeline-model-parallel-size $PP --lr -1e-4"),
      "tensor-model-parallel-size=4 swiglu=true pipeline-model-parallel-size=$SIZE lr=-1e-4 ");
}

TEST(ShellForm, AVariableBehindAValueMayHoldMore) {
  const RecipeReading reading = read_shell("run.py --a 1 $MORE --b $(date +%s) --c", "x.sh");
  EXPECT_EQ(reading.settings.front().value, "1");
  ASSERT_EQ(reading.unknown.size(), 1u);
  EXPECT_EQ(reading.unknown.front().where, "MORE");
}

// By its name a variable holds options, and the flag before it has no value: what a list of flags would say of each program.
TEST(ShellForm, AVariableBehindAFlagMayHoldOptions) {
  const RecipeReading reading =
      read_shell("run.py --log-throughput $EXTRA_ARGS --do_train $MORE --x ${moe_options} --save $FOLDER --c\n", "x.sh");
  ASSERT_EQ(reading.unknown.size(), 3U);
  EXPECT_EQ(reading.unknown.front().where, "EXTRA_ARGS");
  EXPECT_EQ(reading.unknown.back().where, "moe_options");
  EXPECT_EQ(reading.settings.front().value, "true");
  EXPECT_EQ(shown(reading.settings[3].value), "$FOLDER");
}

// A shell passes the first line alone, and looks for a command of the second's name.
TEST(ShellForm, ALineBrokenWithoutABackslash) {
  const RecipeReading reading = read_shell("run.py --a 1 --b 2 --c 3\n  --d 4\n", "x.sh");
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown.front().where, "--d");
  EXPECT_EQ(reading.settings.size(), 3U);
  for (const std::string text : {"run.py --a 1\n  --b 2 \\\n  --c 3\n", "launch --a 1\n  --b 2 run.py --c 3 --d 4\n"})
    EXPECT_THROW(read_shell(text, "x.sh"), InputError) << text;
  EXPECT_TRUE(read_shell("run.py --a 1 \\\n  --c 3\n", "x.sh").unknown.empty());
}

// argparse knows names by two dashes; Hydra's overrides stand for themselves.
TEST(ShellForm, WordsThatAreNoValues) {
  const RecipeReading reading = read_shell("torchrun -np 2 run.py --a 4 -use-fused-b --c -s en --d +net.frozen=True ++e=2\n", "x.sh");
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown.front().where, "-use-fused-b");
  EXPECT_EQ(shell_settings("run.py --d +net.frozen=True ++e=2 --f 1+1=2"), "d=true net.frozen=True e=2 f=1+1=2 ");
}

// `megatron sft` starts no script: a file in Python is the value of an option, and options before it have all their words.
TEST(ShellForm, APythonFileIsNoProgramToThem) {
  EXPECT_EQ(shell_settings("megatron sft --modules a b --register mine.py --c 1"), "modules=a b register=mine.py c=1 ");
  EXPECT_EQ(shell_settings("torchrun --nproc_per_node 2 mine.py --modules a b"), "nproc_per_node=2 modules=a b ");
}

TEST(ShellForm, AVariableThatBeginsAPathHoldsNoOptions) {
  const RecipeReading reading = read_shell("run.py --a 4 $HERE/train.py --b 5 $MORE\n", "x.sh");
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown.front().where, "MORE");
}

TEST(ShellForm, WhatIsWrittenIsReadAgain) {
  const RecipeSettings settings = {{"layout", "Et*2|(t|)*3L"}, {"flag", "true"}, {"lr", "0.0003"}};
  const std::string text = shell_text({"t", {}}, settings, "run.py");
  EXPECT_EQ(shell_settings(text), "layout=Et*2|(t|)*3L flag=true lr=0.0003 ");
}

// What may stand behind a flag is told, though the flag has no value.
TEST(ShellForm, OptionsThatAConditionAddsAreTold) {
  const RecipeReading read = read_shell("A=' --x 1 --flag'\nif [ $MODE = big ]; then A+=' --y 2'; fi\npython run.py $A\n", "x.sh");
  ASSERT_EQ(read.settings.size(), 2U);
  ASSERT_EQ(read.unknown.size(), 1U);
  EXPECT_EQ(read.unknown[0].where, "MODE");
}

// Who watches a command, or says where it runs, has options of its own.
TEST(ShellForm, OptionsBeforeTheLauncherAreNotTheCommands) {
  EXPECT_EQ(shell_settings("numactl --membind=0-3 torchrun --nproc-per-node 8 run.py --a 1"), "nproc-per-node=8 a=1 ");
  EXPECT_EQ(shell_settings("nsys profile --trace=cuda /usr/bin/python3 run.py --a 1"), "a=1 ");
  EXPECT_EQ(shell_settings("run.py --a 1 --kind megatron --b 2"), "a=1 kind=megatron b=2 ");
  EXPECT_EQ(shell_settings("./run --a 1 --kind deepspeed --b 2"), "a=1 kind=deepspeed b=2 ");
  EXPECT_EQ(read_shell("numactl --membind=0 swift sft --a 1", "x.sh").command, "numactl --membind=0 swift sft --a 1");
}

TEST(ShellForm, OptionsOfSrunAreNotFairseqs) { EXPECT_EQ(shell_settings("srun --label --nodes=8 fairseq-train data --a 1"), "a=1 "); }

TEST(ShellForm, AShortOptionEndsAValue) { EXPECT_EQ(shell_settings("python run.py --a 1 -s 3 --flag -q --b -2"), "a=1 flag=true b=-2 "); }

// A variable among options, which nobody sets: what it holds is not read, and the script that may set it is named.
TEST(ShellForm, AVariableAmongOptionsIsTold) {
  const RecipeReading read = read_shell("source env.sh\npython run.py $MORE --a 1 -s $FROM --b $B\n", "x.sh");
  ASSERT_EQ(read.unknown.size(), 1U);
  EXPECT_EQ(read.unknown[0].where, "MORE");
  EXPECT_THAT(read.unknown[0].remedy, ::testing::HasSubstr("have env.sh beside this file"));
}

// For a shell the command ends there, and what stands behind are commands that do not exist.
TEST(ShellForm, ACommentInTheMiddleOfACommand) {
  const RecipeReading reading = read_shell("run.py --a 1 \\\n  # about b\n  --b 2 --c 3 \\\n  --d 4\n", "x.sh");
  ASSERT_EQ(reading.settings.size(), 1u);
  EXPECT_EQ(reading.settings.front().key, "a");
  ASSERT_EQ(reading.unknown.size(), 1u);
  EXPECT_NE(reading.unknown.front().problem.find("a comment stands between the lines"), std::string::npos);
  EXPECT_FALSE(read_shell("run.py --a 1 \\\n  # about b\n  # and c\n  $MORE\n", "x.sh").unknown.empty());
  for (const std::string end : {"", "\ncp b c\n", "rm -rf b\n"})  // nothing of the command stands behind it
    EXPECT_TRUE(read_shell("run.py --a 1 \\\n  # --b 2 \\\n" + end, "x.sh").unknown.empty()) << end;
  EXPECT_TRUE(read_shell("run.py --a 1  # about a\nwalk.py --a 1 \\\n  --b 2\n", "x.sh", {}, {}).unknown.empty());
}

TEST(ShellForm, WhatACommandPrintsIsAskedForByItsVariable) {
  EXPECT_EQ(shell_settings("N=$(nproc)\nM=`hostname | wc -l`\nrun.py --a $N --b $((64 / N / M)) --c $(nproc)"),
            "a=$N b=((64/$N/$M)) c=$(nproc) ");
}

TEST(ShellForm, WhatFetchesIsNoTraining) {
  EXPECT_EQ(shell_settings("hf download --a 1 --b 2 --c 3 --d 4\nrun.py --a 5"), "a=5 ");
  EXPECT_EQ(read_shell("pip install x\naxolotl train run.yaml\n", "x.sh").command, "axolotl train run.yaml");
}

// For another script, which sources it.
TEST(ShellForm, OptionsOfVariablesWithoutACommand) {
  const RecipeReading reading = read_shell("SIZE=4\nA=(\n  --a $SIZE\n  --flag\n)\nB=\"--b 2 \\\n  --c $N\"\nNAME=x\n", "x.sh");
  EXPECT_EQ(reading.settings, (RecipeSettings{{"a", "4"}, {"flag", "true"}, {"b", "2"}, {"c", unknown_value("N")}}));
  ASSERT_EQ(reading.unknown.size(), 1u);
  EXPECT_EQ(reading.unknown.front().remedy, "give the script that starts it");
  EXPECT_EQ(shell_settings("A='--a 1'\nuv run train.py --b 2"), "b=2 ");
}

// argparse gives --a=1 its one value; what follows is of no option.
TEST(ShellForm, AWordBehindAValueWithAnEqualsSign) {
  const RecipeReading reading = read_shell("python run.py --a=1 two --b 3 four\n", "x.sh");
  EXPECT_EQ(reading.settings, (RecipeSettings{{"a", "1"}, {"b", "3 four"}}));
  ASSERT_EQ(reading.unknown.size(), 1u);
  EXPECT_EQ(reading.unknown.front().where, "two");
  EXPECT_EQ(read_shell("swift sft --a=1 two\n", "x.sh").unknown.size(), 1u);  // a command without a script
  EXPECT_TRUE(read_shell("litgpt pretrain --a=1 pythia\n", "x.sh").unknown.empty());
  for (const std::string position : {"data/bin", "a.yaml", "key=value", "-1"})
    EXPECT_TRUE(read_shell("python run.py --a=1 " + position + "\n", "x.sh").unknown.empty()) << position;
}

// In front of the program, too: they say how many processes there are.
TEST(ShellForm, OptionsOfALauncherInAVariableThatNobodySets) {
  const RecipeReading reading = read_shell("torchrun $LAUNCH run.py --a 1\n", "x.sh");
  ASSERT_EQ(reading.unknown.size(), 1u);
  EXPECT_EQ(reading.unknown.front().where, "LAUNCH");
}

TEST(Shell, AnotherCommandWithFewerOptionsIsTold) {
  const std::string script = "torchrun tune.py --a 1 --b 2 --c 3 --d 4 --e 5 --f 6 --g 7\ntorchrun second.py --a 1 --b 2 --z 3\n";
  const RecipeReading reading = read_shell(script, "x.sh");
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_THAT(reading.unknown.front().problem, ::testing::HasSubstr("second.py, which says otherwise --z 3"));
  EXPECT_EQ(reading.settings.size(), 7U);
}

// What it says otherwise, however little; of another program a look at the data has as much.
TEST(Shell, ASecondCommandOfTheSameProgramIsTold) {
  const std::string first = "torchrun tune.py --a 1 --b 2 --c 3 --d 4 --e 5\n";
  const auto told = [&](const std::string& second) {
    const RecipeReading reading = read_shell(first + second, "x.sh");
    return reading.unknown.empty() ? "" : reading.unknown.front().problem;
  };
  EXPECT_THAT(told("torchrun tune.py --a 2\n"), ::testing::HasSubstr("tune.py, which says otherwise --a 2"));
  EXPECT_EQ(told(first), "");
  EXPECT_EQ(told("python look.py --a 2\n"), "");
  EXPECT_THROW(told("torchrun other.py --a 1 --b 2 --c 3 --d 4 --e 5\n"), InputError);
}

// What a loop reads, line by line, is asked for by the list that it goes into.
TEST(Shell, OptionsThatALoopReadsAreAskedForByTheirList) {
  const RecipeReading reading = read_shell(
      "L=()\nwhile IFS= read -r line; do\n  if [[ $line == --* ]]; then L+=(\"$line\"); fi\ndone <<< \"$M\"\nrun.py ${L[@]} --a 1\n",
      "x.sh");
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown.front().where, "L");
}

// Whether a file is there, no variable says: what is set under it is asked for by its own name.
TEST(Shell, WhatAConditionOnAFileSetsIsAskedForByItsName) {
  const RecipeReading reading = read_shell("A='--a 1 --f'\n[ -f $DIR/b.env ] && A=\"$A --b 2\"\nrun.py $A\n", "x.sh");
  EXPECT_EQ(reading.settings, (RecipeSettings{{"a", "1"}, {"f", "true"}}));
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown.front().where, "A");
  EXPECT_THAT(reading.unknown.front().remedy, ::testing::HasSubstr("--set A="));
  const RecipeReading command = read_shell("[ -d $DIR ] && run.py --a 1\n", "x.sh");
  ASSERT_EQ(command.unknown.size(), 1U);
  EXPECT_THAT(command.unknown.front().problem, ::testing::HasSubstr("does not decide: [ -d $DIR ]"));
  EXPECT_THAT(command.unknown.front().remedy, ::testing::HasSubstr("delete the condition"));
}

TEST(Shell, ACommandThatIsComputedIsNamed) {
  const RecipeReading reading = read_shell("LINE=$(make a b)\nbash -c \"$LINE\"\n", "x.sh");
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_EQ(reading.unknown.front().where, "LINE");
}

TEST(Shell, VariablesThatNoOptionTakesAreNamed) {
  const RecipeReading reading = read_shell("WIDE=${WIDE:-4}\nN=2\nARGS=\"--layers $N --heads 4\"\n", "x.sh");
  ASSERT_EQ(reading.unknown.size(), 1U);
  EXPECT_THAT(reading.unknown.front().problem, ::testing::HasSubstr("without WIDE, which"));
}

TEST(Shell, ACommandInAWordBehindAnOptionWithItsValue) {
  EXPECT_EQ(
      read_shell("submit --name=a \"train.py --lr 1\"\n", "x.sh", {}, [](const std::string& key) { return key == "lr"; }).settings.size(),
      1U);
}

// The same start with another file behind it: which one is meant nobody says.
TEST(Shell, TwoStartsWithAFileEach) {
  const std::string start = "accelerate launch -m axolotl.cli.train ";
  EXPECT_THROW(read_shell(start + "a.yml\n" + start + "b.yml\n", "x.sh"), InputError);
  EXPECT_NO_THROW(read_shell(start + "a.yml\n" + start + "a.yml\n", "x.sh"));
  const RecipeReading bare = read_shell("mine train a.yml\nmine train b.yml\nmine merge b.yml\n", "x.sh");
  ASSERT_EQ(bare.unknown.size(), 1U);
  EXPECT_THAT(bare.unknown.front().problem, ::testing::HasSubstr("which is not read: mine train b.yml"));
}

}  // namespace
}  // namespace sim
