// How many of 100 people would send which report: what the noise does, to be seen.
import type { Design, Law } from "../client.ts";
import { draw, make, quoted } from "../shared/dom.ts";
import { inDigits, whole } from "../shared/numbers.ts";
import { verbOf } from "./wording.ts";

const COLUMNS: Record<number, number> = { 100: 10, 1000: 40 };
const MOST_BARS = 12;
const HEIGHT = 110;

/**
 * The picture for an answer: a place among the labels, a number, or null while there is none. Where an answer is sent
 * as it is, there is no noise to be seen; and of a bin, words say it all.
 */
export function pictureOf(design: Design, answer: number | null): Node[] {
  if (design.law.epsilon0 === Infinity || design.edges) return [];
  return design.bounds ? bars(design, design.bounds, answer) : crowds(design, answer);
}

/** Two crowds, those with the answer and those with another: how many of each send a report for it. */
function crowds(design: Design, answer: number | null): Node[] {
  const { law, labels } = design;
  const [rare, common] = strays(law);
  const people = 100 * rare < 1 ? 1000 : 100;
  const verb = verbOf(design);
  const it = () => (answer === null || design.level ? "your answer" : quoted(labels[answer]!));
  const holders = answer === null ? "your answer" : "this answer";
  const words = [` with ${holders} would send a report that ${verb} `, it(), "."];
  const own = crowd({ people, chance: law.own, blank: law.blank, nearly: "about", words });
  const which = rare < common ? `; at most ${whole(Math.ceil(people * common))}, depending on which` : "";
  const other = crowd({
    people,
    chance: rare,
    blank: law.blank,
    nearly: rare < common ? "at least" : "about",
    words: [` with another answer would send one, too${which}.`],
  });
  const caption = make("figcaption", {}, `Each dot is a person; a large one sends a report that ${verb} `, it());
  caption.append(law.blank ? ", a ring a blank." : ".", " Any report may come from anybody: it is never a proof.");
  return [make("div", { class: "crowds" }, own, other), caption];
}

/**
 * Between which chances somebody with another answer sends a report that fits this one. They differ for codes alone:
 * half of those that fit an answer fit any other one of its block.
 */
function strays({ own, other, random, epsilon0, form }: Law): [number, number] {
  if (other !== null) return [other, other];
  const least = own * Math.exp(-epsilon0); // that of another block
  const blocks = Math.round(random / (2 * least));
  const alone = form.outputs === 2 * blocks; // each answer in a block of its own
  return [least, alone ? least : least + (1 - random) / 2];
}

interface Crowd {
  people: number;
  /** The chance that one of them sends such a report, and a blank. */
  chance: number;
  blank: number;
  nearly: "about" | "at least";
  words: (Node | string)[];
}

function crowd({ people, chance, blank, nearly, words }: Crowd): HTMLElement {
  const speaking = nearly === "about" ? Math.round(people * chance) : Math.floor(people * chance);
  const silent = Math.round(people * (1 - blank)) - speaking;
  const columns = COLUMNS[people]!;
  const size = 100 / columns;
  const dots = Array.from({ length: people }, (_, index) => {
    const kind = kindOf(index, speaking, silent);
    const radius = { speaks: 0.4, silent: 0.17, blank: 0.28 }[kind] * size;
    const [cx, cy] = [index % columns, Math.floor(index / columns)].map((place) => (place + 0.5) * size);
    return draw("circle", { class: kind, cx: cx!, cy: cy!, r: radius });
  });
  const rows = people / columns;
  const label = `${whole(people)} dots, ${whole(speaking)} of them large`;
  const picture = draw("svg", { viewBox: `0 0 100 ${rows * size}`, role: "img", "aria-label": label }, ...dots);
  const few = speaking || nearly === "at least" ? `${nearly} ${whole(speaking)}` : "fewer than 1";
  const text = make("p", {}, make("strong", {}, few), `of ${whole(people)} people`, ...words);
  return make("div", { class: "crowd" }, picture, text);
}

function kindOf(index: number, speaking: number, silent: number): "speaks" | "silent" | "blank" {
  if (index < speaking) return "speaks";
  return index < speaking + silent ? "silent" : "blank";
}

/** For a number: where on the scale 100 people who have it would report to be. */
function bars(design: Design, [lower, upper]: readonly [number, number], answer: number | null): Node[] {
  const number = answer ?? (lower + upper) / 2;
  const position = ((number - lower) / (upper - lower)) * (design.law.k - 1);
  const count = Math.min(design.law.k, MOST_BARS);
  const [binned, near] = bins(design.law, position, count);
  const people = apportioned(binned, 100);
  const width = 100 / count;
  const tallest = Math.max(...people);
  const shapes = people.flatMap((each, place) => {
    const tall = (each / tallest) * HEIGHT;
    const middle = (place + 0.5) * width;
    const [x, y] = [`${middle - 0.36 * width}%`, 20 + HEIGHT - tall];
    const kind = near.has(place) ? "bar near" : "bar";
    return [
      draw("rect", { class: kind, x, y, width: `${0.72 * width}%`, height: tall, rx: 2 }),
      draw("text", { x: `${middle}%`, y: 15 + HEIGHT - tall, "text-anchor": "middle" }, String(each)),
    ];
  });
  const [low, high] = [inDigits(lower, 6), inDigits(upper, 6)];
  const ends = [
    draw("text", { class: "tick", x: 0, y: HEIGHT + 38 }, low),
    draw("text", { class: "tick", x: "100%", y: HEIGHT + 38, "text-anchor": "end" }, high),
  ];
  const line = draw("line", { class: "axis", x1: 0, x2: "100%", y1: HEIGHT + 20, y2: HEIGHT + 20 });
  const about = inDigits(number, 6);
  const list = people.map((each, place) => `${each} in part ${place + 1}`).join(", ");
  const label =
    `Of 100 people whose number is ${about}, by where they report to be, in ${count} parts from ${low} to ${high}: ` +
    `${list}.`;
  const frame = { width: "100%", height: HEIGHT + 44, role: "img", "aria-label": label };
  const picture = draw("svg", frame, ...shapes, line, ...ends);
  const example = answer === null ? `If your number were ${about}: what` : "What";
  const caption = make(
    "figcaption",
    {},
    `${example} 100 people with this number would report, from ${low} to ${high}; blue is where it lies. Any report ` +
      "may come from anybody: it is never a proof. The mean of many is close.",
  );
  return [picture, caption];
}

/**
 * The chance of a report in each part of the grid, and the parts that the number at ``position`` is rounded to. A grid
 * may have far more points than a browser has memory: its points are counted, never listed.
 */
function bins({ k, random }: Law, position: number, count: number): [number[], Set<number>] {
  const start = (part: number) => Math.ceil((part * k) / count);
  const partOf = (point: number) => Math.min(Math.floor((point * count) / k), count - 1);
  const binned = Array.from({ length: count }, (_, part) => (random * (start(part + 1) - start(part))) / k);
  const [below, above] = [Math.floor(position), Math.ceil(position)];
  binned[partOf(below)]! += (1 - random) * (1 - position + below);
  binned[partOf(above)]! += (1 - random) * (position - below);
  return [binned, new Set([partOf(below), partOf(above)])];
}

/** Whole numbers with this sum, as close to the shares as can be: the largest remainders are rounded up. */
function apportioned(shares: readonly number[], sum: number): number[] {
  const parts = shares.map((share) => Math.floor(share * sum));
  const left = sum - parts.reduce((total, part) => total + part, 0);
  const order = shares.map((share, place) => [share * sum - parts[place]!, place] as const).sort(([a], [b]) => b - a);
  order.slice(0, left).forEach(([, place]) => parts[place]!++);
  return parts;
}
