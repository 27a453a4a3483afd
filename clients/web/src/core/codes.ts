// Invitations as people type them: 16 bytes in base32.
import { Refused } from "./refused.ts";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALIKE: Record<string, string> = { "0": "O", "1": "I", "8": "B" };
const LENGTH = 26; // letters of five bits: the last two bits are 0

/** The code that somebody typed: case, spaces and dashes do not matter, and 0, 1 and 8 stand for O, I and B. */
export function readCode(text: string): Uint8Array<ArrayBuffer> {
  const letters = text
    .replace(/[\s\p{Pd}]/gu, "")
    .toUpperCase()
    .replace(/[018]/g, (sign) => ALIKE[sign]!);
  const places = Array.from(letters, (letter) => LETTERS.indexOf(letter));
  if (places.length !== LENGTH || places.includes(-1) || places.at(-1)! % 4) {
    throw new Refused(
      "A code must be the 26 letters and digits of an invitation, got something else. " +
        "Copy all of it; dashes do not matter.",
    );
  }
  const bits = places.reduce((number, place) => (number << 5n) | BigInt(place), 0n) >> 2n;
  return Uint8Array.from({ length: 16 }, (_, index) => Number(BigInt.asUintN(8, bits >> BigInt(8 * (15 - index)))));
}
