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
 * Exactly uniform on 0, ..., k - 1, for k up to 2^53.
 *
 * Powers of two mask bits. Otherwise a word w of b bits gives floor(w k / 2^b), unless w k mod 2^b < 2^b mod k: then
 * every value has equally many words left, and the draw is repeated (Lemire 2019). Beyond 2^32 a word's first bits are
 * taken, until they are below k.
 */
export function uniform(source: Words, k: number): number {
  const count = BigInt(k);
  if ((count & (count - 1n)) === 0n) return Number(one(source, bitsFor(k)) & (count - 1n));
  if (k > 2 ** 32) return masked(source, count);
  const bits = k <= 2 ** 8 ? 16 : 32;
  const all = 1n << BigInt(bits);
  for (;;) {
    const product = one(source, bits) * count;
    if (product % all >= all % count) return Number(product / all);
  }
}

function masked(source: Words, count: bigint): number {
  const unused = BigInt(64 - count.toString(2).length);
  for (;;) {
    const word = one(source, 64) >> unused;
    if (word < count) return Number(word);
  }
}

/** One word. */
export function one(source: Words, bits: Bits): bigint {
  return BigInt(source.words(1, bits)[0]!);
}
