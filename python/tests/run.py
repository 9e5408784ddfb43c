"""Runs all tests of this folder; the last line is `N passed, M failed, K skipped`."""

import pathlib
import sys
import unittest


class Counted(unittest.TextTestResult):
    """Counts what passed: classes that are skipped as a whole are skips without tests."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


if __name__ == "__main__":
    here = pathlib.Path(__file__).parent
    suite = unittest.defaultTestLoader.discover(str(here))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2, resultclass=Counted).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    for test, why in result.skipped:
        print(f"skipped: {test.id()}: {' '.join(why.split())}")
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0 or result.testsRun == 0)
