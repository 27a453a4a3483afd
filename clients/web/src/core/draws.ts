// Draws whose probabilities are exactly the integers asked for: nothing is rounded, and nothing is reduced modulo k.
// They take the same words in the same order as shuffledp.sampling.draws.
import type { Bits, Words } from "./words.ts";

export const WORD = 1n << 64n;
const LATER = 48n; // a coin's first look is at 16 of 64 bits
const FIRST = 1n << 16n;

/** Coins that fall on true with probability exactly threshold / 2^64. */
export function coins(source: Words, threshold: bigint, size: number): boolean[] {
  const high = threshold >> LATER;
  const low = threshold & ((1n << LATER) - 1n);
  if (high === FIRST) return new Array<boolean>(size).fill(true);
  const first = Array.from(source.words(size, 16), Number);
  const border = Number(high);
  const fallen = first.map((word) => word < border);
  const ties = first.flatMap((word, place) => (low && word === border ? [place] : []));
  if (!ties.length) return fallen;
  const later = source.words(ties.length, 64);
  ties.forEach((place, index) => (fallen[place] = BigInt(later[index]!) >> (64n - LATER) < low));
  return fallen;
}

export function coin(source: Words, threshold: bigint): boolean {
  return coins(source, threshold, 1)[0]!;
}

/** How many bits hold the numbers 0, ..., k - 1, as a computer stores them. */
export function bitsFor(k: number): Bits {
  if (k <= 2 ** 8) return 8;
  if (k <= 2 ** 16) return 16;
  return k <= 2 ** 32 ? 32 : 64;
}

/**
 * So many numbers, each exactly uniform on 0, ..., k - 1, for k up to 2^53.
 *
 * Powers of two mask bits. Otherwise a word w of b bits gives floor(w k / 2^b), unless w k mod 2^b < 2^b mod k: then
 * every value has equally many words left, and the draw is repeated (Lemire 2019). Beyond 2^32 a word's first bits are
 * taken, until they are below k.
 */
export function uniforms(source: Words, k: number, size: number): number[] {
  const count = BigInt(k);
  const [bits, read] = reading(k, count);
  const drawn = new Array<number>(size);
  let open = Array.from(drawn.keys());
  while (open.length) {
    const words = source.words(open.length, bits);
    open = open.filter((place, index) => {
      const value = read(BigInt(words[index]!));
      if (value !== null) drawn[place] = Number(value);
      return value === null;
    });
  }
  return drawn;
}

/** How many bits a draw takes, and what a word gives; null if it is to be drawn again. */
function reading(k: number, count: bigint): [Bits, (word: bigint) => bigint | null] {
  if ((count & (count - 1n)) === 0n) return [bitsFor(k), (word) => word & (count - 1n)];
  if (k > 2 ** 32) {
    const unused = BigInt(64 - count.toString(2).length);
    return [64, (word) => (word >> unused < count ? word >> unused : null)];
  }
  const bits = k <= 2 ** 8 ? 16 : 32;
  const all = 1n << BigInt(bits);
  return [bits, (word) => ((word * count) % all >= all % count ? (word * count) / all : null)];
}

export function uniform(source: Words, k: number): number {
  return uniforms(source, k, 1)[0]!;
}

/** The borders between the values of a finite law: value i is below the i-th, and the last is 2^64 or 2^128. */
export type Table = readonly bigint[];

/**
 * A value of a table. 16 bits decide it unless a border falls among the words that begin with them; then 48 more do
 * and, where 64 bits meet a border of 2^128, 64 others.
 */
export function fromTable(source: Words, table: Table): number {
  const more = table.at(-1)! > WORD;
  const shift = more ? 64n : 0n;
  /** How many borders are at or below a word, or ``below`` it. */
  const borders = (word: bigint, below = false) =>
    search(table, (end) => (below ? end >> shift >= word : end >> shift > word));
  const begin = one(source, 16) << LATER;
  const low = borders(begin, more);
  if (low === borders(begin | ((1n << LATER) - 1n))) return low;
  const word = begin | (one(source, 64) >> (64n - LATER));
  const found = borders(word);
  if (!more || borders(word, true) === found) return found;
  const whole = (word << 64n) | one(source, 64);
  return search(table, (end) => end > whole);
}

/** The first place whose border is beyond. */
function search(table: Table, beyond: (end: bigint) => boolean): number {
  let [low, high] = [0, table.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (beyond(table[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** One word. */
export function one(source: Words, bits: Bits): bigint {
  return BigInt(source.words(1, bits)[0]!);
}
