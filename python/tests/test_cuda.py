"""The back end `cuda`, without a GPU: on an emulated one (`tests/emulation`), and where something is missing."""

import ctypes
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest

import emulated_cuda
import isobar

HERE = pathlib.Path(__file__).parent
EMULATION = HERE.parents[1] / "tests/emulation"
FLAGS = "-std=c++17 -O1 -Wall -Wextra -U_FORTIFY_SOURCE -shared -fPIC -fvisibility=hidden".split()


def setUpModule():
    """The driver and the NVRTC of the emulated GPU; without g++ that is a failure."""
    if platform.machine() != "x86_64":
        raise unittest.SkipTest("the emulated GPU is written for x86-64")
    global FOLDER
    FOLDER = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(FOLDER.cleanup)
    for source, library in (("driver.cpp", "libcuda.so.1"), ("nvrtc.cpp", "libnvrtc.so.12")):
        made = pathlib.Path(FOLDER.name, library)
        define = f'-DEMULATION="{EMULATION}"'
        command = ["g++", *FLAGS, define, EMULATION / source, "-o", made, f"-Wl,-soname,{library}", "-ldl"]
        subprocess.run(command, check=True)
    # Whoever looks for the driver takes the first one of these that there is.
    os.symlink("libcuda.so.1", pathlib.Path(FOLDER.name, "libcuda.so"))


def same():
    """The environment of a process that finds the same package."""
    return {**os.environ, "PYTHONPATH": str(pathlib.Path(isobar.__file__).parents[1])}


def found(**variables):
    """The environment of a process that finds them. Compiled code is kept from one to the next."""
    known = os.environ.get("LD_LIBRARY_PATH")
    return {
        **same(),
        "LD_LIBRARY_PATH": f"{FOLDER.name}:{known}" if known else FOLDER.name,
        "ISOBAR_NVRTC": FOLDER.name,
        "ISOBAR_CACHE": f"{FOLDER.name}/cache",
        **variables,
    }


def run(*args, **variables):
    return subprocess.run(
        [sys.executable, *args], cwd=HERE, env=found(**variables), capture_output=True, text=True, check=False
    )


class Emulated(unittest.TestCase):
    """The tests of `emulated_cuda.py`, each in a process of its own."""


def _emulated(name):
    def test(self):
        done = run("emulated_cuda.py", "-v", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "Ran 1 test")
        if skipped := re.search("skipped (['\"])(.*)\\1$", done.stderr, re.MULTILINE):
            self.skipTest(skipped[2])

    return test


for _suite in unittest.defaultTestLoader.loadTestsFromModule(emulated_cuda):
    for _test in _suite:
        setattr(Emulated, _test._testMethodName, _emulated(f"{type(_test).__name__}.{_test._testMethodName}"))


class Missing(unittest.TestCase):
    TRIED = (
        "import isobar, sys\n"
        "sys.path.insert(0, '.')\n"
        "from test_stencil import scale\n"
        "told = isobar.backends()['cuda']\n"
        "assert told.startswith('not here: '), told\n"
        "try:\n"
        "    isobar.stencil('cuda', scale)\n"
        "except isobar.BackendUnavailable as error:\n"
        "    assert told == f'not here: {error}', (told, error)\n"
        "    print(error)\n"
    )

    def test_what_is_missing_is_told_in_one_way(self):
        for variables, words in (
            ({"EMULATED_GPUS": "0"}, "no GPU of NVIDIA: the driver lists none"),
            ({"ISOBAR_NVRTC": "/nowhere"}, "no NVRTC: ISOBAR_NVRTC names `/nowhere`"),
            ({"EMULATED_GPUS": "0", "ISOBAR_NVRTC": "/nowhere"}, "driver lists none.*no NVRTC"),
        ):
            done = run("-c", self.TRIED, **variables)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, words)

    def test_a_machine_without_a_driver_says_so(self):
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError:
            pass
        else:
            self.skipTest("there is a driver here")
        command = [sys.executable, "-c", self.TRIED]
        done = subprocess.run(command, cwd=HERE, env=same(), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no driver of NVIDIA: there is no `libcuda.so.1`", done.stdout)


if __name__ == "__main__":
    unittest.main()
