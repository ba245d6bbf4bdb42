"""The ten slowest tests of a ctest run, and all of its time:  slowest.py RESULTS.xml   (ctest --output-junit)"""
import sys
import xml.etree.ElementTree

tests = xml.etree.ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
times = sorted(((float(test.get("time", 0)), test.get("name")) for test in tests), reverse=True)
print(f"\nThe slowest of {len(times)} tests, {sum(time for time, _ in times) / 60:.1f} minutes in all, one after the other:")
for time, name in times[:10]:
    print(f"{time:7.0f} s  {name}")
