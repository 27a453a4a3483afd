// Written by `npm run schema` from docs/schemas/design.json, which `make schemas` writes.

/** How many people hold each category. */
export interface WrittenHistogram {
  version: 1;
  task: "histogram";
  n: number;
  honest: number;
  rounds: number;
  epsilon: number | null;
  delta: number;
  law: WrittenLaw;
  categories: readonly (string | number)[] | number;
  other: string | number | null;
}

/** How many people hold ``value``; whatever else they hold counts as ``other``. */
export interface WrittenCount {
  version: 1;
  task: "count";
  n: number;
  honest: number;
  rounds: number;
  epsilon: number | null;
  delta: number;
  law: WrittenLaw;
  other: string | number | null;
  value: string | number;
}

/** How many people hold each combination of the categories of several columns; ``other`` has, column by column, the category that everything else counts as, or None. */
export interface WrittenCrosstab {
  version: 1;
  task: "crosstab";
  n: number;
  honest: number;
  rounds: number;
  epsilon: number | null;
  delta: number;
  law: WrittenLaw;
  columns: readonly string[];
  categories: readonly (readonly (string | number)[] | number)[];
  other: readonly (string | number | null)[];
}

/** The mean of a number from ``lower`` to ``upper``; the grid on which it is reported is the randomizer's. */
export interface WrittenMean {
  version: 1;
  task: "mean";
  n: number;
  honest: number;
  rounds: number;
  epsilon: number | null;
  delta: number;
  law: WrittenLaw;
  lower: number;
  upper: number;
}

/** How many people are below each of some cut points, and so every share between two of them, and every quantile. */
export interface WrittenQuantile {
  version: 1;
  task: "quantile";
  n: number;
  honest: number;
  rounds: number;
  epsilon: number | null;
  delta: number;
  law: WrittenLaw;
  cuts: readonly number[];
  at: readonly number[];
  ranges: readonly (readonly number[])[];
}

/** The sum of a number from ``lower`` to ``upper``: a mean, times how many people there are. */
export interface WrittenSum {
  version: 1;
  task: "sum";
  n: number;
  honest: number;
  rounds: number;
  epsilon: number | null;
  delta: number;
  law: WrittenLaw;
  lower: number;
  upper: number;
}

/** One level of a search for frequent words (``search``): how many people's words are one of ``words``, or begin with one of ``prefixes`` and go on in which way for ``span`` symbols; all others count as one value more. */
export interface WrittenTop {
  version: 1;
  task: "top";
  n: number;
  honest: number;
  rounds: number;
  epsilon: number | null;
  delta: number;
  law: WrittenLaw;
  tokens: readonly string[] | null;
  longest: number;
  words: readonly string[];
  prefixes: readonly string[];
  span: number;
  room: number;
}

export type Written = WrittenHistogram | WrittenCount | WrittenCrosstab | WrittenMean | WrittenQuantile | WrittenSum | WrittenTop;

/** How one report is drawn, by the family of its randomizer. */
export type WrittenLaw =
  | { randomizer: "dummies"; k: number; keep: number; kind: "geometric" | "poisson"; center: number; left: number; right: number; rate: number; epsilon0: number | null; integers: readonly string[]; }
  | { randomizer: "fakes"; k: number; slots: number; chance: number; epsilon0: number | null; kind: "bernoulli" | "poisson"; integers: readonly string[]; }
  | { randomizer: "hadamard"; k: number; epsilon0: number; integers: readonly string[]; }
  | { randomizer: "hash"; k: number; g: number; epsilon0: number; integers: readonly string[]; }
  | { randomizer: "krr"; k: number; epsilon0: number; integers: readonly string[]; }
  | { randomizer: "oue"; k: number; epsilon0: number; integers: readonly string[]; }
  | { randomizer: "signed"; k: number; epsilon0: number | null; honest: number; decay: number; pairs: number; messages: number; integers: readonly string[]; }
  | { randomizer: "split"; k: number; epsilon0: number | null; honest: number; decay: number; share_bits: number; messages: number; reach: number; integers: readonly string[]; }
  | { randomizer: "subset"; k: number; epsilon0: number; size: number; integers: readonly string[]; }
  | { randomizer: "tree"; k: number; levels: number; branches: number; kind: "geometric" | "poisson"; center: number; left: number; right: number; rate: number; epsilon0: number | null; integers: readonly string[]; }
  | { randomizer: "check-in"; epsilon0: number; probability: number; of: WrittenLaw; integers: readonly string[]; }
  | { randomizer: "one of"; epsilon0: number; weights: readonly number[]; questions: readonly ({ randomizer: "krr"; k: number; epsilon0: number; integers: readonly string[]; })[]; integers: readonly string[]; };

/** The fields of a design, by its task. */
const ANY_FIELDS = ["version", "task", "n", "honest", "rounds", "epsilon", "delta", "law"] as const;
export const FIELDS = {
  "histogram": [...ANY_FIELDS, "categories", "other"],
  "count": [...ANY_FIELDS, "other", "value"],
  "crosstab": [...ANY_FIELDS, "columns", "categories", "other"],
  "mean": [...ANY_FIELDS, "lower", "upper"],
  "quantile": [...ANY_FIELDS, "cuts", "at", "ranges"],
  "sum": [...ANY_FIELDS, "lower", "upper"],
  "top": [...ANY_FIELDS, "tokens", "longest", "words", "prefixes", "span", "room"],
} as const;

/** The fields of a law, by its family. */
const ANY_PARAMETERS = ["randomizer", "epsilon0", "integers"] as const;
export const PARAMETERS = {
  "dummies": [...ANY_PARAMETERS, "k", "keep", "kind", "center", "left", "right", "rate"],
  "fakes": [...ANY_PARAMETERS, "k", "slots", "chance", "kind"],
  "hadamard": [...ANY_PARAMETERS, "k"],
  "hash": [...ANY_PARAMETERS, "k", "g"],
  "krr": [...ANY_PARAMETERS, "k"],
  "oue": [...ANY_PARAMETERS, "k"],
  "signed": [...ANY_PARAMETERS, "k", "honest", "decay", "pairs", "messages"],
  "split": [...ANY_PARAMETERS, "k", "honest", "decay", "share_bits", "messages", "reach"],
  "subset": [...ANY_PARAMETERS, "k", "size"],
  "tree": [...ANY_PARAMETERS, "k", "levels", "branches", "kind", "center", "left", "right", "rate"],
  "check-in": [...ANY_PARAMETERS, "probability", "of"],
  "one of": [...ANY_PARAMETERS, "weights", "questions"],
} as const;
