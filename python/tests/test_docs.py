"""The examples of docs/python.md run as they stand, in their order."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PAGE = pathlib.Path(__file__).parents[2] / "docs/python.md"


class Page(unittest.TestCase):
    def test_its_examples_run(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
        self.assertGreaterEqual(len(blocks), 5)
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "page.py")
            program.write_text("\n\n".join(blocks))
            own = {**os.environ, "ISOBAR_CACHE": str(pathlib.Path(folder, "cache"))}
            done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False, env=own)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("(64, 64, 40)", done.stdout)


if __name__ == "__main__":
    unittest.main()
