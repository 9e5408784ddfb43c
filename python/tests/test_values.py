"""What the compiler says of values of modules is what Python computes: the compiler's own cases, run by Python."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Values(unittest.TestCase):
    def test_each_case_has_the_value_that_python_computes(self):
        cases = ROOT / "compiler" / "front" / "src" / "frontend" / "tests" / "values.txt"
        command = [sys.executable, str(ROOT / "tests" / "agree" / "values.py"), str(cases)]
        held = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(held.returncode, 0, held.stdout + held.stderr)


if __name__ == "__main__":
    unittest.main()
