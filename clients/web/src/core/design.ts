// A question and its noise, as shuffledp.protocols.design writes them down; and a person's answer as a report.
import { fieldsOf, optional, real, shown, text, truth, UNPRINTABLE, unsound, whole } from "./fields.ts";
import { bytesOf, lawOf, type Law } from "./laws.ts";
import { Refused } from "./refused.ts";
import { onGrid } from "./rounding.ts";
import { Numeral, type Fields, type Json } from "./strict_json.ts";
import { levelOf, type Level } from "./top_words.ts";
import { SECURE, type Words } from "./words.ts";

export interface Design {
  task: string;
  /** The answers to choose from; none where a number is asked for. */
  labels: readonly string[];
  /** The answer that everything else counts as. */
  other: string | null;
  /** Between which numbers an answer lies; null where it is one of the labels. */
  bounds: readonly [number, number] | null;
  /** Which value a word counts as, where a word is asked for. */
  level: Level | null;
  n: number;
  least: number;
  rounds: number;
  epsilon: number | null;
  delta: number;
  law: Law;
  learned: boolean;
}

type Question = Pick<Design, "labels" | "other" | "bounds"> & { families: readonly string[]; level?: Level };

const COMMON = ["version", "task", "n", "least", "rounds", "epsilon", "delta", "law", "learned"];
const MOST_LABELS = 2 ** 22;
const LARGEST_BOUND = 1e100;
const METHODS: Record<string, string> = { hadamard: "hadamard", hashing: "hash", subset: "subset", unary: "oue" };

const TASKS: Record<string, { fields: readonly string[]; read: (fields: Fields) => Question }> = {
  histogram: {
    fields: ["categories", "other"],
    read: (fields) => ({ ...listed(fields, "categories"), families: ["krr"] }),
  },
  frequency: { fields: ["domain", "method", "other"], read: frequency },
  mean: { fields: ["lower", "upper"], read: mean },
  top: { fields: ["tokens", "longest", "words", "prefixes", "span", "room"], read: top },
};

export function designOf(written: Json | undefined): Design {
  const task = written instanceof Map ? written.get("task") : undefined;
  if (typeof task !== "string" || !Object.hasOwn(TASKS, task)) {
    throw new Refused(
      `A design must have a task that this page can ask (${Object.keys(TASKS).join(", ")}), got ${shown(task)}. ` +
        "Take part with the Python package instead.",
    );
  }
  const kind = TASKS[task]!;
  const fields = fieldsOf(`the design of a ${task}`, written, [...COMMON, ...kind.fields]);
  whole(fields, "version", 1, 1);
  const n = whole(fields, "n", 1);
  const { families, ...question } = kind.read(fields);
  const law = lawOf(fields.get("law"));
  const told = question.bounds ? law.form.outputs : question.labels.length; // numbers are not asked for by a check-in
  const size = question.level ? whole(fields, "room", 1) : told;
  const fits = families.includes(law.family) && law.k === size;
  if (!fits) throw unsound("The law of a design", "one that fits its question", `${law.family} of ${law.k} values`);
  return {
    task,
    level: null,
    ...question,
    n,
    least: whole(fields, "least", 1, n),
    rounds: whole(fields, "rounds", 1),
    epsilon: optional(fields, "epsilon", (of, name) => real(of, name, 0, 700)),
    delta: real(fields, "delta", Number.MIN_VALUE, 1 - 2 ** -53),
    law,
    learned: truth(fields, "learned"),
  };
}

/** One report about an answer, a place among the labels or a number: the bytes that are sealed. */
export function encode(design: Design, answer: number, source: Words = SECURE): Uint8Array<ArrayBuffer> {
  const { law, labels, bounds } = design;
  if (bounds) {
    const [lower, upper] = bounds;
    if (!(answer >= lower && answer <= upper)) {
      throw new Refused(`The answer must be a number from ${lower} to ${upper}, got ${answer}. Enter another one.`);
    }
    return bytesOf(law.form, law.draw(source, onGrid(answer, lower, upper, law.k - 1, source)));
  }
  const most = design.level ? design.level.count : labels.length;
  if (!(Number.isInteger(answer) && answer >= 0 && answer < most)) {
    throw new Refused(`The answer must be one of the ${most} that are listed, got none of them. Choose one.`);
  }
  return bytesOf(law.form, law.draw(source, answer));
}

function frequency(fields: Fields): Question {
  const method = text(fields, "method");
  if (!Object.hasOwn(METHODS, method)) {
    throw unsound("method", `one of ${Object.keys(METHODS).join(", ")}`, method);
  }
  return { ...listed(fields, "domain"), families: [METHODS[method]!] };
}

function mean(fields: Fields): Question {
  const lower = real(fields, "lower", -LARGEST_BOUND, LARGEST_BOUND, true);
  const upper = real(fields, "upper", -LARGEST_BOUND, LARGEST_BOUND, true);
  if (!(lower < upper)) throw unsound("lower", `below upper = ${upper}`, fields.get("lower"));
  return { labels: [], other: null, bounds: [lower, upper], families: ["krr"] };
}

function top(fields: Fields): Question {
  return { labels: [], other: null, bounds: null, level: levelOf(fields), families: ["krr"] };
}

/** The values that are told apart: a list of them, or a number k, for 0, ..., k - 1. */
function listed(fields: Fields, name: string): Pick<Design, "labels" | "other" | "bounds"> {
  const values = fields.get(name);
  const other = fields.get("other")!;
  if (!Array.isArray(values)) {
    if (other !== null) throw unsound("other", `null when ${name} is a number`, other);
    const length = whole(fields, name, 2, MOST_LABELS);
    return { labels: Array.from({ length }, (_, value) => String(value)), other, bounds: null };
  }
  const labels = values.map((each) => label(name, each));
  const known = new Set(values.map(keyOf));
  if (labels.length < 2 || labels.length > MOST_LABELS || known.size < labels.length) {
    throw unsound(name, `a list of 2 to ${MOST_LABELS} values, each once`, values);
  }
  if (other !== null && !known.has(keyOf(other))) {
    throw unsound("other", `one of the ${name}`, other);
  }
  return { labels, other: other === null ? null : label("other", other), bounds: null };
}

function label(name: string, json: Json): string {
  if (json instanceof Numeral && json.whole) return json.text;
  if (typeof json === "string" && !UNPRINTABLE.test(json)) return json;
  throw unsound(name, "printable text or whole numbers", json);
}

/** The number 1 and the text "1" are different values. */
function keyOf(json: Json): string {
  return json instanceof Numeral ? json.text : JSON.stringify(json);
}
