"""`import` reads launch scripts as people write them: sizes as they are, every argument accounted for.

The styles below are our own. MESHWRIGHT_SCRIPTS names a folder of real scripts with an index.json (`script`, `config`, `gpu`, `gpus`, `expect`), which no
repository holds: without it that part is skipped aloud.
"""
import json
import os
import pathlib
import re
import unittest

import program

PARTS = {"A100-SXM4-80GB": "a100-80gb-sxm", "H100-SXM5-80GB": "h100-80gb-sxm", "GB200-186GB": "gb200-186gb"}
NETWORK = "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 1024 --max-position-embeddings 1024 --vocab-size 32000"
BATCH = "--micro-batch-size 2 --global-batch-size 32"

STYLES = {
    "quoted variables": f'''#!/bin/bash
#SBATCH --nodes=2
TP_SIZE=2
PP_SIZE=2
GPT_ARGS=" \\
    {NETWORK} \\
    {BATCH} --clip-grad 1.0 \\
    "
OUTPUT_ARGS="--log-interval 1 --save-interval 300"
export LAUNCHER="python -u -m torch.distributed.launch --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES --master_addr $MASTER_ADDR"
export CMD=" \\
    `pwd`/pretrain_gpt.py --tensor-model-parallel-size $TP_SIZE --pipeline-model-parallel-size $PP_SIZE $GPT_ARGS $OUTPUT_ARGS --bf16 --data-path $DATA_PATH"
echo $CMD
clear; srun --jobid $SLURM_JOBID bash -c '$LAUNCHER --node_rank $SLURM_PROCID $CMD' 2>&1 | tee -a main_log.txt
''',
    "arrays": f'''#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NUM_NODES=1
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
DISTRIBUTED_ARGS=(--nproc_per_node $GPUS_PER_NODE --nnodes $NUM_NODES --master_port 6000)
GPT_MODEL_ARGS=(
    {NETWORK}
    --attention-backend auto # or flash
)
TRAINING_ARGS=({BATCH} --bf16)
MODEL_PARALLEL_ARGS=(
	--tensor-model-parallel-size 2
	--pipeline-model-parallel-size ${{PP:-2}}
)
torchrun ${{DISTRIBUTED_ARGS[@]}} pretrain_gpt.py "${{GPT_MODEL_ARGS[@]}}" ${{TRAINING_ARGS[@]}} \\
    ${{MODEL_PARALLEL_ARGS[@]}}
''',
    "a case by its first argument": f'''#!/bin/bash
MODEL=${{1:-small}}
case $MODEL in
  large) TP=8; PP=8 ;;
  small) TP=2; PP=2 ;;
esac
if [ "$PRECISION" = fp16 ]; then echo half; fi
torchrun --nproc-per-node 8 pretrain_gpt.py {NETWORK} {BATCH} --tensor-model-parallel-size $TP --pipeline-model-parallel-size=$PP --bf16
''',
}


class Styles(program.ProgramTest):
    def read(self, text, *more, expect=0):
        script = self.write("train.sh", text)
        return self.document("import", script, "--cluster", "h100-80gb-sxm", "--devices", 8, *more, "-o", self.folder / "plan.json", expect=expect)

    def test_each_says_the_same(self):
        for name, text in STYLES.items():
            with self.subTest(name):
                document = self.read(text)
                plan = json.loads((self.folder / "plan.json").read_text())
                self.assertEqual((plan["mesh"]["data"], plan["mesh"]["tensor"], plan["mesh"]["pipeline"]), (2, 2, 2))
                self.assertEqual((plan["microbatch_size"], plan["workload"]["global_batch"], plan["workload"]["precision"]), (2, 32, "bf16 gradients=fp32"))
                self.assertEqual(document["unknown"], [])

    def test_a_variable_that_is_not_set_is_asked_for_and_given(self):
        text = STYLES["quoted variables"].replace("PP_SIZE=2\n", "")
        said = self.read(text, expect=30)["error"]["violations"]
        self.assertEqual([one["where"] for one in said], ["pipeline-model-parallel-size"])
        self.assertIn("--set PP_SIZE=", said[0]["remedy"])
        self.read(text, "--set", "PP_SIZE=4")
        self.assertEqual(json.loads((self.folder / "plan.json").read_text())["mesh"]["pipeline"], 4)

    def test_several_commands_are_no_plan(self):
        line = f"torchrun pretrain_gpt.py {NETWORK} {BATCH} --tensor-model-parallel-size "
        self.assertIn("2 commands", self.read(line + "1\n" + line + "2\n", expect=30)["error"]["violations"][0]["problem"])

    def test_a_usage_error_of_set(self):
        self.assertIn("is no NAME=value", self.read(STYLES["arrays"], "--set", "TP", expect=30)["error"]["violations"][0]["problem"])


SCRIPTS = os.environ.get("MESHWRIGHT_SCRIPTS")
# What no plan says, by the words of the refusal. Everything else must be read.
BEYOND_A_PLAN = ("are not divisible by expert degree", "do not cut")


@unittest.skipUnless(SCRIPTS, "MESHWRIGHT_SCRIPTS names no folder of real scripts")
class RealScripts(program.ProgramTest):
    def test_sizes_and_every_argument(self):
        folder = pathlib.Path(SCRIPTS)
        counted = {"read": 0, "refused": 0}
        for row in json.loads((folder / "index.json").read_text()):
            with self.subTest(row["id"]):
                counted[self.judge(folder, row)] += 1
        print(f"{counted['read']} scripts read right, {counted['refused']} beyond a plan and refused")
        self.assertGreaterEqual(counted["read"], 0.89 * sum(counted.values()))

    def judge(self, folder, row):
        given = ["--model", folder / row["config"]] if row["config"] else []
        words = ["import", folder / row["script"], "--cluster", PARTS[row["gpu"]], "--devices", row["gpus"], *given, "-o", self.folder / "plan.json", "--json"]
        done = program.subprocess.run(program.words(words), capture_output=True, text=True)
        document = json.loads(done.stdout)
        if done.returncode:
            self.assertTrue(any(words in done.stdout for words in BEYOND_A_PLAN), done.stdout)
            return "refused"
        self.account(folder / row["script"], document)
        self.compare(row["expect"], json.loads((self.folder / "plan.json").read_text()), document)
        return "read"

    def account(self, script, document):
        told = {one["where"] for one in document["lost"]} | set(document["read"]) | set(document["without_effect"])
        asked = {word.replace("_", "-") for word in re.findall(r"(?<=\s--)[\w-]+", script.read_text())}
        self.assertEqual(asked - told, set())
        self.assertEqual(document["unknown"], [])

    def compare(self, expect, plan, document):
        mesh = plan["mesh"]
        self.assertEqual([mesh["data"], mesh["tensor"], mesh["pipeline"], mesh.get("context", 1), mesh.get("expert", 1), plan["chunks"]],
                         [expect[key] for key in ("dp", "tp", "pp", "cp", "ep", "vpp")])
        self.assertEqual([plan["microbatch_size"], plan["workload"]["global_batch"], plan["microbatches"], plan["zero_stage"], plan["sequence_parallel"], plan["recompute"]],
                         [expect[key] for key in ("micro_batch", "global_batch", "num_microbatches", "zero_stage", "sequence_parallel", "recompute")])
        if expect["precision"] == "fp8":
            self.assertTrue(plan["workload"]["precision"].startswith("fp8:"))
        else:
            self.assertEqual(plan["workload"]["precision"].split()[0], expect["precision"])
        if mesh["pipeline"] > 1:
            self.assertEqual(plan["schedule"], expect["schedule"])


if __name__ == "__main__":
    if not SCRIPTS:
        print("skipped: real scripts (MESHWRIGHT_SCRIPTS is not set)")
    program.main()
