// The fields of a file, each of the kind that it must be.
import { Refused } from "./refused.ts";
import { Numeral, type Fields, type Json } from "./strict_json.ts";

const REMEDY = "Ask the organizer for the file that shuffledp wrote, unchanged.";
// What a screen does not show: controls, marks of direction, halves of characters, spaces that are not a space.
export const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

/** What a file must not hold: name, rule, what was found, and the remedy. */
export function unsound(name: string, rule: string, found: Json | undefined): Refused {
  return new Refused(`${name} must be ${rule}, got ${shown(found)}. ${REMEDY}`);
}

/** Whether a table has an entry of that name. */
export function isNameIn<Table extends object>(table: Table, name: Json | undefined): name is keyof Table & string {
  return typeof name === "string" && Object.hasOwn(table, name);
}

/** The fields, if these are all their names. */
export function fieldsOf<Name extends string>(
  what: string,
  json: Json | undefined,
  names: readonly Name[],
): Fields<Name> {
  if (!(json instanceof Map)) throw unsound(what, "a list of names and values", json);
  const missing = names.filter((name) => !json.has(name));
  const wrong = [...missing, ...[...json.keys()].filter((name) => !names.includes(name as Name))].join(", ");
  if (wrong)
    throw new Refused(`${what} must have its own fields, got a difference in ${wrong.slice(0, 80)}. ${REMEDY}`);
  return json as Fields<Name>;
}

/** A whole number, written without a point, that a browser holds exactly. */
export function whole<Name extends string>(
  fields: Fields<Name>,
  name: NoInfer<Name>,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  const json = fields.get(name);
  const value = json instanceof Numeral && json.whole ? Number(json.text) : NaN;
  if (!(value >= least && value <= most)) {
    throw unsound(name, `a whole number from ${least} to ${most}`, json);
  }
  return value;
}

/** A finite number; ``pointed`` ones are written with a decimal point or an exponent. */
export function real<Name extends string>(
  fields: Fields<Name>,
  name: NoInfer<Name>,
  least: number,
  most: number,
  pointed = false,
): number {
  const json = fields.get(name);
  const value = json instanceof Numeral && !(pointed && json.whole) ? Number(json.text) : NaN;
  if (!(value >= least && value <= most)) {
    throw unsound(name, `a number from ${least} to ${most}`, json);
  }
  return value;
}

export function truth<Name extends string>(fields: Fields<Name>, name: NoInfer<Name>): boolean {
  const json = fields.get(name);
  if (typeof json !== "boolean") throw unsound(name, "true or false", json);
  return json;
}

export function text<Name extends string>(fields: Fields<Name>, name: NoInfer<Name>): string {
  const json = fields.get(name);
  if (typeof json !== "string") throw unsound(name, "text", json);
  return json;
}

/** What ``read`` makes of a field, unless it is null. */
export function optional<Value, Name extends string>(
  fields: Fields<Name>,
  name: NoInfer<Name>,
  read: (fields: Fields<Name>, name: NoInfer<Name>) => Value,
): Value | null {
  return fields.get(name) === null ? null : read(fields, name);
}

export function shown(json: Json | undefined): string {
  if (json === undefined) return "none";
  if (json instanceof Numeral) return json.text;
  if (json instanceof Map) return "fields";
  return Array.isArray(json) ? "a list" : JSON.stringify(json).slice(0, 80);
}
