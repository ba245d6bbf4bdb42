"""What a notebook shows: pictures that are well-formed, with every row; text for a terminal."""
import unittest
import xml.etree.ElementTree as xml

import meshwright as mw
from some_plan import RUN, plan, ranking


class Display(unittest.TestCase):
    def test_a_timeline_is_a_picture(self):
        timeline = mw.simulate(plan().replace(data=4, pipeline=2, microbatch=2), timeline=True).timeline
        drawn = xml.fromstring(timeline._repr_svg_())
        boxes = [element for element in drawn if element.tag.endswith("rect")]
        self.assertEqual(len(boxes), len(timeline))
        self.assertTrue(all(float(box.get("width")) > 0 for box in boxes))
        self.assertIn("stage 1, rank", timeline._repr_svg_())

    def test_tables(self):
        for shown, rows in ((ranking(), 5), (mw.simulate(plan()), 7), (mw.compare(RUN), 10)):
            table = xml.fromstring("<all>" + shown._repr_html_() + "</all>").find("table")
            self.assertGreaterEqual(len(table.find("tbody")), rows)
            self.assertGreaterEqual(len(repr(shown).splitlines()), rows)

    def test_names_cannot_break_the_page(self):
        from meshwright import display
        self.assertIn("&lt;b&gt;", display.html_table([["a"], ["<b>"]]))


if __name__ == "__main__":
    unittest.main()
