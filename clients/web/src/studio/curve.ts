// delta against epsilon: the certified band, the promise, and published bounds as thin lines.
import type { Bound, Curve } from "./asking.ts";
import { percent, power, svg, ticks } from "./drawing.ts";

const HEIGHT = 250;
const LABELS = 5; // lines of labels at the top
const LABEL = 15;
const BELOW = 1e-9; // so far below what is drawn, a curve has left the picture

export function drawCurve(place: HTMLElement, curve: Curve, bounds: readonly Bound[]): void {
  const far = curve.at[curve.at.length - 1] ?? 1;
  const lowest = Math.floor(Math.log10(curve.floor));
  const x = (epsilon: number): number => epsilon / far;
  const y = (delta: number): number => (HEIGHT * Math.log10(Math.max(delta, BELOW * curve.floor))) / lowest;

  const points = (ends: number[]): string[] => ends.map((delta, i) => `${x(curve.at[i] ?? 0)} ${y(delta)}`);
  const upper = points(curve.upper);
  const lower = points(curve.lower);
  const shape = (name: string, path: string): SVGElement =>
    svg("path", { class: name, d: path, "vector-effect": "non-scaling-stroke" });
  const band = svg(
    "svg",
    { viewBox: `0 0 1 ${HEIGHT}`, preserveAspectRatio: "none", width: "100%", height: HEIGHT },
    shape("band", `M${upper.join("L")}L${[...lower].reverse().join("L")}Z`),
    shape("lower", `M${lower.join("L")}`),
    shape("upper", `M${upper.join("L")}`),
  );
  const promised = svg("g", {}, ...promise(percent(x(curve.epsilon.value ?? 0)), y(curve.delta.value ?? 1), curve));
  const drawn = svg(
    "svg",
    { class: "curve", width: "100%", height: HEIGHT, role: "img", "aria-label": summary(curve) },
    ...axes(far, x, lowest),
    band,
    svg("g", {}, ...lines(bounds, x, y(curve.delta.value ?? 1), place.clientWidth)),
    promised,
  );
  place.replaceChildren(drawn);
}

function summary(curve: Curve): string {
  return `The certified curve: at delta ${curve.delta.text}, epsilon is at most ${curve.epsilon.text}.`;
}

function axes(far: number, x: (epsilon: number) => number, lowest: number): SVGElement[] {
  const made: SVGElement[] = [];
  const step = lowest < -60 ? 24 : lowest < -18 ? 6 : 3;
  for (let exponent = 0; exponent >= lowest; exponent -= step) {
    const level = (HEIGHT * exponent) / lowest;
    made.push(svg("line", { class: "grid", x1: 0, x2: "100%", y1: level, y2: level }));
    made.push(svg("text", { class: "tick", x: 0, y: level + 4, dx: -10, "text-anchor": "end" }, power(exponent)));
  }
  for (const tick of ticks(far)) {
    const at = percent(x(tick));
    made.push(svg("line", { class: "axis", x1: at, x2: at, y1: HEIGHT, y2: HEIGHT + 5 }));
    made.push(svg("text", { class: "tick", x: at, y: HEIGHT + 22, "text-anchor": "middle" }, String(tick)));
  }
  made.push(svg("line", { class: "axis", x1: 0, x2: "100%", y1: HEIGHT, y2: HEIGHT }));
  made.push(svg("text", { class: "axis-name", x: 0, y: -14, dx: -10, "text-anchor": "end" }, "δ"));
  made.push(svg("text", { class: "axis-name", x: "100%", y: HEIGHT + 42, "text-anchor": "end" }, "ε"));
  return made;
}

function promise(at: string, level: number, curve: Curve): SVGElement[] {
  return [
    svg("line", { class: "guide", x1: 0, x2: at, y1: level, y2: level }),
    svg("line", { class: "guide", x1: at, x2: at, y1: level, y2: HEIGHT }),
    svg("circle", { class: "dot", cx: at, cy: level, r: 5.5 }),
    svg("text", { class: "mark", x: at, y: level, dx: -10, dy: 18, "text-anchor": "end" }, `ε ≤ ${curve.epsilon.text}`),
  ];
}

/** Every upper bound in sight as a thin line that ends at (epsilon, delta); as many labels as fit beside each other. */
function lines(bounds: readonly Bound[], x: (epsilon: number) => number, level: number, width: number): SVGElement[] {
  const made: SVGElement[] = [];
  const taken: number[] = Array.from({ length: LABELS }, () => -Infinity);
  const told = new Set<string>();
  for (const bound of bounds) {
    const share = x(bound.epsilon.value ?? Infinity);
    if (bound.side !== "upper" || share > 1 || !bound.label) continue;
    const wrong = bound.verdict === "refuted" || bound.verdict === "invalid";
    const at = percent(share);
    const name = wrong ? "published wrong" : "published";
    const start = share * width + 6;
    const line = told.has(bound.label) ? -1 : taken.findIndex((end) => end < start);
    const top = line < 0 ? LABELS * LABEL : line * LABEL + 3;
    made.push(svg("line", { class: name, x1: at, x2: at, y1: top, y2: level }));
    made.push(svg("circle", { class: name, cx: at, cy: level, r: 2.5 }));
    const room = bound.label.length * 6.8;
    if (line < 0 || start + room > width) continue;
    made.push(svg("text", { class: name, x: at, y: top + 9, dx: 5 }, bound.label));
    taken[line] = start + room + 8;
    told.add(bound.label);
  }
  return made;
}
