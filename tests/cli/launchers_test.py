"""The scripts of `run --dry-run --launcher` do what they say: each is written to a file and executed, with the launcher that the machine has.

Slurm is on few machines: without it `srun` is a stand-in that starts as many ranks as the script asked for by Open MPI, whose PMIx is what the script takes.
"""
import os
import re
import shutil
import subprocess

import program
import run_test

STAND_IN = """#!/usr/bin/env bash
# --mpi=pmix and its like are Slurm's; the rest is the worker.
while [[ $1 == --* ]]; do case $1 in --mpi=pmix | --kill-on-bad-exit=1 | --cpus-per-task=[0-9]*) shift ;; *) echo "srun: $1?" >&2; exit 2 ;; esac; done
exec mpirun --allow-run-as-root --oversubscribe --bind-to none -np "$SLURM_NTASKS" "$@"
"""


class Launchers(program.ProgramTest):
    plan_for, tokens, losses = run_test.Run.plan_for, run_test.Run.tokens, run_test.Run.losses

    def script(self, launcher, plan, folder):
        shown = self.run_program("run", plan, "--data", self.tokens(), "--steps", 3, "-o", folder, "--dry-run", "--launcher", launcher).stdout
        path = self.folder / f"{launcher}.sh"
        path.write_text(shown)
        folder.mkdir()
        return path

    def execute(self, script, **variables):
        done = subprocess.run(["bash", script], cwd=program.ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"} | variables, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def losses_of(self, launcher, ranks, *fixed, **variables):
        folder = self.folder / f"{launcher}.{ranks}"
        self.execute(self.script(launcher, self.plan_for(ranks, *fixed), folder), **variables)
        self.assertEqual(len(list(folder.glob("trace.*.json"))), ranks)
        return [loss for _, loss in self.losses(folder)]

    def slurm(self, script):
        """What sbatch makes of the head of a script."""
        asked = dict(re.findall(r"^#SBATCH --([a-z-]+)=(\S+)$", script.read_text(), re.M))
        return {"SLURM_NTASKS": asked["ntasks"], "SLURM_CPUS_PER_TASK": asked["cpus-per-task"]}

    def test_mpirun_and_srun_train_alike(self):
        by_mpirun = self.losses_of("mpirun", 2, "--fix", "data=2")
        self.assertEqual(len(by_mpirun), 3)
        folder = self.folder / "srun.2"
        script = self.script("srun", self.plan_for(2, "--fix", "data=2"), folder)
        tools = self.folder / "bin"
        tools.mkdir()
        if not (shutil.which("srun") and "SLURM_JOB_ID" in os.environ):
            print("no job of Slurm here: a stand-in starts the ranks")
            (tools / "srun").write_text(STAND_IN)
            (tools / "srun").chmod(0o755)
        self.execute(script, PATH=f"{tools}:{os.environ['PATH']}", **self.slurm(script))
        self.assertEqual([loss for _, loss in self.losses(folder)], by_mpirun)

    def test_torchrun_s_variables_start_a_rank(self):
        self.assertEqual(self.losses_of("torchrun", 1), self.losses_of("mpirun", 1))


if __name__ == "__main__":
    program.main(needs_worker=True)
