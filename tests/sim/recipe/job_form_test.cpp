#include "sim/recipe/job_form.h"

#include <fstream>

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

std::string script_of(const std::string& text) { return script_of_job(text, "job.yaml").value_or(""); }
RecipeContext on_gpus(std::int32_t devices) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices})};
}

// Words of a container, behind a service that is none of the training.
TEST(JobForm, ATrainingInAContainerOfKubernetes) {
  const std::string text =
      "kind: Service\nmetadata:\n  name: store\n---\nkind: Deployment\nspec:\n  containers:\n    - image: store\n      command: [store, "
      "--data-dir, "
      "/data]\n---\nkind: PyTorchJob\nspec:\n  Worker:\n    replicas: 2\n    template:\n      containers:\n        - name: pytorch\n       "
      "   image: "
      "trainer\n          env:\n            - name: TP\n              value: \"2\"\n            - name: SECRET\n              valueFrom: "
      "{}\n"
      "          command: [torchrun, --nproc_per_node=4, --nnodes=2]\n          args:\n            - pretrain_gpt.py\n"
      "            - --tensor-model-parallel-size=$(TP)\n            - --micro-batch-size=${MICRO}\n            - --global-batch-size=16\n"
      "            - --seq-length=32\n            - --bf16\n";
  RecipeContext context = on_gpus(8);
  EXPECT_THAT(testing::refusal_of(text, context), HasSubstr("--set MICRO="));
  context.given = {{"MICRO", "1"}};
  const ImportedPlan plan = testing::imported(text, context);
  EXPECT_EQ(plan.program, &kMegatron);
  EXPECT_EQ(plan.plan.mesh.tensor, 2);
  EXPECT_EQ(plan.plan.num_microbatches(), 4);
}

TEST(JobForm, ATaskOfSkyPilotKnowsItsSize) {
  const std::string text =
      "resources:\n  accelerators: {A100: 4}\nnum_nodes: 2\nenvs:\n  SEQ: 32\n  TOKEN:\nsetup: |\n  pip install transformers\nrun: |\n"
      "  N=$(($SKYPILOT_NUM_NODES * $SKYPILOT_NUM_GPUS_PER_NODE))\n  torchrun --nnodes $SKYPILOT_NUM_NODES --nproc_per_node "
      "$SKYPILOT_NUM_GPUS_PER_NODE train.py --per_device_train_batch_size 2 --max_length $SEQ --gradient_accumulation_steps $((64 / N / "
      "2)) "
      "--bf16 --fsdp full_shard\n";
  const ImportedPlan plan = testing::imported(text, on_gpus(8));
  EXPECT_EQ(plan.plan.workload.sequence, 32);
  EXPECT_EQ(plan.plan.num_microbatches(), 4);
  EXPECT_EQ(plan.plan.zero_stage, 3);
  EXPECT_THAT(testing::refusal_of(text, on_gpus(4)), HasSubstr("starts 8 processes"));
}

TEST(JobForm, CommandsInLines) {
  EXPECT_THAT(script_of("type: task\nnodes: 2\nenv:\n  - TOKEN\n  - MODEL=llama\ncommands:\n  - pip install trl\n  - accelerate launch\n"
                        "    train.py --a 1\nresources:\n  gpu: 80GB:8\n"),
              ::testing::AllOf(HasSubstr("export MODEL=llama\n"), HasSubstr("DSTACK_GPUS_NUM=$((8 * 2))"),
                               HasSubstr("pip install trl\naccelerate launch train.py --a 1\n"), ::testing::Not(HasSubstr("TOKEN"))));
}

TEST(JobForm, AShellInAContainerAndAServiceOfCompose) {
  EXPECT_THAT(script_of("kind: Job\nspec:\n  containers:\n  - image: a\n    command: [/bin/bash, -xc]\n    args:\n    - |\n      cd /work\n"
                        "      python train.py --a 1\n"),
              HasSubstr("cd /work\npython train.py --a 1\n"));
  EXPECT_THAT(script_of("services:\n  trainer:\n    image: a\n    environment:\n      N: 4\n    command: python train.py --n ${N}\n"),
              HasSubstr("export N=4\npython train.py --n ${N}\n"));
}

TEST(JobForm, AFileOfAProgramIsNoJob) {
  EXPECT_EQ(script_of("base_model: a\nsequence_len: 32\n"), "");
  EXPECT_EQ(script_of("run:\n  name: mine\ntrainer:\n  devices: 8\n"), "");
  EXPECT_EQ(script_of("python train.py --run: 4\n"), "");
}

// All that the command says stands in a file.
TEST(JobForm, AFileBesideTheJob) {
  std::ofstream(testing::recipe_folder() + "/tuned.yaml")
      << "base_model: llama\nsequence_len: 32\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\nbf16: true\n";
  const ImportedPlan plan = testing::imported(
      "resources:\n  accelerators: A100:1\nrun: |\n  hub login\n  accelerate launch -m axolotl.cli.train /configs/tuned.yaml\n",
      on_gpus(1));
  EXPECT_EQ(plan.program, &kTrainer);
  EXPECT_EQ(plan.plan.num_microbatches(), 4);
}

TEST(JobForm, ACommandThatAnImageIsNotNamedFor) {
  EXPECT_THAT(script_of("$schema: of/jobs.json\ncommand: >-\n  python train.py\n  --a ${{inputs.a}}\nenvironment: azureml:some@latest\n"),
              HasSubstr("python train.py --a ${{inputs.a}}"));
}

// What an operator passes to torchrun: of nodes and processes each that the command does not say.
TEST(JobForm, ProcessesByTheOperator) {
  const auto job = [](const std::string& command) {
    return "kind: PyTorchJob\nspec:\n  nprocPerNode: \"4\"\n  pytorchReplicaSpecs:\n    Master:\n      replicas: 1\n      template:\n"
           "        spec:\n          containers:\n            - image: a\n              command: [" +
           command +
           "]\n"
           "    Worker:\n      replicas: 3\n";
  };
  EXPECT_THAT(script_of(job("torchrun, train.py, --a, 1")),
              ::testing::AllOf(HasSubstr("torchrun --nnodes 4 --nproc_per_node 4 train.py"), HasSubstr("export PET_NPROC_PER_NODE=4")));
  EXPECT_THAT(script_of(job("torchrun, --nproc_per_node=2, train.py")), HasSubstr("torchrun --nnodes 4 --nproc_per_node=2 train.py"));
  EXPECT_THAT(script_of(job("torchrun, --nnodes=2, train.py")), HasSubstr("torchrun --nproc_per_node 4 --nnodes=2 train.py"));
  std::string open = job("torchrun, --nproc-per-node=8, train.py");
  open.erase(open.find("  nprocPerNode"), std::string("  nprocPerNode: \"4\"\n").size());
  EXPECT_THAT(script_of(open), ::testing::AllOf(HasSubstr("torchrun --nnodes 4 --nproc-per-node=8 train.py"),
                                                ::testing::Not(HasSubstr("PET_NPROC_PER_NODE"))));
  EXPECT_THAT(
      script_of("kind: TrainJob\nspec:\n  trainer:\n    image: a\n    numNodes: 2\n    numProcPerNode: 8\n    command: [torchrun, a.py]\n"),
      HasSubstr("torchrun --nnodes 2 --nproc_per_node 8 a.py"));
  EXPECT_THAT(script_of("kind: PyTorchJob\nspec:\n  nprocPerNode: auto\n  a:\n    image: b\n    command: [torchrun, a.py]\n"),
              HasSubstr("torchrun a.py"));
}

}  // namespace
}  // namespace sim
