"""What a reader can move in an explorer."""

from __future__ import annotations


def moves(explorer):
    """(name, act) for each control that can be moved now; the first act of a tab may bring others in sight."""
    for slider in explorer.locator("input[type=range]:visible").all():
        key = "Home" if slider.evaluate("input => input.value === input.max") else "End"
        yield slider.get_attribute("id"), lambda slider=slider, key=key: slider.press(key)
    for choice in explorer.locator("select:visible").all():
        if choice.locator("option").count() > 1:
            other = choice.evaluate("select => select.selectedIndex ? 0 : 1")
            yield choice.get_attribute("id"), lambda choice=choice, other=other: choice.select_option(index=other)
    for tab in explorer.locator("input[type=radio]:visible:not(:checked)").all():
        yield tab.get_attribute("id"), lambda tab=tab: tab.check()
