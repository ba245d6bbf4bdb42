"""The packages on a bare Debian 12: a minimal root made by debootstrap, `apt-get install ./meshwright*.deb`, and each program does its work there.

Started by MESHWRIGHT_BARE_DEBIAN=1, since it downloads 315 MB; skipped aloud without it, and where no root can be made: no debootstrap, no right to chroot, no mirror. The root is kept in the build folder; every
test starts from a copy that is thrown away.

usage: bare_debian_test.py CMAKE BUILD   (parts that the build folder has not built are left out, and said)
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(sys.argv.pop()).resolve()
CPACK = pathlib.Path(sys.argv.pop()).parent / "cpack"
ROOT = pathlib.Path(__file__).resolve().parents[2]
MIRROR = os.environ.get("MESHWRIGHT_DEBIAN_MIRROR", "http://deb.debian.org/debian")
KEPT = BUILD / "bare_debian.tar"
PARTS = {"cli": "meshwright", "worker": "meshwright-worker", "window": "meshwright-gui"}
MOST_SECONDS = 600
# Fine-tuning of Llama 3 70B on 32 H100s, measured in Megatron-Bridge 26.06 (profiles/published/rows2.json), in the words of Megatron-LM.
SCRIPT, MEASURED = r"""#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NNODES=4
TP=4
PP=4
MODEL_ARGS=(
  --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 --num-attention-heads 64 --group-query-attention --num-query-groups 8
  --seq-length 4096 --max-position-embeddings 8192 --vocab-size 128256 --make-vocab-size-divisible-by 128
  --swiglu --normalization RMSNorm --position-embedding-type rope --rotary-base 500000 --disable-bias-linear --untie-embeddings-and-output-weights
  --attention-dropout 0 --hidden-dropout 0 --attention-backend fused
)
torchrun --nproc_per_node $GPUS_PER_NODE --nnodes $NNODES pretrain_gpt.py ${MODEL_ARGS[@]} \
  --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP --num-layers-per-virtual-pipeline-stage 4 --sequence-parallel \
  --micro-batch-size 1 --global-batch-size 32 --bf16 --fp8-format hybrid --fp8-recipe tensorwise --tp-comm-overlap \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather --lr 1e-5 --train-iters 1000
""", 2.50
# In a mount namespace of its own, so that nothing stays mounted whatever happens.
INSIDE = 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && cp -L /etc/resolv.conf "$1/etc/" && exec chroot "$@"'


def quietly(*command, **options):
    return subprocess.run([*map(str, command)], text=True, capture_output=True, timeout=MOST_SECONDS, **options)


def why_not():
    """Makes the root once; returns why there is none."""
    if not os.environ.get("MESHWRIGHT_BARE_DEBIAN"):
        return "it downloads a root of 315 MB: MESHWRIGHT_BARE_DEBIAN=1 asks for it"
    if not shutil.which("debootstrap"):
        return "debootstrap is not here; install it"
    if quietly("unshare", "-m", "true").returncode != 0:
        return "no mount namespaces here"
    if KEPT.exists():
        return None
    with tempfile.TemporaryDirectory() as scratch:
        made = quietly("debootstrap", "--variant=minbase", "bookworm", pathlib.Path(scratch) / "root", MIRROR)
        if made.returncode != 0:
            return f"debootstrap could not make a root from {MIRROR}: {(made.stderr or made.stdout).strip().splitlines()[-1]}"
        subprocess.run(["tar", "-C", scratch, "-cf", f"{KEPT}.new", "root"], check=True)
    pathlib.Path(f"{KEPT}.new").rename(KEPT)
    return None


class BareDebian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        subprocess.run(["tar", "-C", cls.folder, "-xf", KEPT], check=True)
        cls.root = cls.folder / "root"
        if cls.inside("apt-get", "update", "-qq").returncode != 0:
            raise unittest.SkipTest("no mirror of Debian answers in the bare root")

    @classmethod
    def inside(cls, *command):
        return quietly("unshare", "-m", "bash", "-c", INSIDE, "bash", cls.root, *command, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"})

    def packaged(self, part):
        """The path in the root of the package, and all that it needs downloaded."""
        if not (BUILD / "bin" / PARTS[part]).exists():
            self.skipTest(f"{PARTS[part]} was not built")
        subprocess.run([CPACK, "-G", "DEB", "-D", f"CPACK_COMPONENTS_ALL={part}", "-B", self.folder], cwd=BUILD, check=True, capture_output=True)
        package, = [path for path in self.folder.glob("*.deb") if re.match(rf"{PARTS[part]}_\d", path.name)]
        shutil.copy(package, self.root / "tmp")
        done = self.inside("apt-get", "install", "--download-only", "-y", "-qq", "--no-install-recommends", f"/tmp/{package.name}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return f"/tmp/{package.name}"

    def install(self, package):
        done = self.inside("apt-get", "install", "-y", "-qq", "--no-install-recommends", package)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_1_the_command_line_checks_and_plans(self):
        package = self.packaged("cli")
        start = time.monotonic()
        self.install(package)
        self.check_a_strangers_script(time.monotonic() - start)
        shutil.copy(ROOT / "profiles/models/gpt2.json", self.root / "tmp/config.json")
        done = self.inside("meshwright", "plan", "--model", "/tmp/config.json", "--cluster", "h100-80gb-sxm", "--devices", "2", "--global-batch", "8", "--sequence", "512",
                           "-o", "/tmp/plan.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("h100-80gb-sxm", (self.root / "tmp/plan.json").read_text())
        self.assertTrue((self.root / "usr/share/bash-completion/completions/meshwright").is_file())

    def check_a_strangers_script(self, before):
        """Two commands from a bare root, downloads not counted: install, check. What was measured lies in the interval that is told."""
        (self.root / "tmp/pretrain.sh").write_text(SCRIPT)
        start = time.monotonic()
        done = self.inside("meshwright", "check", "/tmp/pretrain.sh", "--cluster", "h100-80gb-sxm", "--devices", "32", "--json")
        seconds = time.monotonic() - start
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        result = answer["result"]
        self.assertLessEqual(result["step_time_low_seconds"], MEASURED)
        self.assertGreaterEqual(result["step_time_high_seconds"], MEASURED)
        self.assertTrue(answer["best"])
        print(f"installed in {before:.0f} s, the script checked in {seconds:.0f} s: {result['step_time_seconds']:.2f} s, measured {MEASURED:.2f} s")
        self.assertLessEqual(before + seconds, 60)

    def test_2_the_worker_names_what_brings_libtorch(self):
        self.install(self.packaged("worker"))
        done = self.inside("meshwright-worker", "--help")
        self.assertEqual(done.returncode, 30, done.stdout + done.stderr)
        self.assertIn("pip install torch==2.11.0", done.stderr)
        missing = re.findall(r"(\S+) => not found", self.inside("bash", "-c", "ldd $(find /usr/lib -name meshwright-worker -type f)").stdout)
        self.assertIn("libtorch_cpu.so", missing)   # which is really not there, and alone is not
        self.assertEqual([name for name in missing if not name.startswith(("libtorch", "libc10"))], [])

    def test_3_the_window_starts(self):
        self.install(self.packaged("window"))
        done = self.inside("env", "QT_QPA_PLATFORM=offscreen", "meshwright-gui", "--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.root / "usr/share/applications/meshwright.desktop").is_file())


if __name__ == "__main__":
    reason = why_not()
    if reason:
        print("skipped: " + reason)
        sys.exit(77)
    unittest.main()
