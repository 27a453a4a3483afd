// The JSON that shuffledp writes, and no other spelling of it: names sorted and once, no spaces. Numbers stay text
// until somebody says what they must be: a browser's own reader would round them, and take the last of two names.
import { Refused } from "./refused.ts";

/** A number as it is written. */
export class Numeral {
  constructor(readonly text: string) {}

  get whole(): boolean {
    return /^-?\d+$/.test(this.text);
  }
}

export type Json = null | boolean | string | Numeral | Json[] | Fields;
/** The fields of a file, by their names. */
export type Fields<Name extends string = string> = Map<Name, Json>;

const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\bfnrt]|u[0-9a-f]{4}))*"/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?/;
const TOKEN = new RegExp(`${TEXT.source}|${NUMBER.source}|true|false|null|[[\\]{},:]`, "y");
const CONSTANTS = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const DEEPEST = 64;

export function readJson(text: string): Json {
  const tokens = new Tokens(text);
  const value = tokens.value(0);
  tokens.end();
  return value;
}

class Tokens {
  private token = "";
  private place = 0;

  constructor(private readonly text: string) {
    this.step();
  }

  value(depth: number): Json {
    if (depth > DEEPEST) throw malformed("at most 64 lists inside each other");
    const token = this.step();
    if (token === "[") return this.list(depth);
    if (token === "{") return this.fields(depth);
    if (token.startsWith('"')) return asText(token);
    if (/^[-\d]/.test(token)) return asNumeral(token);
    const constant = CONSTANTS.get(token);
    if (constant === undefined) throw malformed(`a value in place of ${JSON.stringify(token)}`);
    return constant;
  }

  end(): void {
    if (this.token || this.place < this.text.length) throw malformed("nothing after its end");
  }

  private list(depth: number): Json[] {
    const values: Json[] = [];
    if (this.skip("]")) return values;
    do values.push(this.value(depth + 1));
    while (this.skip(","));
    this.demand("]");
    return values;
  }

  private fields(depth: number): Fields {
    const fields: Fields = new Map();
    let last: string | undefined;
    if (this.skip("}")) return fields;
    do {
      const token = this.step();
      if (!token.startsWith('"')) throw malformed(`a name in place of ${JSON.stringify(token)}`);
      const name = asText(token);
      if (last !== undefined && !(last < name)) throw malformed("every name once, and sorted");
      this.demand(":");
      fields.set(name, this.value(depth + 1));
      last = name;
    } while (this.skip(","));
    this.demand("}");
    return fields;
  }

  /** This token; and look at the next one. */
  private step(): string {
    const token = this.token;
    TOKEN.lastIndex = this.place;
    this.token = TOKEN.exec(this.text)?.[0] ?? "";
    this.place += this.token.length;
    return token;
  }

  private skip(token: string): boolean {
    const here = this.token === token;
    if (here) this.step();
    return here;
  }

  private demand(token: string): void {
    if (!this.skip(token)) throw malformed(`${token} in place of ${JSON.stringify(this.token)}`);
  }
}

function asText(token: string): string {
  const text = JSON.parse(token) as string;
  if (JSON.stringify(text) !== token) throw malformed(`text in its shortest spelling, got ${token.slice(0, 40)}`);
  return text;
}

function asNumeral(token: string): Numeral {
  const numeral = new Numeral(token);
  if (token !== (numeral.whole ? BigInt(token).toString() : spelled(Number(token)))) {
    throw malformed(`numbers in their shortest spelling, got ${token.slice(0, 40)}`);
  }
  return numeral;
}

/** A number as Python spells a float. */
function spelled(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  const power = Number(exponent);
  if (power < -4 || power >= 16) return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

function malformed(rule: string): Refused {
  return new Refused(`A collection file must be JSON as shuffledp writes it: ${rule}. Ask the organizer for the file.`);
}
