// Written by `npm run schema` from docs/schemas/design.json, which `make schemas` writes.

/** Who reports, and the privacy that this gives them: ``n`` people ``rounds`` times; as long as ``honest`` of them follow the protocol, ``epsilon`` at ``delta`` for all rounds together (null: nothing is promised). */
export interface WrittenTarget {
  n: number;
  epsilon: number | null;
  delta: number;
  honest: number;
  rounds: number;
}

/** How a value becomes a place. */
export type WrittenDomain =
  | { type: "labels"; labels: readonly (string | number)[] | number; other: number | null; missing: number | null; }
  | { type: "bins"; cuts: readonly number[]; clip: boolean; }
  | { type: "grid"; lower: number; upper: number; steps: number; clip: boolean; }
  | { type: "cells"; columns: readonly ({ type: "labels"; labels: readonly (string | number)[] | number; other: number | null; missing: number | null; name: string; })[]; }
  | { type: "prefixes"; tokens: readonly string[] | null; longest: number; words: readonly string[]; prefixes: readonly string[]; span: number; room: number; };

/** How one report is drawn, by the family of its randomizer. */
export type WrittenLaw =
  | { type: "dummies"; k: number; keep: number; kind: "geometric" | "poisson"; center: number; left: number; right: number; rate: number; epsilon0: number | null; integers: readonly string[]; }
  | { type: "fakes"; k: number; slots: number; chance: number; epsilon0: number | null; kind: "bernoulli" | "poisson"; integers: readonly string[]; }
  | { type: "hadamard"; k: number; epsilon0: number; integers: readonly string[]; }
  | { type: "hash"; k: number; g: number; epsilon0: number; integers: readonly string[]; }
  | { type: "krr"; k: number; epsilon0: number; integers: readonly string[]; }
  | { type: "oue"; k: number; epsilon0: number; integers: readonly string[]; }
  | { type: "signed"; k: number; epsilon0: number | null; honest: number; decay: number; pairs: number; messages: number; integers: readonly string[]; }
  | { type: "split"; k: number; epsilon0: number | null; honest: number; decay: number; share_bits: number; messages: number; reach: number; integers: readonly string[]; }
  | { type: "subset"; k: number; epsilon0: number; size: number; integers: readonly string[]; }
  | { type: "tree"; k: number; levels: number; branches: number; kind: "geometric" | "poisson"; center: number; left: number; right: number; rate: number; epsilon0: number | null; integers: readonly string[]; }
  | { type: "check-in"; epsilon0: number; probability: number; of: WrittenLaw; integers: readonly string[]; }
  | { type: "one of"; epsilon0: number; weights: readonly number[]; questions: readonly ({ type: "krr"; k: number; epsilon0: number; integers: readonly string[]; })[]; integers: readonly string[]; };

/** The fields of a design, of its target, and of a column of cells. */
export const DESIGN = ["format", "version", "question", "domain", "mechanism", "target"] as const;
export const TARGET = ["n", "epsilon", "delta", "honest", "rounds"] as const;
export const COLUMN = ["type", "labels", "other", "missing", "name"] as const;

/** The fields of a domain, by its type. */
const ANY_FIELDS = ["type"] as const;
export const FIELDS = {
  "labels": [...ANY_FIELDS, "labels", "other", "missing"],
  "bins": [...ANY_FIELDS, "cuts", "clip"],
  "grid": [...ANY_FIELDS, "lower", "upper", "steps", "clip"],
  "cells": [...ANY_FIELDS, "columns"],
  "prefixes": [...ANY_FIELDS, "tokens", "longest", "words", "prefixes", "span", "room"],
} as const;

/** The fields of a law, by its type. */
const ANY_PARAMETERS = ["type", "epsilon0", "integers"] as const;
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
