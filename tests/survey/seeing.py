"""What a page looks like to those who see little, use no mouse, or hold a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Every text that is seen with its contrast to what is behind it, and the least that it needs (WCAG 2.2, 1.4.3).
CONTRASTS = """() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = channels(getComputedStyle(at).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll('body *')].filter((element) =>
    element.checkVisibility() && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return texts.map((element) => {
    const style = getComputedStyle(element);
    const [high, low] = [light(channels(element.namespaceURI.endsWith('svg') ? style.fill : style.color)),
      light(behind(element))].sort((a, b) => b - a);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const text = element.textContent.trim().slice(0, 40);
    return { text, ratio: (high + 0.05) / (low + 0.05), need: large ? 3 : 4.5 };
  });
}"""

# What can be pressed, and is smaller than a finger.
SMALL = """() => [...document.querySelectorAll('button, summary, input, [role=option], label.choice')]
  .map((element) => element.closest('label.choice') ?? element)
  .filter((element) => element.checkVisibility() && element.getBoundingClientRect().height < 44)
  .map((element) => element.outerHTML.slice(0, 80))"""

# Fields without a name, and whatever is wider than the window.
UNNAMED = """() => [...document.querySelectorAll('input, button, select, textarea, svg[role=img], dialog')]
  .filter((element) => element.checkVisibility() && !(element.labels?.length || element.textContent.trim() ||
    element.getAttribute('aria-label') || element.getAttribute('aria-labelledby')))
  .map((element) => element.outerHTML.slice(0, 80))"""
BEYOND = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def faint(page: Page) -> list[dict[str, Any]]:
    """Texts that are hard to read."""
    found = page.evaluate(CONTRASTS)
    assert len(found) > 5
    return [each for each in found if each["ratio"] < each["need"]]


def flaws(page: Page) -> dict[str, Any]:
    """All that is wrong with it as it is seen now."""
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((element) => element.id)")
    return {
        "faint": faint(page),
        "small": page.evaluate(SMALL),
        "unnamed": page.evaluate(UNNAMED),
        "beyond": page.evaluate(BEYOND),
        "twice": sorted({each for each in ids if ids.count(each) > 1}),
    }


NO_FLAWS: dict[str, Any] = {"faint": [], "small": [], "unnamed": [], "beyond": 0, "twice": []}
