// Times as the reader writes them, in the reader's own zone.
import { make } from "./dom.ts";

const FULL: Intl.DateTimeFormatOptions = {
  weekday: "long",
  year: "numeric",
  month: "long",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
  timeZoneName: "short",
};
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86400],
  ["month", 30 * 86400],
  ["week", 7 * 86400],
  ["day", 86400],
  ["hour", 3600],
  ["minute", 60],
];

export function moment(seconds: number): string {
  return new Date(1000 * seconds).toLocaleString(undefined, FULL);
}

/** How far it is from now, roughly: "in 3 hours". */
export function fromNow(seconds: number, now = Date.now() / 1000): string {
  const away = seconds - now;
  const [unit, length] = UNITS.find(([, size]) => Math.abs(away) >= size) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(Math.round(away / length), unit);
}

/** A time that programs can read too. */
export function timed(seconds: number): HTMLElement {
  const words = make("bdi", {}, moment(seconds));
  return make("time", { datetime: new Date(1000 * seconds).toISOString() }, words);
}
