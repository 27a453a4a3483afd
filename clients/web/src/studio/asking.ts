// Asking the accountant while something moves: one quick question at a time, always about the newest plan, and the long
// ones once it rests. What is no longer wanted is cancelled.
import type { Plan } from "./plan.ts";

export interface Numeral { value: number | null; text: string }
export interface ModelError {
  model: string;
  trust: string;
  mechanism: string;
  value: number;
  text: string;
  share: string;
  scale: number;
}

export interface Numbers {
  certified: boolean;
  epsilon: Numeral;
  delta: Numeral;
  only: string;
  curve?: Curve;
  epsilon0: Numeral;
  alone: string;
  bits: string;
  honest: string;
  errors: ModelError[];
  error: string;
  gain: string;
  meaning: string;
  colluding: string;
  cautions: string[];
  commands: Record<string, string>;
}

export interface Curve {
  epsilon: Numeral;
  delta: Numeral;
  floor: number;
  at: number[];
  lower: number[];
  upper: number[];
}

export interface Interval { interval: { lower: Numeral; upper: Numeral }; only: string; method: string; curve: Curve }

export interface Bound {
  name: string;
  label: string;
  citation: string;
  side: "upper" | "lower";
  verdict: "proven" | "assumed" | "unproven" | "invalid" | "refuted";
  remark: string;
  epsilon: Numeral;
  times: string;
}

export interface Silent { name: string; citation: string; reason: string }
export interface Published { rows: Bound[]; silent: Silent[]; skipped: Silent[] }

export interface Listener {
  numbers(found: Numbers, plan: Plan): void;
  interval(found: Interval): void;
  published(found: Published, complete: boolean): void;
  refused(sentence: string): void;
  moved(): void;
}

const REST = 180; // milliseconds without a move before the long questions are asked

export async function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    credentials: "omit",
  };
  if (signal) init.signal = signal;
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Error("The planner does not answer. Is `shuffledp plan --web` still running?");
  }
  if (!response.ok) {
    const told: { error?: string } = await response.json().catch(() => ({}));
    throw new Error(told.error ?? `The planner answered ${response.status}.`);
  }
  return response;
}

export class Conversation {
  #wanted: Plan | null = null;
  #busy = false;
  #slow = new AbortController();
  #timer = 0;
  #listener: Listener;

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  /** Another plan: whatever was asked about the one before is of no interest now. */
  want(plan: Plan): void {
    this.#wanted = plan;
    this.#slow.abort();
    clearTimeout(this.#timer);
    this.#listener.moved();
    if (!this.#busy) void this.#follow();
  }

  async #follow(): Promise<void> {
    this.#busy = true;
    let asked: Plan | null = null;
    let certified = false;
    while (this.#wanted !== asked) {
      asked = this.#wanted as Plan;
      try {
        const found = await this.#ask<Numbers>("numbers", asked);
        certified = found.certified;
        this.#listener.numbers(found, asked);
      } catch (error) {
        if (this.#wanted === asked) {
          this.#busy = false;
          this.#listener.refused((error as Error).message);
          return;
        }
      }
    }
    this.#busy = false;
    const rested = asked as Plan;
    this.#timer = window.setTimeout(() => void this.#certify(rested, certified), REST);
  }

  async #certify(plan: Plan, certified: boolean): Promise<void> {
    this.#slow = new AbortController();
    const signal = this.#slow.signal;
    try {
      if (!certified) this.#listener.numbers(await this.#ask<Numbers>("certified", plan, signal), plan);
      this.#listener.interval(await this.#ask<Interval>("curve", plan, signal));
      const quick = await this.#ask<Published>("published", plan, signal);
      this.#listener.published(quick, quick.skipped.length === 0);
      if (quick.skipped.length > 0) {
        this.#listener.published(await this.#ask<Published>("thorough", plan, signal), true);
      }
    } catch (error) {
      if (!signal.aborted) this.#listener.refused((error as Error).message);
    }
  }

  async #ask<Part>(part: string, plan: Plan, signal?: AbortSignal): Promise<Part> {
    return (await post("answer", { ...plan, part }, signal)).json() as Promise<Part>;
  }
}
