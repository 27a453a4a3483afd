// The error under the three models of trust, on one logarithmic scale.
import type { Numbers } from "./asking.ts";
import { decades, html, percent, svg } from "./drawing.ts";

const NAMES: Record<string, [string, string]> = {
  local: ["Local", "trust nobody"],
  shuffled: ["Shuffled", "trust the shuffler not to collude"],
  central: ["Central", "trust a curator with every value"],
};

/** Drawn once and then moved, so that dots glide and nothing jumps. */
export function drawModels(place: HTMLElement, found: Numbers): void {
  if (place.childElementCount === 0) place.append(...found.errors.map((each) => row(each.model)), html("p", "axis"));
  const shares = found.errors.map((each) => each.value / each.scale);
  const [low, high] = decades(shares, 3);
  const at = (share: number): number => (Math.log10(share) - low) / (high - low);
  found.errors.forEach((each, index) => {
    const drawn = place.children[index] as HTMLElement;
    const x = percent(at(each.value / each.scale));
    drawn.querySelector(".stem")?.setAttribute("x2", x);
    drawn.querySelector(".dot")?.setAttribute("cx", x);
    (drawn.querySelector(".value") as HTMLElement).textContent = `± ${each.text}`;
    (drawn.querySelector(".share") as HTMLElement).textContent = each.share;
    (drawn.querySelector(".how") as HTMLElement).textContent = each.mechanism && ` by ${each.mechanism}`;
  });
  const names = Array.from({ length: high - low + 1 }, (_, step) => html("span", "", shareText(low + step)));
  place.querySelector(".axis")?.replaceChildren(...names);
}

function row(model: string): HTMLElement {
  const [name, trust] = NAMES[model] ?? [model, ""];
  const line = svg(
    "svg",
    { class: "lollipop", height: 16, width: "100%", "aria-hidden": "true" },
    svg("line", { class: "grid", x1: 0, x2: "100%", y1: 8, y2: 8 }),
    svg("line", { class: "stem", x1: 0, x2: 0, y1: 8, y2: 8 }),
    svg("circle", { class: "dot", cx: 0, cy: 8, r: 6 }),
  );
  const label = html("p", "who", html("b", "", name), ` ${trust}`, html("span", "how"));
  const about = model === "central" ? [] : [html("span", "about", "≈")]; // a curator's noise is never a forecast
  const number = html("p", "what", ...about, html("span", "value"), " ", html("span", "share"));
  return html("div", `model ${model}`, label, number, line);
}

/** A power of ten as a share in percent; these are ticks of an axis, and exact. */
function shareText(exponent: number): string {
  const inPercent = exponent + 2;
  return inPercent >= -3 ? `${10 ** inPercent} %`.replace(/^(0\.0*1)0+\d* %$/, "$1 %") : `1e${inPercent} %`;
}
