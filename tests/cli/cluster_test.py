"""`cluster`: what tools print becomes a cluster file that plan takes; contradictions are named."""
import json

import program

MACHINES = program.ROOT / "tests/sim/cluster/machines"
A100 = ["--hardware", "a100-80gb-sxm"]


class Cluster(program.ProgramTest):
    def test_a_cluster_that_plans(self):
        file = self.folder / "cluster.json"
        sources = [word for name in ("topo.txt", "nccl.xml", "all_reduce_perf.txt", "ibstat.txt", "lspci.txt") for word in ("--from", MACHINES / name)]
        document = self.document("cluster", *sources, *A100, "--nodes", 2, "-o", file)
        self.assertEqual((document["format"], document["devices"], document["hardware"]["devices_per_node"]), ("meshwright.cluster/1", 8, 4))
        self.assertEqual(document["hardware"]["intra_node"]["bandwidth"], "214460 MB/s")
        self.assertEqual(json.loads(file.read_text()), document)
        self.run_program("plan", "--model", program.MODEL, "--cluster", file, "--global-batch", 16, "--sequence", 128)

    def test_contradictions(self):
        other = self.write("topo.txt", "      GPU0 GPU1\nGPU0   X  NV12\nGPU1  NV12  X \n")
        said = self.run_program("cluster", "--from", MACHINES / "nccl.xml", "--from", other, *A100, expect=30).stderr
        self.assertIn("devices a node", said)

    def test_what_is_none_of_them(self):
        self.assertIn("nvidia-smi topo -m", self.run_program("cluster", "--from", self.write("x.txt", "hello"), *A100, expect=30).stderr)


if __name__ == "__main__":
    program.main()
