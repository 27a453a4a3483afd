// What every published bound says, each with its place on one logarithmic scale.
import type { Bound, Published, Silent } from "./asking.ts";
import { decades, html, percent, svg } from "./drawing.ts";

const OURS = "shuffledp";
const [NEAR, FAR] = [10, 100]; // what is farther away stands at the end of the scale
const VERDICTS: Record<Bound["verdict"], string> = {
  proven: "",
  assumed: "not all of it proven",
  unproven: "unproven",
  invalid: "wrong in general",
  refuted: "wrong here",
};

export function drawBounds(list: HTMLElement, reasons: HTMLElement, found: Published): void {
  const certified = found.rows.find((row) => row.name === OURS && row.side === "upper")?.epsilon.value || 1;
  const values = found.rows.map((row) => row.epsilon.value ?? 0).filter((each) => each > certified / NEAR && each < certified * FAR);
  const [low, high] = decades(values, 1);
  const at = (value: number): number => Math.min(1, Math.max(0, (Math.log10(value) - low) / (high - low)));
  const origin = at(certified);
  list.replaceChildren(...found.rows.map((row) => line(row, at, origin)));
  reasons.replaceChildren(...[...found.silent, ...found.skipped].map(silent));
}

function line(bound: Bound, at: (value: number) => number, origin: number): HTMLElement {
  const wrong = bound.verdict === "refuted" || bound.verdict === "invalid";
  const ours = bound.name === OURS;
  const x = percent(at(bound.epsilon.value ?? Infinity));
  const drawn = svg(
    "svg",
    { class: "lollipop", height: 14, width: "100%", "aria-hidden": "true" },
    svg("line", { class: "grid", x1: 0, x2: "100%", y1: 7, y2: 7 }),
    svg("line", { class: "stem", x1: percent(origin), x2: x, y1: 7, y2: 7 }),
    svg("circle", { class: `dot at-${bound.side === "upper" ? "most" : "least"}`, cx: x, cy: 7, r: ours ? 5 : 3.5 }),
  );
  const told = html("p", "who", ours ? `certified, ${bound.side} end` : bound.citation);
  const verdict = bound.side === "lower" && !ours ? `lower bound ${VERDICTS[bound.verdict]}`.trim() : VERDICTS[bound.verdict];
  if (verdict) told.append(" ", html("span", "verdict", verdict));
  if (bound.remark && bound.verdict !== "proven") told.append(html("small", "", bound.remark));
  const times = ours || !bound.times ? "" : `× ${bound.times}`;
  const number = html("p", "what", html("span", "value", bound.epsilon.text), " ", html("span", "share", times));
  return html("li", `${ours ? "ours" : ""} ${wrong ? "wrong" : ""}`.trim(), told, drawn, number);
}

function silent(each: Silent): HTMLElement {
  return html("li", "", html("b", "", each.citation), `: ${each.reason}`);
}
