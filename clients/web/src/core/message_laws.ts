// Laws by which a person sends several messages, or the shuffler adds some of its own: what one person draws of them.
//
// Tables of noise follow from a few integers of the design by whole-number arithmetic, as in
// shuffledp.sampling.tables: nothing is rounded that Python does not round alike.
import { bitsFor, coins, fromTable, uniforms, WORD, type Table } from "./draws.ts";
import { integersOf, krr, mixing, unlike, type Law } from "./laws.ts";
import { optional, real, text, unsound, whole } from "./fields.ts";
import type { Fields } from "./strict_json.ts";
import type { Words } from "./words.ts";

const FINE = 1n << 128n;
const CLOSE = 1e-9;
const MOST_SLOTS = 2 ** 12;
const MOST_LEVELS = 16;
const MOST_SHARES = 1024;
const MOST_REACH = 2 ** 21;
const MOST_BITS = 52;
const MOST_PEOPLE = 1e15;
const [BLANK, PLUS, MINUS] = [0, 1, 2];
const UNIT = 2 ** -64;
const TINY = 2 ** -120; // more than Python's rounding

/** True values among fakes: everybody sends ``slots`` further messages, each a value drawn from all or a blank, k. */
export function fakes(fields: Fields, k: number): Law {
  const slots = whole(fields, "slots", 1, MOST_SLOTS);
  const chance = real(fields, "chance", 2 ** -64, 1, true);
  const kind = text(fields, "kind");
  const [light, ...rest] = integersOf(fields) as [bigint, ...bigint[]];
  const truth = lightly(fields, k, light);
  let sent: (source: Words) => boolean[];
  if (kind === "bernoulli") {
    const threshold = rest[0];
    if (rest.length !== 1 || threshold !== nearest(chance)) throw unlike(fields, "chance");
    sent = (source) => coins(source, threshold, slots);
  } else {
    const [first, table] = counts(fields, rest);
    if (kind !== "poisson" || !isPoisson(first, table, slots * chance, slots)) throw unlike(fields, "chance");
    sent = (source) => {
      const number = first + fromTable(source, table);
      return Array.from({ length: slots }, (_, slot) => slot < number);
    };
  }
  return {
    ...truth,
    family: "fakes",
    messages: 1 + slots,
    form: { bits: bitsFor(k + 1), width: 1, outputs: k + 1 },
    draw(source, value) {
      const own = truth.draw(source, value);
      const filled = sent(source);
      const drawn = uniforms(source, k, filled.filter(Boolean).length);
      return [...own, ...filled.map((fake) => (fake ? drawn.shift()! : k))];
    },
  };
}

/** The value, and nothing else: the shuffler adds dummies, by numbers that are of no use here. */
export function dummies(fields: Fields, k: number): Law {
  const [light, kept, ...rest] = integersOf(fields) as [bigint, bigint, ...bigint[]];
  if (kept !== nearest(real(fields, "keep", 2 ** -64, 1, true))) throw unlike(fields, "keep");
  checkDummies(fields, rest);
  return { ...lightly(fields, k, light), family: "dummies" };
}

/**
 * The node of a tree that holds the value, in every level, coarse ones first: one of any level but the last is
 * ``branches`` nodes of the next in a row. The shuffler adds dummies to every node. Nodes are numbered through all levels.
 */
export function tree(fields: Fields, k: number): Law {
  const levels = whole(fields, "levels", 1, MOST_LEVELS);
  const branches = whole(fields, "branches", 2);
  const [light, kept, ...rest] = integersOf(fields) as [bigint, bigint, ...bigint[]];
  if (light !== 0n || kept !== WORD || fields.get("epsilon0") !== null) throw unlike(fields);
  checkDummies(fields, rest);
  const widths = Array.from({ length: levels }, (_, level) => branches ** (levels - 1 - level));
  if (widths[0]! >= k) throw unsound("levels", "so many that each has two nodes or more", fields.get("levels"));
  const sizes = widths.map((width) => Math.ceil(k / width));
  const first = sizes.map((_, level) => sizes.slice(0, level).reduce((sum, size) => sum + size, 0));
  const outputs = sizes.reduce((sum, size) => sum + size, 0);
  return {
    ...plain("tree", k),
    messages: levels,
    form: { bits: bitsFor(outputs), width: 1, outputs },
    draw: (_, value) => widths.map((width, level) => first[level]! + Math.floor(value / width)),
  };
}

/** Messages +1 and -1 (1 and 2), and blanks (0): whoever holds the value sends one +1 more. */
export function signed(fields: Fields, k: number): Law {
  const { people, ratio, none, rest } = shared(fields);
  const messages = whole(fields, "messages", 2, MOST_SHARES);
  const pairs = whole(fields, "pairs", 0, MOST_PEOPLE);
  const noPair = wide(rest);
  if (k !== 2 || rest.length !== 2 || !lacks(noPair, -Math.expm1(-pairs / people))) throw unlike(fields, "pairs");
  const most = messages - 1;
  const cells = Array.from({ length: most + 1 }, (_, plus) =>
    Array.from({ length: most + 1 - plus }, (_, minus) => [plus, minus] as const),
  ).flat();
  const table = once(() => {
    const single = geometricShare(none, ratio, people, most);
    const both = poissonShare(noPair, pairs, people, Math.floor(most / 2));
    return filled(
      cells.map(([plus, minus]) => {
        let sum = 0n;
        for (let c = 0; c <= Math.min(plus, minus, both.length - 1); c++) {
          sum += both[c]! * single[plus - c]! * single[minus - c]!;
        }
        return sum / (FINE * FINE);
      }),
    );
  });
  return {
    ...plain("signed", k),
    messages,
    form: { bits: 8, width: 1, outputs: 3 },
    draw(source, value) {
      const [plus, minus] = cells[fromTable(source, table())]!;
      const own = plus + Number(value !== 0);
      return Array.from({ length: messages }, (_, place) => {
        if (place < own) return PLUS!;
        return place < own + minus ? MINUS! : BLANK!;
      });
    },
  };
}

/** Split and mix: the value and a share of noise, cut into random numbers that add up to it modulo 2^share_bits. */
export function split(fields: Fields, k: number): Law {
  const { people, ratio, none, rest } = shared(fields);
  const messages = whole(fields, "messages", 2, MOST_SHARES);
  const bits = whole(fields, "share_bits", 2, MOST_BITS);
  const reach = whole(fields, "reach", 1, MOST_REACH);
  if (rest.length) throw unlike(fields, "decay");
  const table = once(() => filled(geometricShare(none, ratio, people, reach)));
  const modulus = 2 ** bits;
  return {
    ...plain("split", k),
    messages,
    form: { bits: bitsFor(modulus), width: 1, outputs: modulus },
    draw(source, value) {
      const noise = fromTable(source, table()) - fromTable(source, table());
      const shares = uniforms(source, modulus, messages - 1);
      const sum = shares.reduce((total, share) => total + BigInt(share), 0n);
      return [...shares, Number(BigInt.asUintN(bits, BigInt(value + noise) - sum))];
    },
  };
}

/** What a true message is drawn by: k-ary randomized response, or nothing. */
function lightly(fields: Fields, k: number, light: bigint): Law {
  const epsilon0 = optional(fields, "epsilon0", (of, name) => real(of, name, 1e-12, 50, true));
  if (epsilon0 !== null) return krr(k, epsilon0, mixing(fields, epsilon0, 1 / k, light));
  if (light) throw unlike(fields, "epsilon0");
  return { ...plain("truth", k), form: { bits: bitsFor(k), width: 1, outputs: k }, draw: (_, value) => [value] };
}

/** What all laws have whose messages hide nothing by themselves. */
function plain(family: string, k: number) {
  return { family, k, messages: 1, epsilon0: Infinity, random: 0, blank: 0, own: 1, other: 0 };
}

/** The people whose shares add up to the noise, its ratio out of 2^64, and the chance that one adds none. */
function shared(fields: Fields): { people: number; ratio: bigint; none: bigint; rest: bigint[] } {
  if (fields.get("epsilon0") !== null) throw unsound("epsilon0", "null", fields.get("epsilon0"));
  const people = whole(fields, "honest", 1, MOST_PEOPLE);
  const decay = real(fields, "decay", 1e-9, 45, true);
  const [ratio, high, low, ...rest] = integersOf(fields) as [bigint, bigint, bigint, ...bigint[]];
  const none = wide([high, low]);
  const q = Number(ratio) * UNIT;
  const log = q < 0.5 ? Math.log1p(-q) : Math.log(Number(WORD - ratio) * UNIT); // of 1 - q
  if (!(Math.abs(q - Math.exp(-decay)) <= CLOSE && lacks(none, -Math.expm1(log / people)))) {
    throw unlike(fields, "decay");
  }
  return { people, ratio, none, rest };
}

/** P(j) = P(j - 1) q (j - 1 + 1/people) / j, out of 2^128. */
function geometricShare(none: bigint, ratio: bigint, people: number, reach: number): bigint[] {
  const [chances, many] = [[none], BigInt(people)];
  for (let j = 1n; j <= reach; j++) chances.push((chances.at(-1)! * ratio * (1n + (j - 1n) * many)) / (WORD * j * many));
  return chances;
}

/** P(j) = P(j - 1) mean / (people j), out of 2^128. */
function poissonShare(none: bigint, mean: number, people: number, reach: number): bigint[] {
  const [chances, many] = [[none], BigInt(people)];
  for (let j = 1n; j <= reach; j++) chances.push((chances.at(-1)! * BigInt(mean)) / (many * j));
  return chances;
}

/** A table: what is missing to 2^128 goes to the first entry. */
function filled(chances: bigint[]): Table {
  const missing = FINE - chances.reduce((total, chance) => total + chance, 0n);
  return tableOf([chances[0]! + missing, ...chances.slice(1)]);
}

/** The borders between values. */
function tableOf(weights: readonly bigint[]): Table {
  let end = 0n;
  return weights.map((weight) => (end += weight));
}

/** A first count, and the table of it and the next: weights that sum to 2^64. */
function counts(fields: Fields, [first, ...weights]: bigint[]): [number, Table] {
  const table = tableOf(weights);
  if (first === undefined || table.at(-1) !== WORD) throw unlike(fields, "kind");
  return [Number(first), table];
}

/**
 * Refuse a table of other numbers of dummies than the file says, or of none: each chance follows from the one before,
 * up to what Python rounds, and where the table ends the next would be nothing.
 */
function checkDummies(fields: Fields, [least, ...rest]: bigint[]): void {
  const kind = text(fields, "kind");
  const center = whole(fields, "center", 0);
  const left = real(fields, "left", 0, 1, true);
  const right = real(fields, "right", 0, 1, true);
  const rate = real(fields, "rate", 0, MOST_PEOPLE, true);
  const [first] = counts(fields, [least!, ...rest]);
  const geometric = kind === "geometric" && !rate;
  const poisson = kind === "poisson" && !center && !left && !right;
  const none = first === 0 && rest.length === 1;
  const weights = [0, ...rest.map(Number), 0];
  const twoSided = (count: number) => (count <= center ? [1, left] : [right, 1]);
  const follows = weights.slice(1).every((next, at) => {
    const count = first + at; // of which ``next`` is the weight; the one before has ``last``
    const last = weights[at]!;
    const [up, down] = geometric ? twoSided(count) : [rate / (rate + count), count / (rate + count)];
    return count === 0 || Math.abs(last * up! - next * down!) <= CLOSE * Math.max(last, next) + 2;
  });
  if (!(geometric || poisson) || none || !follows) throw unlike(fields, "kind");
}

/** Two words as one number. */
function wide([high, low]: readonly bigint[]): bigint {
  return ((high ?? 0n) << 64n) | (low ?? 0n);
}

/** Whether a probability out of 2^128 is so much below 1, as far as a browser computes it: that is what one of many adds. */
function lacks(found: bigint, share: number): boolean {
  return Math.abs(Number(FINE - found) * UNIT * UNIT - share) <= CLOSE * share + TINY;
}

/** Whether a table is that of a Poisson number; what lies above ``most`` counts as ``most``. */
function isPoisson(first: number, table: Table, mean: number, most: number): boolean {
  let [log, below] = [-mean, 0]; // of a count's chance; and that of as many or fewer
  for (let count = 0; count < most; count++) {
    below += Math.exp(log);
    const border = count < first ? 0n : (table[count - first] ?? WORD);
    if (!(Math.abs(Number(border) * UNIT - below) <= CLOSE)) return false;
    log += Math.log(mean / (count + 1));
  }
  return first + table.length - 1 <= most;
}

/** The whole number nearest to a probability times 2^64; of two, the even one. */
function nearest(probability: number): bigint {
  const scaled = probability * 2 ** 64;
  const below = Math.floor(scaled);
  const up = scaled - below > 0.5 || (scaled - below === 0.5 && below % 2 === 1);
  return BigInt(below) + (up ? 1n : 0n);
}

/** Work something out when it is first asked for. */
function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
