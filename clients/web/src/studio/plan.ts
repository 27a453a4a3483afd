// A plan: what the page asks, its dials and their steps, and its place in the address.

export type Task = "histogram" | "mean";

export interface Plan {
  task: Task;
  n: number;
  size: number;
  names: string;
  mechanism: string;
  lower: number;
  upper: number;
  rounds: number;
  honest: number;
  given: "epsilon" | "epsilon0";
  epsilon: number;
  epsilon0: number;
  delta: number;
}

export const FIRST: Readonly<Plan> = {
  task: "histogram", n: 100_000, size: 16, names: "", mechanism: "krr", lower: 0, upper: 100,
  rounds: 1, honest: 100, given: "epsilon", epsilon: 1, epsilon0: 5, delta: 1e-8,
};

export type Dial = "n" | "size" | "rounds" | "honest" | "epsilon" | "epsilon0" | "delta";

/** Sensible steps, so that whoever moves back finds an answer that is there already. */
function steps(mantissas: readonly number[], first: number, last: number): number[] {
  const all: number[] = [];
  for (let power = first; power <= last; power++) {
    for (const mantissa of mantissas) all.push(Number(`${mantissa}e${power}`));
  }
  return all;
}

function range(first: number, last: number, step = 1): number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, place) => first + place * step);
}

const FINE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

export const STEPS: Readonly<Record<Dial, readonly number[]>> = {
  n: [...steps(FINE, 2, 8), 1e9],
  size: [...range(2, 20), 24, 32, 40, 50, 64, 80, 100, 128, 150, 200, 256, 365, 500, 512, ...steps([1, 2, 5], 3, 5), 1e6],
  rounds: [...range(1, 10), 12, 15, 20, 24, 30, 36, 48, 52, 60, 75, 90, 100, 150, 180, 250, 365, 500, 730, 1000],
  honest: [...range(5, 85, 5), ...range(90, 100)],
  epsilon: [...steps(FINE, -2, -1), 1, 1.2, 1.5, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 10],
  epsilon0: [...steps(FINE, -1, -1), ...range(1, 8, 0.25), ...range(8.5, 16, 0.5)],
  delta: [...steps([1, 2, 5], -14, -4), 1e-3],
};

/** The step nearest to a value, which may lie between two. */
export function nearest(dial: Dial, value: number): number {
  const list = STEPS[dial];
  const apart = list.map((each) => Math.abs(Math.log(each) - Math.log(value)));
  return apart.indexOf(Math.min(...apart));
}

const COUNTS: readonly string[] = ["n", "size", "rounds"];

/** A number as people write it: 100,000 or 1e-8. */
export function written(name: string, value: number): string {
  if (COUNTS.includes(name)) return value.toLocaleString("en-US", { maximumFractionDigits: 20 });
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value);
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const GROUPED = /^\d{1,3}(,\d{3})+$/;

/** What somebody typed; NaN if it is no number. Only counts have commas: elsewhere 0,5 is half of one to some people. */
export function read(name: string, text: string): number {
  const plain = text.replace(/[_\s]/g, "").replace(/%$/, "");
  if (COUNTS.includes(name) && GROUPED.test(plain)) return Number(plain.replaceAll(",", ""));
  const value = NUMBER.test(plain) ? Number(plain) : Number.NaN;
  return Number.isFinite(value) ? value : Number.NaN;
}

/** The part of the address behind #: what differs from the first plan. */
export function toFragment(plan: Plan): string {
  const told = new URLSearchParams();
  for (const [name, value] of Object.entries(plan)) {
    if (value !== FIRST[name as keyof Plan]) told.set(name, String(value));
  }
  return told.toString();
}

/** The plan of a fragment; what is no field of a plan, or no number where one belongs, is left out. */
export function fromFragment(fragment: string): Plan {
  const plan: Record<string, string | number> = { ...FIRST };
  for (const [name, text] of new URLSearchParams(fragment)) {
    const first = plan[name];
    if (typeof first === "string") plan[name] = text;
    if (typeof first === "number" && Number.isFinite(read(name, text))) plan[name] = read(name, text);
  }
  return plan as unknown as Plan;
}
