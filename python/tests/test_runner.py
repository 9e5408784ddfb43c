"""Stencils on a runner: `isobar serve` of the same sources, where `ISOBAR_BIN` names it."""

import os
import re
import subprocess
import unittest

import isobar
import numpy as np
from test_process import double, ends_early

BINARY = os.environ.get("ISOBAR_BIN")


@unittest.skipUnless(BINARY, "ISOBAR_BIN names no runner")
class Remote(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.serving = subprocess.Popen(
            [BINARY, "serve", "--allow-root", "--no-state", "--bind", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        said = ""
        for line in cls.serving.stdout:
            said += line
            if found := re.search(r"http://\S+#\S*token=\S+", line):
                cls.runner = isobar.Runner(found.group(0))
                return
        raise RuntimeError(f"the runner does not tell its address: {said}")

    @classmethod
    def tearDownClass(cls):
        cls.serving.terminate()
        cls.serving.wait()
        cls.serving.stdout.close()

    def test_a_call_there_is_a_call_here(self):
        a = np.asfortranarray(np.random.default_rng(0).random((6, 5, 4)))
        b = np.zeros((6, 5, 4))[::-1]
        times = self.runner.run(double, a, b)
        self.assertTrue(np.array_equal(b, 2.0 * a))
        self.assertIn("total", times)

    def test_what_goes_wrong_there_is_raised_here(self):
        at = np.full((3, 3, 3), 9)
        with self.assertRaises(isobar.TrapError):
            self.runner.run(ends_early, np.ones((3, 3, 3)), at, np.zeros((3, 3, 3)))
        with self.assertRaises(isobar.CallError):
            self.runner.run(double, np.ones((3, 3, 3)), np.zeros((2, 2, 2)), domain=(3, 3, 3))
        with self.assertRaises(isobar.RunnerError):
            self.runner.run(double, np.ones((3, 3, 3)), np.zeros((3, 3, 3)), backend="abacus")
        with self.assertRaises(isobar.RunnerError):
            isobar.Runner("http://127.0.0.1:9", token="x").capabilities()
        with self.assertRaises(isobar.CallError):
            isobar.Runner("ftp://somewhere", token="x")

    def test_levels_are_made_there(self):
        found = self.runner.compile(double, ["oir"])
        self.assertEqual(found["stages"][0]["stage"], "oir")
        self.assertIn("rayon", [it["name"] for it in self.runner.capabilities()["backends"]])


if __name__ == "__main__":
    unittest.main()
