// A question and its noise, as shuffledp.protocols.design writes them down; and a person's answer as a report.
import { fieldsOf, isNameIn, optional, real, shown, UNPRINTABLE, unsound, whole } from "./fields.ts";
import { bytesOf, lawOf, type Law } from "./laws.ts";
import { Refused } from "./refused.ts";
import { onGrid } from "./rounding.ts";
import { FIELDS, type Written } from "./schema.ts";
import { Numeral, type Fields, type Json } from "./strict_json.ts";
import { levelOf, type Level } from "./top_words.ts";
import { SECURE, type Words } from "./words.ts";

/** What is asked about one column of a crosstab. */
export interface Part {
  column: string;
  labels: readonly string[];
  other: string | null;
}

export interface Design extends Pick<Written, "task" | "n" | "honest" | "rounds" | "epsilon" | "delta"> {
  /** Of a crosstab, what is asked about each column; else none. An answer is then a cell: see ``cellOf``. */
  parts: readonly Part[];
  /** The answers to choose from, or the cells of a crosstab; none where a number is asked for. */
  labels: readonly string[];
  /** The answer that everything else counts as. */
  other: string | null;
  /** Between which numbers an answer lies; null where it is one of the labels. */
  bounds: readonly [number, number] | null;
  /** Which value a word counts as, where a word is asked for. */
  level: Level | null;
  /** The cut points between which a number falls into bins; null where it is rounded at random, or none is asked for. */
  edges: readonly number[] | null;
  law: Law;
}

type Listed = Pick<Design, "labels" | "other">;
type Question = Pick<Design, "labels"> &
  Partial<Pick<Design, "other" | "bounds" | "parts" | "level" | "edges">> & { families: readonly string[] };

const MOST_LABELS = 2 ** 22;
const LARGEST_BOUND = 1e100;
const MOST_BINS = 1024;
const CROSS = " × "; // between the categories of a cell
const ALL = "(all)"; // what the sums of cells are called by
const MOST_NUMBERS = 10_000; // cells and sums
const NAMING = ["krr", "fakes", "dummies"]; // laws whose messages name values
const ENCODINGS = ["hadamard", "hash", "subset", "oue"]; // laws whose reports vote for several values

/** The fields of a design of a task. */
type Of<Task> = Fields<keyof Extract<Written, { task: Task }> & string>;

const TASKS: { [Task in Written["task"]]: (fields: Of<Task>) => Question } = {
  histogram: (fields) => ({ ...listed(fields, "categories"), families: [...NAMING, ...ENCODINGS] }),
  mean,
  sum: mean,
  count,
  crosstab,
  top,
  quantile,
};

export function designOf(written: Json | undefined): Design {
  const task = written instanceof Map ? written.get("task") : undefined;
  if (!isNameIn(TASKS, task)) {
    throw new Refused(
      `A design must have a task that this page can ask (${Object.keys(TASKS).join(", ")}), got ${shown(task)}. ` +
        "Take part with the Python package instead.",
    );
  }
  const own: Fields = fieldsOf(`the design of a ${task}`, written, FIELDS[task]);
  const fields = own as Of<Written["task"]>; // what all tasks have
  whole(fields, "version", 1, 1);
  const n = whole(fields, "n", 1);
  const { families, ...question } = (TASKS[task] as (fields: Fields) => Question)(own);
  const law = lawOf(fields.get("law"));
  const told = question.level ? whole(own, "room", 1) : question.labels.length;
  const values = question.edges ? question.edges.length - 1 : told;
  const sized = question.bounds ? !law.blank : true; // no check-in asks for numbers
  const known = (question.bounds && !question.edges) || law.k === values;
  const fits = families.includes(law.family) && sized && known;
  if (!fits) throw unsound("The law of a design", "one that fits its question", `${law.family} of ${law.k} values`);
  return {
    task,
    other: null,
    bounds: null,
    level: null,
    parts: [],
    edges: null,
    ...question,
    n,
    honest: whole(fields, "honest", 1, n),
    rounds: whole(fields, "rounds", 1),
    epsilon: optional(fields, "epsilon", (of, name) => real(of, name, 0, 700)),
    delta: real(fields, "delta", Number.MIN_VALUE, 1 - 2 ** -53),
    law,
  };
}

/** One report about an answer, a place among the labels or a number: the bytes that are sealed, message by message. */
export function encode(design: Design, answer: number, source: Words = SECURE): Uint8Array<ArrayBuffer> {
  const { law, labels, bounds, edges } = design;
  if (bounds) {
    const [lower, upper] = bounds;
    if (!(answer >= lower && answer <= upper)) {
      throw new Refused(`The answer must be a number from ${lower} to ${upper}, got ${answer}. Enter another one.`);
    }
    if (edges) return bytesOf(law.form, law.draw(source, binOf(edges, answer)));
    return bytesOf(law.form, law.draw(source, onGrid(answer, lower, upper, law.k - 1, source)));
  }
  const most = design.level ? design.level.count : labels.length;
  if (!(Number.isInteger(answer) && answer >= 0 && answer < most)) {
    throw new Refused(`The answer must be one of the ${most} that are listed, got none of them. Choose one.`);
  }
  return bytesOf(law.form, law.draw(source, answer));
}

/** The cell of a crosstab that somebody is in, by the place of an answer about each column: the last changes fastest. */
export function cellOf({ parts }: Design, places: readonly number[]): number {
  return parts.reduce((cell, { labels }, at) => cell * labels.length + places[at]!, 0);
}

/** The bin of a number: from its lower end to below its upper one, and the last one's upper end. */
export function binOf(edges: readonly number[], answer: number): number {
  return edges.slice(1, -1).filter((edge) => edge <= answer).length;
}

/** Whether somebody holds a value, or something else. */
function count(fields: Of<"count">): Question {
  const value = label("value", fields.get("value")!);
  const other = restOf(fields);
  const labels = [other ?? "anything else", value];
  if (labels[0]!.normalize() === value.normalize()) throw unsound("other", "another answer than the value", fields.get("other"));
  return { labels, other, families: ["signed"] };
}

function mean(fields: Of<"mean" | "sum">): Question {
  const lower = real(fields, "lower", -LARGEST_BOUND, LARGEST_BOUND, true);
  const upper = real(fields, "upper", -LARGEST_BOUND, LARGEST_BOUND, true);
  if (!(lower < upper)) throw unsound("lower", `below upper = ${upper}`, fields.get("lower"));
  return { labels: [], bounds: [lower, upper], families: ["krr", "split"] };
}

function quantile(fields: Of<"quantile">): Question {
  const edges = numbers(fields.get("cuts"));
  const rising = edges?.every((edge, place) => !place || edges[place - 1]! < edge);
  if (!edges || edges.length < 3 || edges.length > MOST_BINS + 1 || !rising) {
    throw unsound("cuts", `from 3 to ${MOST_BINS + 1} rising numbers`, fields.get("cuts"));
  }
  const at = numbers(fields.get("at"));
  if (!at?.every((share) => share > 0 && share < 1)) throw unsound("at", "shares between 0 and 1", fields.get("at"));
  const ranges = fields.get("ranges");
  const pairs = Array.isArray(ranges) ? ranges.map(numbers) : [null];
  if (!pairs.every((pair) => pair?.length === 2 && pair.every((end) => edges.includes(end)))) {
    throw unsound("ranges", "pairs of cut points", ranges);
  }
  return { labels: [], bounds: [edges[0]!, edges.at(-1)!], edges, families: [...NAMING, "one of", "tree"] };
}

/** Numbers as a design writes them, with a point; null if these are none. */
function numbers(json: Json | undefined): number[] | null {
  if (!Array.isArray(json)) return null;
  const read = json.map((each) => (each instanceof Numeral && !each.whole ? Number(each.text) : NaN));
  return read.every((each) => Math.abs(each) <= LARGEST_BOUND) ? read : null;
}

function crosstab(fields: Of<"crosstab">): Question {
  const lists = (["columns", "categories", "other"] as const).map((name) => {
    const json = fields.get(name);
    if (!Array.isArray(json)) throw unsound(name, "a list with an entry for each column", json);
    return json;
  });
  const [columns, categories, others] = lists as [Json[], Json[], Json[]];
  const names = columns.map((json) => {
    if (typeof json !== "string" || !json || UNPRINTABLE.test(json)) throw unsound("columns", "printable names", json);
    return json;
  });
  const alike = categories.length === names.length && others.length === names.length;
  if (names.length < 2 || !alike || new Set(names).size < names.length) {
    throw unsound("columns", "two or more names, each once, with categories for each", columns);
  }
  const parts = names.map((column, at) => {
    const own = new Map([["categories" as const, categories[at]!], ["other" as const, others[at]!]]);
    const { labels, other } = listed(own, "categories");
    const odd = labels.find((each) => each === ALL || each.includes(CROSS));
    if (odd !== undefined) throw unsound("A category of a crosstab", `neither ${ALL} nor with ${CROSS} in it`, odd);
    return { column, labels, other };
  });
  const numbers = parts.reduce((product, { labels }) => product * (labels.length + 1), 1) - 1;
  if (numbers > MOST_NUMBERS) throw unsound("A crosstab", `of at most ${MOST_NUMBERS} cells and sums`, categories);
  const labels = parts
    .map((part) => part.labels)
    .reduce((cells, own) => cells.flatMap((cell) => own.map((each) => cell + CROSS + each)));
  return { parts, labels, families: NAMING };
}

function top(fields: Of<"top">): Question {
  return { labels: [], level: levelOf(fields), families: ["krr"] };
}

/** The values that are told apart: a list of them, or a number k, for 0, ..., k - 1. */
function listed<Name extends string>(fields: Fields<Name | "other">, name: Name): Listed {
  const values = fields.get(name);
  const other = fields.get("other")!;
  if (!Array.isArray(values)) {
    if (other !== null) throw unsound("other", `null when ${name} is a number`, other);
    const length = whole(fields, name, 2, MOST_LABELS);
    return { labels: Array.from({ length }, (_, value) => String(value)), other };
  }
  const labels = values.map((each) => label(name, each));
  const known = new Set(values.map(keyOf));
  const seen = new Set(labels.map((each) => each.normalize())); // NFC: what looks alike is the same, as in Python
  if (labels.length < 2 || labels.length > MOST_LABELS || seen.size < labels.length) {
    throw unsound(name, `a list of 2 to ${MOST_LABELS} values that look different`, values);
  }
  if (other !== null && !known.has(keyOf(other))) {
    throw unsound("other", `one of the ${name}`, other);
  }
  return { labels, other: restOf(fields) };
}

/** The answer that everything else counts as, if there is one. */
function restOf<Name extends string>(fields: Fields<Name | "other">): string | null {
  const other = fields.get("other")!;
  return other === null ? null : label("other", other);
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
