#include "sim/recipe/launch_size.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RecipeContext llama_started_on(std::int32_t devices, Texts given = {}) {
  return {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices}), .given = std::move(given)};
}
constexpr std::string_view kStartedTuning =
    " tune.py --model_name_or_path a/b --bf16 True --per_device_train_batch_size 2 --model_max_length 32\n";
constexpr std::string_view kHeadOfAJob = "#!/bin/bash\n#SBATCH --nodes=4 --time=1:00:00\n#SBATCH --gres=gpu:a100:8   # all of them\n";

std::int32_t started_by(const std::string& text, const RecipeContext& context) {
  const std::string path = testing::recipe_folder() + "/started";
  FILE* const file = std::fopen(path.c_str(), "wb");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  return processes_of(path, context);
}

std::int32_t started_by(const std::string& text, const Texts& given = {}) { return started_by(text, llama_started_on(1, given)); }

// Else the number of devices is asked for, which the text says, and not the vocabulary, which it does not.
TEST(LaunchSize, IsKnownBeforeTheNetworkIs) {
  RecipeContext unsized = llama_started_on(1);
  unsized.model = std::nullopt;
  const std::string starts =
      "torchrun --nnodes 4 --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 4 ";
  EXPECT_EQ(started_by(starts + "--seq-length 32 --tokenizer-type GPTSentencePieceTokenizer --micro-batch-size 1\n", unsized), 32);
}

TEST(LaunchSize, HeadsOfOtherQueues) {
  EXPECT_EQ(devices_of_job(job_head("#PBS -N a\n#PBS -l select=2:ncpus=64:ngpus=4:mem=480GB\n")), 8);
  EXPECT_EQ(devices_of_job(job_head("#PBS -l nodes=3:ppn=8:gpus=2,walltime=1:00:00\n")), 6);
  EXPECT_EQ(devices_of_job(job_head("#PBS -l ngpus=16\n#PBS -l mem=4GB\n")), 16);
  EXPECT_FALSE(devices_of_job(job_head("#PBS -l select=1:ngpus=4+2:ngpus=8\n")));
  EXPECT_EQ(devices_of_job(job_head("#BSUB -nnodes 2\n#BSUB -gpu \"num=4:mode=exclusive_process\"\n")), 8);
  EXPECT_THAT(variables_of_job(job_head("#PBS -l select=2:ngpus=4\n")), IsEmpty());
  const ImportedPlan read = testing::imported(
      "#PBS -l select=2:ngpus=4\ntorchrun --nnodes 1 --nproc_per_node 4" + std::string(kStartedTuning), llama_started_on(4));
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("#PBS: asks for 8 devices, and the line starts 4"));
}

// Which copies weights for each microbatch, or deals blocks out: no ranks.
TEST(LaunchSize, OneProcessOverSeveralDevices) {
  const auto lost = [](const std::string& line, std::int32_t devices = 2) {
    return testing::text_of(testing::imported(line + std::string(kStartedTuning), llama_started_on(devices)).lost);
  };
  const std::string more = " --train_type full --model a/b --dataset c --per_device_train_batch_size 2 --max_length 32\n";
  EXPECT_THAT(lost("CUDA_VISIBLE_DEVICES=0,1 python"), HasSubstr("starts one process, which has 2 devices"));
  EXPECT_THAT(lost("python", 1), Not(HasSubstr("one process")));
  EXPECT_THAT(lost("torchrun --nproc_per_node 2"), Not(HasSubstr("one process")));
  EXPECT_THAT(lost("python -m torch.distributed.run --nproc_per_node 2"), Not(HasSubstr("one process")));
  EXPECT_THAT(testing::text_of(testing::imported("CUDA_VISIBLE_DEVICES=0,1 swift sft" + more, llama_started_on(2)).lost),
              HasSubstr("starts one process"));
  EXPECT_THAT(testing::text_of(testing::imported("NPROC_PER_NODE=2 swift sft" + more, llama_started_on(2)).lost),
              Not(HasSubstr("starts one process")));
}

TEST(LaunchSize, ANodeHasAsManyDevicesAsTheCluster) {
  const auto notes = [](const std::string& line) {
    return testing::text_of(testing::imported("torchrun " + line + std::string(kStartedTuning), llama_started_on(8)).notes);
  };
  EXPECT_THAT(notes("--nnodes 2 --nproc_per_node 4"), HasSubstr("--cluster: has 8 devices a node, and the recipe starts 4 processes"));
  EXPECT_THAT(notes("--nnodes 1 --nproc_per_node 8"), Not(HasSubstr("--cluster")));
}

TEST(LaunchSize, TheHeadOfAJob) {
  const JobHead head = job_head(std::string(kHeadOfAJob) + "#SBATCH -n 32 --ntasks-per-node 8\n##SBATCH --nodes=9\necho '#SBATCH -N 5'\n");
  EXPECT_EQ(head.nodes, 4);
  EXPECT_EQ(devices_of_node(head), 8);
  EXPECT_EQ(head.tasks, 32);
  EXPECT_EQ(head.tasks_of_node, 8);
  EXPECT_EQ(devices_of_node(job_head("#SBATCH -N4\n#SBATCH --gpus-per-node 2\n")), 2);
  EXPECT_EQ(devices_of_node(job_head("#SBATCH -N 2 --gpus=a100:16\n")), 8);
  EXPECT_EQ(devices_of_node(job_head("#SBATCH --ntasks-per-node=4\n#SBATCH --gpus-per-task=1\n")), 4);
  EXPECT_EQ(devices_of_node(job_head("#SBATCH --gres=nvme:1,gpu:a100:8\n")), 8);
  EXPECT_EQ(devices_of_node(job_head("#SBATCH --gres=gpu:8,nvme:1\n")), 8);
  EXPECT_FALSE(job_head("#SBATCH --nodes=2-4\n#SBATCH --gres=gpu\n").nodes);
  EXPECT_FALSE(devices_of_job(job_head("#SBATCH --nodes=2-4\n#SBATCH --gres=gpu:8\n")));
  EXPECT_EQ(job_head("#SBATCH -N 2\n#SBATCH --nodes=2-4\n").nodes, 2);
  EXPECT_EQ(devices_of_job(job_head("#SBATCH --nodes=2-4\n#SBATCH --gpus=16\n")), 16);
  EXPECT_EQ(devices_of_job(job_head("#SBATCH -n 16 -N 2\n#SBATCH --gpus-per-task=1\n")), 16);
  EXPECT_EQ(devices_of_node(job_head("#SBATCH -n 16 -N 2\n#SBATCH --gpus-per-task=1\n")), 8);
  EXPECT_EQ(variables_of_job(head).at("SLURM_NNODES"), "4");
  EXPECT_EQ(variables_of_job(job_head("#SBATCH -N 2 --ntasks-per-node=4\n")).at("SLURM_NTASKS"), "8");
  EXPECT_FALSE(variables_of_job(head).contains("SLURM_GPUS_PER_NODE"));  // --gres does not set it
  EXPECT_EQ(variables_of_job(head).at("SLURM_GPUS_ON_NODE"), "8");
}

// Without --devices a recipe is read on as many as it starts.
TEST(LaunchSize, WhatTheLineLeavesOpenStandsInTheHead) {
  const std::string head(kHeadOfAJob), more(kStartedTuning);
  EXPECT_EQ(started_by(head + "srun torchrun --nproc_per_node 8" + more), 32);
  EXPECT_EQ(started_by(head + "srun torchrun --nproc_per_node gpu --nnodes $SLURM_NNODES" + more), 32);
  EXPECT_EQ(started_by(head + "srun torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES" + more, {{"SLURM_NNODES", "2"}}), 16);
  EXPECT_EQ(started_by(head + "#SBATCH --ntasks-per-node=4\nsrun python" + more), 16);
  EXPECT_EQ(started_by("srun -N 2 torchrun --nproc_per_node 8" + more), 16);
  EXPECT_EQ(started_by("srun torchrun --nproc_per_node 8" + more), 0);
}

TEST(LaunchSize, TasksOfAJob) {
  const std::string more(kStartedTuning), of_tasks = "#SBATCH --ntasks=16\n#SBATCH --gpus-per-task=1\n";
  EXPECT_EQ(started_by(of_tasks + "srun python" + more), 16);
  EXPECT_EQ(started_by("#SBATCH --nodes=2-4\n#SBATCH --gpus=16\nsrun -N2 -n16 python" + more), 16);
  EXPECT_EQ(started_by("#SBATCH -N 2\n#SBATCH --gpus-per-node=8\nmpirun -np 12 python" + more), 12);
  EXPECT_EQ(started_by("#SBATCH -N 2\n#SBATCH --gpus-per-node=8\nmpirun -x A=1 python" + more), 16);
  EXPECT_THAT(testing::text_of(testing::imported("#SBATCH --nodes=2\n" + of_tasks + "srun python" + more, llama_started_on(16)).notes),
              Not(HasSubstr("#SBATCH")));
}

// Words of what srun starts are not its own.
TEST(LaunchSize, OptionsOfSrun) {
  const std::string head(kHeadOfAJob), more(kStartedTuning);
  EXPECT_EQ(started_by(head + "srun --label numactl -N 1 torchrun --nproc_per_node 8" + more), 32);
  EXPECT_EQ(started_by(head + "srun --mpi pmix -N 2 -l ./wrap.sh -N 3 torchrun --nproc_per_node 8" + more), 16);
}

// What stands in a file that is only written is no head; a job that is started brings its own.
TEST(LaunchSize, TheHeadIsOfTheJobThatRuns) {
  const std::string more(kStartedTuning), line = "srun torchrun --nproc_per_node 4 --nnodes $SLURM_NNODES" + more;
  EXPECT_EQ(started_by("#SBATCH --nodes=2\ncat > other.sh <<'X'\n#SBATCH --nodes=8\necho\nX\n" + line), 8);
  const std::string job = "cat > job.sh <<'X'\n#!/bin/bash\n#SBATCH --nodes=2\n" + line + "X\n";
  EXPECT_EQ(started_by(job + "sbatch job.sh\n"), 8);
  EXPECT_EQ(started_by(job + "sbatch --nodes=4 ./job.sh\n"), 16);
  EXPECT_EQ(started_by(job + "sbatch -J a -N 4 job.sh 1\n"), 16);
  EXPECT_EQ(started_by("sbatch -N 4 <<'X'\n#SBATCH --nodes=2\n" + line + "X\n"), 16);
}

// A head may be overruled where the job is given; what the line itself says may not.
TEST(LaunchSize, AnotherNumberOfDevicesIsToldOrRefused) {
  const std::string head(kHeadOfAJob), more(kStartedTuning);
  const ImportedPlan read = testing::imported(head + "srun torchrun --nproc_per_node 8" + more, llama_started_on(16));
  EXPECT_EQ(read.plan.mesh.data, 16);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("starts 32 processes, and the cluster has 16 devices"));
  EXPECT_THAT(testing::refusal_of("deepspeed --include one:0,1,2,3@two:0,1,2,3" + more, llama_started_on(4)),
              HasSubstr("starts 8 processes"));
  const ImportedPlan filled =
      testing::imported(head + "srun torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES" + more, llama_started_on(16));
  EXPECT_EQ(filled.plan.mesh.data, 16);
  EXPECT_THAT(testing::text_of(filled.notes), HasSubstr("--set SLURM_NNODES"));
  EXPECT_EQ(
      started_by("unset HOSTS\nA=()\nif [ -n \"${HOSTS+x}\" ]; then A+=(\"--hostfile\" h); fi\ndeepspeed ${A[@]} --num_gpus 4" + more), 4);
  EXPECT_EQ(testing::imported("deepspeed -H hosts --num_gpus 8" + more, llama_started_on(16)).plan.mesh.data, 16);
  EXPECT_THAT(testing::refusal_of("deepspeed --num_nodes 2 --num_gpus 8" + more, llama_started_on(8)), HasSubstr("starts 16 processes"));
}

TEST(LaunchSize, SourcesThatSayAnotherNumberAreTold) {
  const std::string more(kStartedTuning);
  const ImportedPlan one = testing::imported(std::string(kHeadOfAJob) + "torchrun --nproc_per_node 8" + more, llama_started_on(8));
  EXPECT_THAT(testing::text_of(one.notes), HasSubstr("asks for 32 devices, and the line starts 8"));
  const ImportedPlan seen = testing::imported("CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 8" + more, llama_started_on(8));
  EXPECT_THAT(testing::text_of(seen.notes), HasSubstr("has 2 devices"));
  const ImportedPlan all = testing::imported("CUDA_VISIBLE_DEVICES=0,1 accelerate launch --num_processes 4" + more, llama_started_on(4));
  EXPECT_THAT(testing::text_of(all.notes), HasSubstr("has 2 devices"));
  EXPECT_THAT(testing::text_of(testing::imported("torchrun --nproc_per_node 8" + more, llama_started_on(8)).notes),
              Not(HasSubstr("DEVICES")));
}

TEST(LaunchSize, WhatStandsInFrontOfALine) {
  const std::string factory = "llamafactory-cli train --stage sft --finetuning_type full --cutoff_len 32 --per_device_train_batch_size 1\n";
  EXPECT_EQ(started_by("CUDA_VISIBLE_DEVICES=0,1,2,3 " + factory), 4);
  EXPECT_EQ(started_by("CUDA_VISIBLE_DEVICES=0,1,2,3\nexport NNODES=2 NPROC_PER_NODE=8\n" + factory), 16);
  EXPECT_EQ(started_by("CUDA_VISIBLE_DEVICES=0,1 deepspeed" + std::string(kStartedTuning)), 2);
  const std::string engine = "cat > ds.json <<EOF\n{\"zero_optimization\": {\"stage\": 2}}\nEOF\n";
  EXPECT_EQ(started_by(engine + "CUDA_VISIBLE_DEVICES=0,1 python tune.py --deepspeed ds.json" + std::string(kStartedTuning).substr(8)), 0);
  EXPECT_EQ(started_by("NPROC_PER_NODE=4 NNODES=2 megatron sft --model a/b --dataset c --micro_batch_size 1 --global_batch_size 16 "
                       "--max_length 32 --tensor_model_parallel_size 2\n"),
            8);
  EXPECT_EQ(started_by("NPROC_PER_NODE=4 swift sft --model a/b --dataset c --per_device_train_batch_size 1 --max_length 32\n"), 4);
}

// Nothing in front of the Trainer, or in the text, says which of them a process is.
TEST(LaunchSize, ProcessesThatDoNotKnowEachOther) {
  const std::string head = "#SBATCH --nodes=1 --ntasks-per-node=4\n#SBATCH --gres=gpu:4\n", line(kStartedTuning);
  const auto doubts = [&](const std::string& text) {
    return testing::text_of(testing::imported(head + text, llama_started_on(4)).unknown);
  };
  EXPECT_THAT(doubts("srun python" + line), HasSubstr("LOCAL_RANK: is nowhere set"));
  EXPECT_THAT(doubts("export LOCAL_RANK=$SLURM_LOCALID\nsrun python" + line), Not(HasSubstr("LOCAL_RANK")));
  EXPECT_THAT(doubts("srun --container-image=a/b python" + line), Not(HasSubstr("LOCAL_RANK")));
  EXPECT_THAT(doubts("srun torchrun --nproc_per_node 4" + line), Not(HasSubstr("LOCAL_RANK")));
}

TEST(LaunchSize, OneProcessOfMegatronHasOneDevice) {
  const auto lost = [](const std::string& before) {
    return testing::text_of(
        testing::imported(before + "python pretrain_gpt.py --micro-batch-size 1 --global-batch-size 8 --seq-length 32 --bf16\n",
                          {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})})
            .lost);
  };
  EXPECT_THAT(lost(""), ::testing::HasSubstr("nothing in the text starts more than one process"));
  EXPECT_THAT(lost("srun "), ::testing::HasSubstr("nothing in the text starts more than one process"));
  EXPECT_EQ(lost("export RANK=$SLURM_PROCID\nsrun "), "");
  EXPECT_EQ(lost("$LAUNCHER "), "");
  EXPECT_EQ(lost("mpirun -np 8 "), "");
}

// torchrun starts one process of a node by itself.
TEST(LaunchSize, TorchrunWithoutANumber) {
  EXPECT_EQ(started_by("torchrun" + std::string(kStartedTuning)), 1);
  EXPECT_EQ(started_by("torchrun --nnodes 2" + std::string(kStartedTuning)), 2);
  EXPECT_EQ(started_by("torchrun $MORE" + std::string(kStartedTuning)), 0);
  EXPECT_THAT(testing::text_of(testing::imported("torchrun" + std::string(kStartedTuning), llama_started_on(8)).notes),
              HasSubstr("starts 1 process, and the cluster has 8 devices"));
}

// ms-swift starts by torchrun where a number of nodes stands, which makes one process on each.
TEST(LaunchSize, NodesOfMsSwiftWithoutProcesses) {
  const std::string line = "swift sft --model a/b --dataset c --torch_dtype bfloat16 --per_device_train_batch_size 1 --max_length 32\n";
  EXPECT_EQ(started_by("NNODES=2 " + line), 2);
  EXPECT_EQ(started_by("NNODES=2 NPROC_PER_NODE=4 " + line), 8);
  EXPECT_THAT(testing::text_of(testing::imported("NNODES=2 " + line, llama_started_on(2)).lost), Not(HasSubstr("starts one process")));
}

TEST(LaunchSize, FewerDevicesThanThePlanUnderAStarterOfItsOwn) {
  const std::string line = "mine-train --model_name_or_path a/b --bf16 True --per_device_train_batch_size 2 --model_max_length 32\n";
  const auto lost = [&](const std::string& shown, std::int32_t devices) {
    return testing::text_of(testing::imported("export CUDA_VISIBLE_DEVICES=" + shown + "\n" + line, llama_started_on(devices)).lost);
  };
  EXPECT_THAT(lost("0", 8), HasSubstr("CUDA_VISIBLE_DEVICES: shows 1 device of a node; the plan has 8 there | import it with --devices 1"));
  EXPECT_EQ(lost("0", 1), "");
  EXPECT_EQ(lost("0,1", 2), "");
}

}  // namespace
}  // namespace sim
