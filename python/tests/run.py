"""Runs all tests of this folder; the last line is `N passed, M failed`."""

import pathlib
import sys
import unittest

if __name__ == "__main__":
    here = pathlib.Path(__file__).parent
    suite = unittest.defaultTestLoader.discover(str(here))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    for test, why in result.skipped:
        print(f"skipped: {test}: {why}")
    print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed")
    sys.exit(bad > 0 or result.testsRun == 0)
