// How one report is drawn: a law for every family of randomizers that a design can hold.
//
// A law's integers are taken from the design, out of 2^64, and never computed here. What is checked is that they belong
// to the epsilon0 beside them: whoever shows that number to people must not be told another one.
import { bitsFor, coin, coins, fromTable, one, uniform, WORD } from "./draws.ts";
import { fieldsOf, isNameIn, real, shown, text, unsound, whole } from "./fields.ts";
import { dummies, fakes, signed, split, tree } from "./message_laws.ts";
import { Refused } from "./refused.ts";
import { PARAMETERS, type WrittenLaw } from "./schema.ts";
import { Numeral, type Fields, type Json } from "./strict_json.ts";
import type { Bits, Words } from "./words.ts";

/** What one message is: a number below ``outputs`` or, where that is null, a row of ``width`` numbers. */
export interface Form {
  bits: Bits;
  width: number;
  outputs: number | null;
}

/** The law of one person's report about the values 0, ..., k - 1. */
export interface Law {
  family: string;
  k: number;
  /** Infinity where a message may be the truth. */
  epsilon0: number;
  /** How many messages the report consists of. */
  messages: number;
  form: Form;
  /** The chance that a report is drawn without a look at the answer; else it is one that speaks for the answer. */
  random: number;
  /** The chance that a report is blank. It is part of ``random``. */
  blank: number;
  /** The chance that a report speaks for the sender's own value. */
  own: number;
  /** The chance that it speaks for a given other value; null where that depends on which. */
  other: number | null;
  /** One report: the numbers that it is made of, message by message. */
  draw(source: Words, value: number): (number | bigint)[];
}

type Family = Exclude<WrittenLaw["type"], "check-in" | "one of">;
type Reader = (fields: Fields, k: number) => Law;

const LARGEST_EPSILON0 = 50;
const SMALLEST_EPSILON0 = 1e-12;
const CLOSE = 1e-9;
const MOST_NESTED = 32;
const MOST_LEVELS = 16;
const UNIT = 2 ** -64;

const FAMILIES: { [Each in Family]: Reader } = {
  krr: (fields, k) => {
    const epsilon0 = strength(fields);
    return krr(k, epsilon0, mixing(fields, epsilon0, 1 / k));
  },
  hadamard: (fields, k) => hadamard(fields, k, strength(fields)),
  hash: (fields, k) => hash(fields, k, strength(fields)),
  subset: (fields, k) => subset(fields, k, strength(fields)),
  oue: (fields, k) => oue(fields, k, strength(fields)),
  fakes,
  dummies,
  tree,
  signed,
  split,
};

/** The law that a design holds. */
export function lawOf(written: Json | undefined, depth = 0): Law {
  const family = written instanceof Map ? written.get("type") : undefined;
  if (family === "check-in") return checkIn(written, depth);
  if (family === "one of") return oneOf(written);
  if (!isNameIn(FAMILIES, family)) {
    const known = [...Object.keys(FAMILIES), "check-in", "one of"].join(", ");
    throw new Refused(
      `The type of a mechanism must be one that this page can draw from (${known}), got ${shown(family)}. ` +
        "Take part with the Python package instead, or ask the organizer for another design.",
    );
  }
  const fields: Fields = fieldsOf(`the law of ${family}`, written, PARAMETERS[family]);
  return FAMILIES[family](fields, whole(fields, "k", 2));
}

function strength(fields: Fields): number {
  return real(fields, "epsilon0", SMALLEST_EPSILON0, LARGEST_EPSILON0, true);
}

/** The bytes of a report, each number with its least byte first. */
export function bytesOf(form: Form, report: readonly (number | bigint)[]): Uint8Array<ArrayBuffer> {
  const size = form.bits / 8;
  const bytes = new DataView(new ArrayBuffer(size * report.length));
  report.forEach((each, index) => {
    const place = size * index;
    if (form.bits === 8) bytes.setUint8(place, Number(each));
    else if (form.bits === 16) bytes.setUint16(place, Number(each), true);
    else if (form.bits === 32) bytes.setUint32(place, Number(each), true);
    else bytes.setBigUint64(place, BigInt(each), true);
  });
  return new Uint8Array(bytes.buffer);
}

/** k-ary randomized response: the value or, with probability T / 2^64, a uniformly random one. */
export function krr(k: number, epsilon0: number, threshold: bigint): Law {
  return {
    ...mixed("krr", k, epsilon0, threshold, 1 / k, 0),
    form: { bits: bitsFor(k), width: 1, outputs: k },
    draw(source, value) {
      const noise = uniform(source, k);
      return [coin(source, threshold) ? noise : value];
    },
  };
}

/**
 * Hadamard response: a column of a block matrix. A uniform one or, without noise, the same moved to the value's block
 * and, if the value's row is -1 there, to its partner with the row's lowest bit flipped.
 */
function hadamard(fields: Fields, k: number, epsilon0: number): Law {
  const blocks = 2 ** (Math.min(Math.ceil(epsilon0 / Math.LN2), bitLength(2 * k - 1)) - 1);
  const size = 2 ** bitLength(Math.ceil(k / blocks));
  const columns = blocks * size;
  const share = 1 / (2 * blocks);
  const threshold = mixing(fields, epsilon0, share);
  return {
    ...mixed("hadamard", k, epsilon0, threshold, share, null),
    form: { bits: bitsFor(columns), width: 1, outputs: columns },
    draw(source, value) {
      const block = Math.floor(value / (size - 1));
      const row = (value % (size - 1)) + 1;
      const noise = uniform(source, columns);
      const column = noise & (size - 1);
      const partner = oddOnes(row & column) ? column ^ (row & -row) : column;
      return [coin(source, threshold) ? noise : block * size + partner];
    },
  };
}

/** Local hashing: the seed of a hash function, and the hash of the value by g-ary randomized response. */
function hash(fields: Fields, k: number, epsilon0: number): Law {
  const g = whole(fields, "g", 2, 2 ** 32);
  const threshold = mixing(fields, epsilon0, 1 / g);
  return {
    ...mixed("hash", k, epsilon0, threshold, 1 / g, 1 / g),
    form: { bits: 64, width: 2, outputs: null },
    draw(source, value) {
      const seed = one(source, 64);
      const hashed = (finalised(seed ^ finalised(BigInt(value) + 1n)) * BigInt(g)) >> 64n;
      const noisy = coin(source, threshold);
      const noise = uniform(source, g);
      return [seed, noisy ? noise : hashed];
    },
  };
}

/** Subset selection: any set of w values or, without noise, the value with a set of w - 1 others. */
function subset(fields: Fields, k: number, epsilon0: number): Law {
  const w = whole(fields, "size", 1, k - 1);
  const threshold = mixing(fields, epsilon0, w / k);
  return {
    ...mixed("subset", k, epsilon0, threshold, w / k, (w - 1) / (k - 1)),
    form: { bits: bitsFor(k), width: w, outputs: null },
    draw(source, value) {
      const chosen = coin(source, threshold) ? setOf(source, k, w) : holding(value, setOf(source, k - 1, w - 1), k - 1);
      return [...chosen].sort((a, b) => a - b);
    },
  };
}

/** Unary encoding: a bit for each value, the sender's own set with probability P / 2^64, the others with Q / 2^64. */
function oue(fields: Fields, k: number, epsilon0: number): Law {
  const [own, other] = positive(fields, 2) as [bigint, bigint];
  const implied = (flip: bigint) => Math.log1p(Number(WORD - 2n * flip) / Number(flip)); // of (1 - q) / q
  if (own !== WORD / 2n || other >= own) throw unlike(fields);
  checkImplied(fields, epsilon0, implied(other), implied(other - 1n));
  const q = Number(other) * UNIT;
  return {
    family: "oue",
    k,
    epsilon0,
    messages: 1,
    random: 0.5 / (1 - q),
    blank: 0,
    own: 0.5,
    other: q,
    form: { bits: 8, width: Math.ceil(k / 8), outputs: null },
    draw(source, value) {
      const bits = coins(source, other, k);
      bits[value] = coin(source, own);
      const bytes = new Array<number>(Math.ceil(k / 8)).fill(0);
      bits.forEach((set, place) => (bytes[place >> 3]! |= set ? 0x80 >> (place & 7) : 0));
      return bytes;
    },
  };
}

/** A check-in: the report of another law or, unless a coin says so, a blank. */
function checkIn(written: Json | undefined, depth: number): Law {
  const fields = fieldsOf("the law of a check-in", written, PARAMETERS["check-in"]);
  if (depth >= MOST_NESTED) throw unsound("a law", `at most ${MOST_NESTED} check-ins deep`, undefined);
  const inside = lawOf(fields.get("of"), depth + 1);
  const epsilon0 = strength(fields);
  const probability = real(fields, "probability", 2 ** -64, 1, true);
  const [threshold] = positive(fields, 1) as [bigint];
  if (inside.family === "hadamard" || epsilon0 !== inside.epsilon0) throw unlike(fields);
  if (threshold !== BigInt(Math.floor(probability * 2 ** 64))) throw unlike(fields, "probability");
  const { bits, width, outputs } = inside.form;
  const taking = Number(threshold) * UNIT;
  return {
    ...inside,
    epsilon0,
    random: 1 - taking * (1 - inside.random),
    blank: 1 - taking * (1 - inside.blank),
    own: taking * inside.own,
    other: inside.other === null ? null : taking * inside.other,
    form:
      outputs === null
        ? { bits, width: width + 1, outputs }
        : { bits: bitsFor(outputs + 1), width, outputs: outputs + 1 },
    draw(source, value) {
      const report = inside.draw(source, value);
      const present = coin(source, threshold);
      if (outputs !== null) return present ? report : [outputs];
      return present ? [1, ...report] : new Array<number>(width + 1).fill(0);
    },
  };
}

/**
 * One of several levels of bins, coarse ones first: the node that holds the value's bin in one level, drawn from a table
 * of the weights, by k-ary randomized response. Nodes are numbered through all levels.
 */
function oneOf(written: Json | undefined): Law {
  const fields = fieldsOf("the law of one of several levels", written, PARAMETERS["one of"]);
  const questions = fields.get("questions");
  const weights = fields.get("weights");
  if (!Array.isArray(questions) || !questions.length || questions.length > MOST_LEVELS) {
    throw unsound("questions", `a list of at most ${MOST_LEVELS} laws`, questions);
  }
  const levels = questions.map((each) => lawOf(each, MOST_NESTED));
  const integers = positive(fields, levels.length);
  const sizes = levels.map(({ k }) => k);
  const epsilon0 = strength(fields);
  const rising = levels.every(({ family, k }, at) => family === "krr" && k > (sizes[at - 1] ?? 2));
  if (!rising || epsilon0 !== Math.max(...levels.map((each) => each.epsilon0))) throw unlike(fields);
  const shares = Array.isArray(weights) ? weights.map((each) => (each instanceof Numeral ? Number(each.text) : NaN)) : [];
  const fit = shares.length === integers.length && integers.every((each, at) => Number(each) * UNIT === shares[at]);
  if (!fit || integers.reduce((sum, each) => sum + each, 0n) !== WORD) throw unlike(fields, "weights");
  const table = integers.map((_, at) => integers.slice(0, at + 1).reduce((sum, each) => sum + each, 0n));
  const first = sizes.map((_, at) => sizes.slice(0, at).reduce((sum, size) => sum + size, 0));
  const outputs = sizes.reduce((sum, size) => sum + size, 0);
  const k = sizes.at(-1)!;
  const mean = (of: (law: Law) => number) => levels.reduce((sum, law, at) => sum + shares[at]! * of(law), 0);
  return {
    family: "one of",
    k,
    epsilon0,
    messages: 1,
    random: mean((law) => law.random),
    blank: 0,
    own: mean((law) => law.own),
    other: null,
    form: { bits: bitsFor(outputs), width: 1, outputs },
    draw(source, value) {
      const at = fromTable(source, table);
      const [node] = levels[at]!.draw(source, Math.floor((value * sizes[at]!) / k));
      return [first[at]! + Number(node)];
    },
  };
}

/** What is common to the laws that draw noise with probability T / 2^64, of which a ``share`` speaks for a value. */
function mixed(family: string, k: number, epsilon0: number, threshold: bigint, share: number, stray: number | null) {
  const random = Number(threshold) * UNIT;
  const truth = Number(WORD - threshold) * UNIT;
  const other = stray === null ? null : random * share + truth * stray;
  return { family, k, epsilon0, messages: 1, random, blank: 0, own: random * share + truth, other };
}

/** T, if t = T / 2^64 is the probability of noise that epsilon0 asks for: e^epsilon0 = 1 + (1 - t) / (t f). */
export function mixing(
  fields: Fields,
  epsilon0: number,
  share: number,
  threshold = positive(fields, 1)[0] as bigint,
): bigint {
  const implied = (noise: bigint) => Math.log1p(Number(WORD - noise) / (Number(noise) * share));
  checkImplied(fields, epsilon0, implied(threshold), implied(threshold - 1n));
  return threshold;
}

/** Refuse integers that give away more than epsilon0, or less than they must: one word fewer would give away more. */
function checkImplied(fields: Fields, epsilon0: number, implied: number, next: number): void {
  if (!(implied <= epsilon0 * (1 + CLOSE) && next >= epsilon0 * (1 - CLOSE))) throw unlike(fields);
}

export function unlike(fields: Fields, name = "epsilon0"): Refused {
  return new Refused(
    `The integers of ${text(fields, "type")} must be those of its ${name} = ${shown(fields.get(name))}, got others. ` +
      "A report drawn with them protects you differently than the file says: do not take part, and tell the organizer.",
  );
}

/** The whole numbers that decide every draw, out of 2^64. */
export function integersOf(fields: Fields): bigint[] {
  const written = fields.get("integers");
  const fit = (each: Json) => typeof each === "string" && /^(0|[1-9][0-9]{0,19})$/.test(each) && BigInt(each) <= WORD;
  if (!Array.isArray(written) || !written.length || !written.every(fit)) {
    throw unsound("integers", "whole numbers up to 2^64, as text", written);
  }
  return written.map((each) => BigInt(each as string));
}

/** So many of them, above 0, strictly below 2^64 or, for whoever always takes part, 2^64. */
function positive(fields: Fields, count: number): bigint[] {
  const integers = integersOf(fields);
  if (integers.length !== count || integers.includes(0n)) {
    throw unsound("integers", `${count} whole numbers from 1 to 2^64, as text`, fields.get("integers"));
  }
  return integers;
}

/** A uniformly random set of so many of 0, ..., k - 1 (Floyd's algorithm: Bentley and Floyd 1987). */
function setOf(source: Words, k: number, size: number): Set<number> {
  const chosen = new Set<number>();
  for (let last = k - size; last < k; last++) {
    const drawn = uniform(source, last + 1);
    chosen.add(chosen.has(drawn) ? last : drawn);
  }
  return chosen;
}

/** The value, and a set of others: these were numbered by calling the ``last`` by the value's number. */
function holding(value: number, others: Set<number>, last: number): Set<number> {
  if (others.has(value)) others.add(last);
  return others.add(value);
}

/** The 64-bit finaliser of MurmurHash3, a bijection. */
function finalised(word: bigint): bigint {
  for (const factor of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n]) {
    word = BigInt.asUintN(64, (word ^ (word >> 33n)) * factor);
  }
  return word ^ (word >> 33n);
}

function bitLength(number: number): number {
  return number.toString(2).length;
}

function oddOnes(word: number): boolean {
  for (let shift = 16; shift; shift >>= 1) word ^= word >>> shift;
  return (word & 1) === 1;
}
