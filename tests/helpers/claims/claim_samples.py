"""What the tests of cards and of the ledger share."""

from html.parser import HTMLParser

from helpers.claims import Interval, report

GOOD = {"trained": {"near": 0.2, "gap": Interval(0.5, 0.1, 0.9)}, "untrained": {"near": 0.9, "gap": 0.0}}


def reported(id="X01", *, judge=None, facts=None, **states):
    """A record that is accepted, with changes: trained={…}, untrained={…}."""
    table = {state: GOOD[state] | states.get(state, {}) for state in GOOD} | {
        state: values for state, values in states.items() if state not in GOOD}
    return report(id, judge or table.__getitem__, **({"side": 4, "off": -0.25} if facts is None else facts))


class Tags(HTMLParser):
    """Checks that tags are closed in order and remembers what it saw."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        if tag not in ("br", "input"):
            self.open.append(tag)
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
