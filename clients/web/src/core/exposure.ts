// What leaves the device, in numbers, for whoever says it in words.
import type { Collection } from "./collection.ts";
import { OVERHEAD } from "./sealing.ts";

export interface Exposure {
  /** The chance that the report is drawn without a look at the answer. Otherwise it is one that speaks for it. */
  random: number;
  /** The part of that in which the report is blank. */
  blank: number;
  /** The chance that the report speaks for the sender's own answer. */
  own: number;
  /** The chance that it speaks for a given other answer; null where that depends on which. */
  other: number | null;
  /** What the report says by itself: it multiplies the odds of any guess by at most e^epsilon0, the ``factor``. */
  epsilon0: number;
  factor: number;
  /** How often somebody guesses the answer, if all seem equally likely: before, and at most after this very report. */
  before: number;
  after: number;
  /** The promise: epsilon at delta for all rounds, if ``honest`` honest reports are shuffled together. */
  epsilon: number | null;
  delta: number;
  honest: number;
  rounds: number;
  /** Whether one report is nearly the truth, so that all protection rests on the shuffler. */
  much: boolean;
  /** Whether the messages hold the truth, so that nothing but sealing and the shuffler protects anybody. */
  truthful: boolean;
  /** How many messages are sent, and their length together, without the code. */
  messages: number;
  bytes: number;
}

const MUCH = 8; // as shuffledp.client

export function exposureOf({ design }: Collection): Exposure {
  const { law } = design;
  const factor = Math.exp(law.epsilon0);
  return {
    random: law.random,
    blank: law.blank,
    own: law.own,
    other: law.other,
    epsilon0: law.epsilon0,
    factor,
    before: 1 / law.k,
    after: 1 / (1 + (law.k - 1) / factor),
    epsilon: design.epsilon,
    delta: design.delta,
    honest: design.honest,
    rounds: design.rounds,
    much: law.epsilon0 > MUCH,
    truthful: law.epsilon0 === Infinity,
    messages: law.messages,
    bytes: law.messages * ((law.form.bits / 8) * law.form.width + OVERHEAD),
  };
}
