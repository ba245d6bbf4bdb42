"""`validate`: every row predicted, a contradiction named, the score."""
import json

import program


class Validate(program.ProgramTest):
    ROWS = "profiles/published/rows.json"

    def test_predictions_and_score(self):
        out = self.folder / "predictions.json"
        score = self.document("validate", self.ROWS, "--out", out)
        rows = json.loads(out.read_text())["rows"]
        self.assertEqual(score["rows_predicted"], len(rows))
        self.assertTrue(all(row["status"] == "ok" and row["predicted"]["iteration_time_s"] > 0 for row in rows))
        self.assertTrue(all(row["predicted"]["iteration_time_low_s"] < row["predicted"]["iteration_time_high_s"] for row in rows))
        self.assertIn("plan.overlap.grad_reduce", rows[0]["assumed"])

    def test_a_contradiction_is_named_and_the_others_go_on(self):
        rows = json.loads(open(self.ROWS).read())[:3]
        rows[1]["plan"]["dp"] += 1
        file, out = self.write("rows.json", json.dumps(rows)), self.folder / "predictions.json"
        done = self.run_program("validate", file, "--out", out, expect=30)
        self.assertIn(rows[1]["id"], done.stderr)
        self.assertEqual([row["status"] for row in json.loads(out.read_text())["rows"]], ["ok", "error", "ok"])

    def test_fit_writes_profiles_that_say_on_what(self):
        rows = [row for row in json.loads(open(self.ROWS).read()) if row["source"]["key"] in ("fms-fsdp", "mlperf-3.0")]
        file = self.write("rows.json", json.dumps(rows))
        self.run_program("validate", file, "--fit", self.folder / "profiles")
        stack = json.loads((self.folder / "profiles/software/fms-fsdp.json").read_text())
        self.assertIn("fms-fsdp", stack["fitted"]["source"])
        self.assertIn(" us", stack["fitted"]["host_per_kernel"])
        left_out = self.document("validate", file, "--leave-out-each")
        self.assertEqual(left_out["rows_predicted"], sum(row["headline"] for row in rows))

    def test_plans_of_rows_can_be_checked(self):
        rows = json.loads(open(self.ROWS).read())[:2]
        folder = self.folder / "plans"
        self.run_program("validate", self.write("rows.json", json.dumps(rows)), "--plans", folder)
        plans = sorted(folder.glob("*.json"))
        self.assertEqual([plan.stem for plan in plans], sorted(row["id"].replace("/", "_") for row in rows))
        self.assertEqual(json.loads(plans[0].read_text())["format"], "meshwright.plan/1")

    def test_rows_of_experts_are_plans_of_a_family_that_has_them(self):
        rows = json.loads(open("profiles/published/rows2.json").read())
        rows = [row for row in (rows if isinstance(rows, list) else rows["rows"]) if row["source"]["key"] == "megatron-bridge-26.06" and "moe" in row["workload"]]
        folder = self.folder / "plans"
        self.run_program("validate", self.write("rows.json", json.dumps(rows)), "--plans", folder)
        families = {json.loads(plan.read_text())["model"]["model_type"] for plan in folder.glob("*.json")}
        self.assertEqual((len(list(folder.glob("*.json"))), families), (len(rows), {"qwen3_moe", "gpt_oss", "deepseek_v3"}))

    def test_nothing_to_validate_is_no_success(self):
        self.assertIn("holds no rows", self.run_program("validate", self.write("none.json", "[]"), expect=30).stderr)

    def test_table(self):
        self.assertIn("macro MAPE", self.run_program("validate", self.ROWS).stdout)


if __name__ == "__main__":
    program.main()
