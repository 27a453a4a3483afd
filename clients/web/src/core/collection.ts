// What everybody who takes part must agree on: design, analyst's key, shuffler, round and times, in one file whose
// SHA-256 is its name.
import { designOf, type Design } from "./design.ts";
import { fieldsOf, optional, text, truth, UNPRINTABLE, unsound, whole } from "./fields.ts";
import { Refused } from "./refused.ts";
import { readJson, type Fields } from "./strict_json.ts";

export interface Collection {
  /** SHA-256 of the file's bytes, in 64 hexadecimal digits. */
  digest: string;
  design: Design;
  /** The analyst's public key. */
  key: Uint8Array<ArrayBuffer>;
  shuffler: string;
  round: number;
  question: string | null;
  /** UTC seconds, or null. */
  opens: number | null;
  closes: number | null;
  /** Whether an invitation code is asked for. */
  codes: boolean;
}

const FIELDS = ["format", "version", "design", "key", "shuffler", "round", "question", "opens", "closes", "codes"];
const FORMAT = "shuffledp-collection";
const LONGEST_QUESTION = 500;
// As shuffledp.survey.collection.
const WEB_ADDRESS = /^https?:\/\/([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?(\/((?![?#@\\])[!-~])*)?$/;
const LAST_SECOND = 253_402_300_799; // the end of the year 9999
export const SKEW = 300; // seconds by which the clocks of people and shuffler may differ

/** Read the bytes of ``collection.json``; if a digest is ``pinned``, they must be the bytes that have it. */
export async function readCollection(bytes: Uint8Array<ArrayBuffer>, pinned?: string): Promise<Collection> {
  const digest = hex(await sha256(bytes));
  if (pinned !== undefined && pinned !== digest) {
    throw new Refused(
      `The collection must be the one with digest ${pinned}, got ${digest}. ` +
        "Somebody may have changed the questions or the key: do not answer, and tell the organizer.",
    );
  }
  const fields = fieldsOf("a collection file", readJson(lineOf(bytes)), FIELDS);
  if (text(fields, "format") !== FORMAT) throw unsound("format", FORMAT, text(fields, "format"));
  whole(fields, "version", 1, 1);
  const design = designOf(fields.get("design"));
  const opens = optional(fields, "opens", seconds);
  const closes = optional(fields, "closes", seconds);
  if (opens !== null && closes !== null && opens >= closes) {
    throw unsound("opens", `before closes = ${closes}`, fields.get("opens"));
  }
  return {
    digest,
    design,
    key: publicKey(text(fields, "key")),
    shuffler: address(text(fields, "shuffler")),
    round: whole(fields, "round", 1, design.rounds),
    question: optional(fields, "question", line),
    opens,
    closes,
    codes: truth(fields, "codes"),
  };
}

/** Whether reports are taken now, by this device's clock. */
export function phaseOf(collection: Collection, now = Date.now() / 1000): "early" | "open" | "over" {
  if (collection.opens !== null && now < collection.opens - SKEW) return "early";
  return collection.closes !== null && now > collection.closes + SKEW ? "over" : "open";
}

export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (!globalThis.crypto?.subtle) {
    throw new Refused(
      "A browser encrypts only on pages that were loaded over HTTPS, and this one was not. " +
        "Open its address with https:// in front.",
    );
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromHex(digits: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** The one line that a file is. */
function lineOf(bytes: Uint8Array<ArrayBuffer>): string {
  let read: string;
  try {
    read = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw unsound("A collection file", "UTF-8 text", undefined);
  }
  if (!read.endsWith("\n")) throw unsound("A collection file", "one line with an end", read.slice(-20));
  return read.slice(0, -1);
}

function seconds(fields: Fields, name: string): number {
  return whole(fields, name, 0, LAST_SECOND);
}

function line(fields: Fields, name: string): string {
  const question = text(fields, name);
  const length = Array.from(question).length; // of characters, not of their halves
  if (!question.trim() || length > LONGEST_QUESTION || UNPRINTABLE.test(question)) {
    throw unsound(name, `a line of 1 to ${LONGEST_QUESTION} printable characters`, question);
  }
  return question;
}

function publicKey(digits: string): Uint8Array<ArrayBuffer> {
  if (!/^[0-9a-f]{64}$/.test(digits)) throw unsound("key", "64 hexadecimal digits", digits);
  return fromHex(digits);
}

function address(url: string): string {
  const plain = url.length <= 500 && WEB_ADDRESS.test(url) && !url.endsWith("/");
  if (!plain || !reachable(url)) {
    throw unsound("shuffler", "an address that begins with https:// or http://, without a slash at its end", url);
  }
  return url;
}

function reachable(url: string): boolean {
  try {
    return new URL(url).port !== "0";
  } catch {
    return false;
  }
}
