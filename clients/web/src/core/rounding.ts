// A number as a point of a grid, by the operations of shuffledp.domain.on_grid: IEEE doubles in the same order.
import { one } from "./draws.ts";
import type { Words } from "./words.ts";

/** One of a number's two neighbors among k + 1 points from ``lower`` to ``upper``, at random so that its mean stays. */
export function onGrid(number: number, lower: number, upper: number, k: number, source: Words): number {
  const position = ((number - lower) / (upper - lower)) * k;
  const below = Math.floor(position);
  const threshold = BigInt(Math.trunc((position - below) * 2 ** 64));
  return below + Number(one(source, 64) < threshold);
}
