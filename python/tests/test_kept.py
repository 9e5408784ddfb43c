"""What processes keep for each other, and what is said of stencils that nobody calls."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import isobar
import numpy as np

HERE = pathlib.Path(__file__).parent

# A program that makes a stencil, calls it in three ways, and tells whether it had to compile anything.
PROGRAM = f"""
import json, sys
sys.path.insert(0, {str(HERE)!r})
import numpy as np
import isobar
from test_kept import average, scaled

made = [isobar.stencil("rayon", average, threads=1), isobar.stencil("rayon", scaled({{factor}}), threads=1)]
total = 0.0
for order in "CF":
    a = np.asarray(np.random.default_rng(3).random((24, 20, 12)), order=order)
    b = np.zeros_like(a)
    made[0](a, b, origin=(1, 1, 0), domain=(22, 18, 12))
    made[1](b, a)
    total += float(a.sum())
same = np.random.default_rng(4).random((9, 8, 7))
made[1](same, same)
total += float(same.sum())
print(json.dumps({{{{"compiled": [it._native.is_compiled() for it in made], "total": total.hex()}}}}))
"""


def average(a: "Field[float]", b: "Field[float]"):  # noqa: F821
    with computation(PARALLEL), interval(...):  # noqa: F821
        b = 0.25 * (a[-1, 0, 0] + a[1, 0, 0] + a[0, -1, 0] + a[0, 1, 0])


def scaled(factor):
    def function(a: "Field[float]", b: "Field[float]"):  # noqa: F821
        with computation(FORWARD):  # noqa: F821
            with interval(0, 1):  # noqa: F821
                b = factor * a
            with interval(1, None):  # noqa: F821
                b = factor * a + b[0, 0, -1]

    return function


def slow(a: "Field[float]", b: "Field[float]"):  # noqa: F821
    with computation(FORWARD), interval(...):  # noqa: F821
        n = 0.0
        while n < 3000.0:
            n = n + 1.0
        b = a + n


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "cache")
        self.environment = {**os.environ, "ISOBAR_CACHE": str(self.folder)}

    def program(self, factor=2.0):
        command = [sys.executable, "-c", PROGRAM.format(factor=factor)]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def told(self, process):
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)
        return json.loads(out)

    def test_a_second_process_compiles_nothing(self):
        first = self.told(self.program())
        second = self.told(self.program())
        self.assertEqual(first["compiled"], [True, True])
        self.assertEqual(second["compiled"], [False, False])
        self.assertEqual(first["total"], second["total"])
        # A stencil that sees another value is another one.
        third = self.told(self.program(3.0))
        self.assertEqual(third["compiled"], [False, True])
        self.assertNotEqual(third["total"], first["total"])

    def test_processes_that_start_together_share_what_each_of_them_makes(self):
        # Who makes code for some arrays may be another one than who compiled the stencil first; nothing is made twice.
        found = [self.told(it) for it in [self.program() for _ in range(6)]]
        self.assertTrue(any(any(it["compiled"]) for it in found))
        again = [self.told(it) for it in [self.program() for _ in range(6)]]
        self.assertFalse(any(any(it["compiled"]) for it in again), again)
        self.assertEqual(len({it["total"] for it in [*found, *again]}), 1)

    def test_what_is_damaged_is_made_anew(self):
        first = self.told(self.program())
        whole = {it: it.read_bytes() for it in self.folder.glob("rayon/*.stencil")}
        self.assertEqual(len(whole), 2)
        for damage in (lambda it: it[: len(it) // 2], lambda it: b"", lambda it: bytes(reversed(it))):
            for path, code in whole.items():
                path.write_bytes(damage(code))
            self.assertEqual(self.told(self.program()), first)
        # A folder that others can write to is not read.
        self.folder.chmod(0o777)
        self.assertEqual(self.told(self.program()), first)

    def test_a_full_disk_and_no_folder_at_all_are_no_harm(self):
        first = self.told(self.program())
        for folder in ("off", "/proc/nothing/here", "/dev/full"):
            self.environment["ISOBAR_CACHE"] = folder
            self.assertEqual(self.told(self.program()), first)

    def test_it_is_listed_explained_and_cleared(self):
        with mock.patch.dict(os.environ, {"ISOBAR_CACHE": str(self.folder)}):
            before = isobar.cache.explain(average)
            self.assertEqual((before.is_hit, before.nearest), (False, None))
            isobar.stencil("rayon", average, threads=1)
            self.assertTrue(isobar.cache.explain(average).is_hit)
            self.assertEqual([(it.backend, it.stencil, it.is_whole) for it in isobar.cache.ls()], [("rayon", "average", True)])
            self.assertTrue(all(0.0 <= it.unused_s < 600.0 for it in isobar.cache.ls()))
            other = isobar.cache.explain(average, mode="fast")
            self.assertEqual(other.nearest, isobar.cache.explain(average).key)
            self.assertEqual(len(other.differs), 1)
            self.assertIn("the mode", str(other))
            with self.assertRaises(isobar.CallError):
                isobar.cache.explain(average, "debug")
            if "not here" not in isobar.backends()["openmp"]:
                self.assertFalse(isobar.cache.explain(average, "openmp").is_hit)
                a = np.ones((4, 4, 4))
                isobar.stencil("openmp", average, threads=1)(a, a.copy(), origin=(1, 1, 0), domain=(2, 2, 4))
                self.assertTrue(isobar.cache.explain(average, "openmp").is_hit)
            self.assertGreaterEqual(isobar.cache.clear(), 1)
            self.assertEqual(isobar.cache.ls(), [])
        with mock.patch.dict(os.environ, {"ISOBAR_CACHE": "off"}):
            self.assertEqual((isobar.cache.folder(), isobar.cache.ls(), isobar.cache.clear()), (None, [], 0))


class Levels(unittest.TestCase):
    def test_a_function_is_checked_at_its_own_lines(self):
        def wrong(a: "Field[float]"):  # noqa: F821
            with computation(PARALLEL), interval(...):  # noqa: F821
                a = nothing  # noqa: F821

        self.assertEqual(isobar.check(average), [])
        (found,) = isobar.check(wrong)
        self.assertEqual((found["severity"], found["file"]), ("error", __file__))
        line = pathlib.Path(__file__).read_text().splitlines()[found["line"] - 1]
        self.assertEqual(line[found["column"] - 1 :].split()[0], "nothing")
        with self.assertRaises(isobar.StencilError):
            isobar.lower(wrong)

    def test_a_text_and_a_file_are_compiled_as_they_stand(self):
        text = "def copy(a: Field[float], b: Field[float]):\n    with computation(PARALLEL), interval(...):\n        b = a\n"
        self.assertEqual(isobar.check(text), [])
        self.assertIn("copy", isobar.emit(text, "oir"))
        self.assertIn("isobar_run", isobar.emit(text))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.py")
            path.write_text(text + text.replace("copy", "other"))
            self.assertIn("other", isobar.emit(path, "oir", stencil="other"))
            with self.assertRaises(isobar.CaptureError):
                isobar.check(pathlib.Path(folder, "missing.py"))

    def test_nodes_of_a_level_know_their_places(self):
        level = isobar.lower(average, "oir")
        self.assertEqual(str(level), level.text)
        places = [it for node in level.nodes for it in node["places"]]
        self.assertTrue(places)
        self.assertEqual({it["file"] for it in places}, {__file__})
        first = average.__code__.co_firstlineno
        self.assertTrue(all(first <= it["line"] <= first + 3 for it in places))
        with self.assertRaises(isobar.CallError):
            isobar.lower(average, "nothing")
        with self.assertRaises(isobar.CallError):
            isobar.check(average, nothing=1)

    def test_memory_is_told_before_a_run(self):
        made = isobar.stencil("debug", slow)
        self.assertGreater(made.memory((10, 10, 10)), 0)
        self.assertGreater(made.memory((20, 10, 10)), made.memory((10, 10, 10)))
        with self.assertRaises(isobar.CallError):
            made.memory((1 << 40, 1 << 40, 1 << 40))


class Layouts(unittest.TestCase):
    def test_what_is_copied_is_counted_and_nothing_is_where_nobody_wants_it(self):
        points = np.random.default_rng(6).random((40, 30, 20))
        turned = np.asarray(points, order="F")
        meant = np.zeros_like(points)
        isobar.stencil("debug", scaled(2.0))(points, meant)
        for backend in ("rayon", "openmp"):
            if isobar.backends()[backend].startswith("not here"):
                continue
            by_cost = isobar.stencil(backend, scaled(2.0), threads=1)
            never = isobar.stencil(backend, scaled(2.0), threads=1, copies=False)
            for a in (points, turned, points[::-1], points[:, ::-1, :], points[:, :, ::-1]):
                b = np.zeros_like(a)
                self.assertEqual(never.layout(a, b), isobar.Layout("as given", (), 0, 0, None))
                never(a, b)
                self.assertEqual(b.sum() > 0, True)
            b = np.zeros_like(points)
            never(points, b)
            self.assertTrue(np.array_equal(b, meant))
            self.assertEqual(by_cost.layout(turned, np.zeros_like(turned)).there_bytes, 0)
            found = by_cost.layout(points, b)
            self.assertEqual(found.way, "copied")
            self.assertEqual(set(found.copied), {"a", "b"})
            self.assertEqual((found.there_bytes, found.back_bytes), (points.nbytes, points.nbytes))


class Interrupted(unittest.TestCase):
    def test_control_c_ends_a_long_run(self):
        # A shell starts what it puts into the background with this signal ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        made = isobar.stencil("debug", slow)
        a, b = np.ones((32, 32, 64)), np.zeros((32, 32, 64))
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            made(a, b)
        # Alone it takes minutes.
        self.assertLess(time.monotonic() - begun, 60.0)
        # What was written stays, and the stencil can be called again.
        small = np.zeros((2, 2, 2))
        made(np.ones((2, 2, 2)), small)
        self.assertTrue((small == 3001.0).all())

    def test_a_long_call_is_the_same_call(self):
        made = isobar.stencil("debug", average)
        a = np.random.default_rng(5).random((40, 30, 12))
        long, by_rayon = np.zeros_like(a), np.zeros_like(a)
        frame = {"origin": (1, 1, 0), "domain": (38, 28, 12)}
        made.bind(a, long, **frame).run()
        isobar.stencil("rayon", average)(a, by_rayon, **frame)
        self.assertTrue(np.array_equal(long, by_rayon))


if __name__ == "__main__":
    unittest.main()
