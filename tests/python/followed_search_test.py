"""While it searches: progress is told, other threads run, Ctrl-C and a budget end it."""
import signal
import threading
import time
import unittest

import meshwright as mw

LONG = {"model": "gpt3-175b", "cluster": "h100-80gb-sxm", "devices": 1024, "global_batch": 1536, "sequence": 2048, "gap": "0 %"}


class Followed(unittest.TestCase):
    def test_control_c_ends_it(self):
        threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            mw.plan(**LONG)
        self.assertLess(time.monotonic() - began, 30)

    def test_others_run_meanwhile(self):
        counted, over = [0], threading.Event()

        def count():
            while not over.is_set():
                counted[0] += 1
                time.sleep(0.001)
        thread = threading.Thread(target=count)
        thread.start()
        mw.plan(**LONG, budget="1 s")
        over.set()
        thread.join()
        self.assertGreater(counted[0], 50)

    def test_progress_is_told_and_a_budget_ends_it(self):
        told = []
        ranking = mw.plan(**LONG, budget="1 s", progress=lambda *now: told.append(now))
        self.assertTrue(told and all(done <= all_ for done, all_, _ in told))
        self.assertIsNotNone(ranking.proof)

    def test_what_a_callable_raises_comes_through(self):
        def refuse(*_):
            raise ZeroDivisionError
        with self.assertRaises(ZeroDivisionError):
            mw.plan(**LONG, progress=refuse)

    def test_a_bar_where_there_is_one(self):
        self.assertGreater(len(mw.plan("gpt2", "h100-80gb-sxm", devices=2, global_batch=8, sequence=512, progress=True)), 0)


if __name__ == "__main__":
    unittest.main()
