// Small hands for HTML and SVG, and scales whose ends are whole powers of ten.

const SVG = "http://www.w3.org/2000/svg";
type Attributes = Record<string, string | number>;

export function svg(name: string, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.append(...children);
  return made;
}

export function html(name: string, className = "", ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

export const percent = (share: number): string => `${(100 * share).toFixed(3)}%`;

/** From the power of ten below all values to the one above, at least `least` decades. */
export function decades(values: readonly number[], least = 2): [number, number] {
  const logs = values.filter((each) => each > 0).map(Math.log10);
  const high = Math.ceil(Math.max(...logs) - 1e-9);
  const low = Math.min(Math.floor(Math.min(...logs) + 1e-9), high - least);
  return [low, high];
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

export function power(exponent: number): string {
  if (exponent === 0) return "1";
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}

/** Round numbers from 0 to about `last`, four to six of them. */
export function ticks(last: number): number[] {
  const rough = last / 5;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * unit).find((each) => each >= rough) ?? 10 * unit;
  const found: number[] = [];
  for (let place = 0; place * step <= last * 1.0001; place++) found.push(Number((place * step).toPrecision(6)));
  return found;
}

/** Long text into the clipboard, also where the page is not allowed to write there by itself. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
