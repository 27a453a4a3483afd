// One level of a search for frequent words: which word counts as which value, as
// shuffledp.search.alphabet has it.
import { unsound, whole } from "./fields.ts";
import { type Fields } from "./strict_json.ts";

export interface Level {
  /** How many values are told apart, everything else included. */
  count: number;
  /** The value that a word counts as. */
  place(word: string): number;
}

const LONGEST = 255;
const MOST_ROOM = 2 ** 22;
const HALF = /\p{Surrogate}/u;
// The bytes of printable text: ASCII, and all that UTF-8 writes other letters with.
const BYTES = [...range(0x20, 0x7f), ...range(0x80, 0xc0), ...range(0xc2, 0xf5)];
const CODES = new Map(BYTES.map((byte, place) => [byte, place + 1]));

export function levelOf(fields: Fields): Level {
  const tokens = fields.get("tokens") === null ? null : texts(fields, "tokens");
  if (tokens && (!tokens.length || tokens.includes("") || new Set(tokens).size < tokens.length)) {
    throw unsound("tokens", "distinct texts, none of them empty", fields.get("tokens"));
  }
  const longest = whole(fields, "longest", 1, LONGEST);
  const span = whole(fields, "span", 0, longest);
  const size = tokens?.length ?? BYTES.length;
  const read = (name: string) => texts(fields, name).map((text) => (tokens ? cut(tokens, text, LONGEST) : spelled(text)));
  const words = read("words");
  const prefixes = read("prefixes");
  const depth = prefixes[0]?.length ?? 0;
  const known = new Map(words.map((codes, place) => [String(codes), place]));
  const open = new Map(prefixes.map((codes, place) => [String(codes), place]));
  const odd = [...words, ...prefixes].some((codes) => codes.includes(0) || codes.length > longest);
  const uneven = prefixes.some((codes) => codes.length !== depth) || words.some((codes) => !codes.length);
  if (odd || uneven || known.size < words.length || open.size < prefixes.length || depth + span > longest) {
    throw unsound("The level of a search", "one that shuffledp wrote", fields.get("prefixes"));
  }
  const offsets = [0];
  for (let length = 0; length <= span; length++) offsets.push(offsets[length]! + size ** length);
  const each = offsets[span + 1]!;
  const other = words.length + prefixes.length * each;
  whole(fields, "room", other + 1, MOST_ROOM);

  function place(word: string): number {
    const codes = tokens ? cut(tokens, word, longest + 1) : spelledWord(word, longest + 1);
    if (!codes.length) return other;
    const exact = known.get(String(codes));
    if (exact !== undefined) return exact;
    const which = codes.length < depth ? undefined : open.get(String(codes.slice(0, depth)));
    if (which === undefined) return other;
    const rest = codes.slice(depth, depth + span);
    const number = rest.reduce((sum, code) => sum * size + code - 1, 0);
    return words.length + which * each + offsets[rest.length]! + number;
  }
  return { count: other + 1, place };
}

/** The first symbols of a word, the longest token first; none if one of them is no token. */
function cut(tokens: readonly string[], word: string, most: number): number[] {
  const codes: number[] = [];
  for (let at = 0; at < word.length && codes.length < most; ) {
    let best = -1;
    tokens.forEach((token, place) => {
      if (word.startsWith(token, at) && (best < 0 || token.length > tokens[best]!.length)) best = place;
    });
    if (best < 0) return [];
    codes.push(best + 1);
    at += tokens[best]!.length;
  }
  return codes;
}

/** The same for bytes. */
function spelledWord(word: string, most: number): number[] {
  if (HALF.test(word)) return [];
  const codes = [...new TextEncoder().encode(word).slice(0, most)].map((byte) => CODES.get(byte) ?? 0);
  return codes.includes(0) ? [] : codes;
}

/** A beginning as a design writes it: bytes that are no letter as in an address. */
function spelled(text: string): number[] {
  const bytes = new TextEncoder().encode(text);
  const codes: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const escaped = bytes[at] === 0x25 ? /^[0-9A-Fa-f]{2}$/.exec(String.fromCharCode(...bytes.slice(at + 1, at + 3))) : null;
    codes.push(CODES.get(escaped ? parseInt(escaped[0], 16) : bytes[at]!) ?? 0);
    if (escaped) at += 2;
  }
  return codes;
}

function texts(fields: Fields, name: string): string[] {
  const listed = fields.get(name);
  if (Array.isArray(listed) && listed.every((each) => typeof each === "string")) return listed;
  throw unsound(name, "a list of texts", listed);
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, place) => start + place);
}
