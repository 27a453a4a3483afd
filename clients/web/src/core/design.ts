// A design, as shuffledp.design writes it down; and a person's answer as a report. A client reads the domain, which says
// how an answer becomes a place, and the mechanism, which hides that. It never reads the question.
import { fieldsOf, isNameIn, optional, real, shown, text, truth, UNPRINTABLE, unsound, whole } from "./fields.ts";
import { bytesOf, lawOf, type Law } from "./laws.ts";
import { Refused } from "./refused.ts";
import { onGrid } from "./rounding.ts";
import { COLUMN, DESIGN, FIELDS, TARGET, type WrittenDomain, type WrittenTarget } from "./schema.ts";
import { Numeral, type Fields, type Json } from "./strict_json.ts";
import { levelOf, type Level } from "./top_words.ts";
import { SECURE, type Words } from "./words.ts";

/** What is asked about one of several columns. */
export interface Part {
  column: string;
  labels: readonly string[];
  other: string | null;
}

/** How an answer becomes one of ``size`` places. */
interface Domain {
  size: number;
  /** Where there are several columns, what is asked about each; else none. An answer is then a cell: see ``cellOf``. */
  parts: readonly Part[];
  /** The answers to choose from, or the cells of several columns; none where a number is asked for. */
  labels: readonly string[];
  /** The answer that everything else counts as. */
  other: string | null;
  /** Between which numbers an answer lies; null where it is one of the labels. */
  bounds: readonly [number, number] | null;
  /** Which value a word counts as, where a word is asked for. */
  level: Level | null;
  /** The cut points between which a number falls into bins; null where it is rounded at random, or none is asked for. */
  edges: readonly number[] | null;
}

export interface Design extends Omit<Domain, "size">, WrittenTarget {
  law: Law;
}

type Of<Type> = Fields<keyof Extract<WrittenDomain, { type: Type }> & string>;
/** A domain, and the families of laws whose reports can be about a place of it. */
type Read = Partial<Domain> & { size: number; families: readonly string[] };

const FORMAT = "shuffledp-design";
const MOST = 1e15; // of whole numbers in a design
const MOST_LABELS = 2 ** 22;
const LARGEST_BOUND = 1e100;
const MOST_BINS = 1024;
const MOST_COLUMNS = 8;
const CROSS = " × "; // between the labels of a cell
const ALL = "(all)"; // what the sums of cells are called by
const MOST_NUMBERS = 10_000; // cells and sums
const NAMING = ["krr", "fakes", "dummies"]; // laws whose messages name places
const ENCODINGS = ["hadamard", "hash", "subset", "oue"]; // laws whose reports vote for several places

const DOMAINS: { [Type in WrittenDomain["type"]]: (fields: Of<Type>) => Read } = {
  labels: (fields) => {
    const { labels, other } = labelsOf(fields);
    return { labels, other, size: labels.length, families: [...NAMING, ...ENCODINGS, "signed"] };
  },
  bins,
  grid,
  cells,
  prefixes: (fields) => {
    const level = levelOf(fields);
    return { level, size: whole(fields, "room", 1), families: ["krr"] };
  },
};

export function designOf(written: Json | undefined): Design {
  const fields = fieldsOf("a design", written, DESIGN);
  if (text(fields, "format") !== FORMAT) throw unsound("format", FORMAT, text(fields, "format"));
  whole(fields, "version", 1, 1);
  const question = fields.get("question");
  if (!(question instanceof Map) || typeof question.get("type") !== "string") {
    throw unsound("question", "fields with a type", question);
  }
  const { size, families, ...domain } = domainOf(fields.get("domain"));
  const law = lawOf(fields.get("mechanism"));
  if (!families.includes(law.family) || law.k !== size || (domain.bounds && law.blank)) {
    throw unsound("The mechanism of a design", `one of its ${size} places`, `${law.family} of ${law.k} values`);
  }
  return { ...domain, ...targetOf(fields.get("target")), law };
}

function domainOf(written: Json | undefined): Domain & Read {
  const type = written instanceof Map ? written.get("type") : undefined;
  if (!isNameIn(DOMAINS, type)) {
    throw new Refused(
      `The domain of a design must be one that this page can ask about (${Object.keys(DOMAINS).join(", ")}), got ` +
        `${shown(type)}. Take part with the Python package instead.`,
    );
  }
  const fields: Fields = fieldsOf(`a domain of ${type}`, written, FIELDS[type]);
  const read = (DOMAINS[type] as (fields: Fields) => Read)(fields);
  return { labels: [], other: null, bounds: null, level: null, parts: [], edges: null, ...read };
}

function targetOf(written: Json | undefined): WrittenTarget {
  const fields = fieldsOf("the target of a design", written, TARGET);
  const n = whole(fields, "n", 1, MOST);
  return {
    n,
    epsilon: optional(fields, "epsilon", (of, name) => real(of, name, 0, 700)),
    delta: real(fields, "delta", Number.MIN_VALUE, 1 - 2 ** -53),
    honest: whole(fields, "honest", 1, n),
    rounds: whole(fields, "rounds", 1, MOST),
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

/** A person's cell, from the place of the answer in each column. The last column changes fastest. */
export function cellOf({ parts }: Design, places: readonly number[]): number {
  return parts.reduce((cell, { labels }, at) => cell * labels.length + places[at]!, 0);
}

/** The bin of a number: from its lower end to below its upper one, and the last one's upper end. */
export function binOf(edges: readonly number[], answer: number): number {
  return edges.slice(1, -1).filter((edge) => edge <= answer).length;
}

function grid(fields: Of<"grid">): Read {
  const lower = real(fields, "lower", -LARGEST_BOUND, LARGEST_BOUND, true);
  const upper = real(fields, "upper", -LARGEST_BOUND, LARGEST_BOUND, true);
  if (!(lower < upper)) throw unsound("lower", `below upper = ${upper}`, fields.get("lower"));
  truth(fields, "clip");
  return { bounds: [lower, upper], size: whole(fields, "steps", 1, MOST) + 1, families: ["krr", "split"] };
}

function bins(fields: Of<"bins">): Read {
  const edges = numbers(fields.get("cuts"));
  const rising = edges?.every((edge, place) => !place || edges[place - 1]! < edge);
  if (!edges || edges.length < 3 || edges.length > MOST_BINS + 1 || !rising) {
    throw unsound("cuts", `from 3 to ${MOST_BINS + 1} rising numbers`, fields.get("cuts"));
  }
  truth(fields, "clip");
  const families = [...NAMING, "one of", "tree"];
  return { bounds: [edges[0]!, edges.at(-1)!], edges, size: edges.length - 1, families };
}

/** Numbers as a design writes them, with a point; null if these are none. */
function numbers(json: Json | undefined): number[] | null {
  if (!Array.isArray(json)) return null;
  const read = json.map((each) => (each instanceof Numeral && !each.whole ? Number(each.text) : NaN));
  return read.every((each) => Math.abs(each) <= LARGEST_BOUND) ? read : null;
}

function cells(fields: Of<"cells">): Read {
  const columns = fields.get("columns");
  if (!Array.isArray(columns) || columns.length < 2 || columns.length > MOST_COLUMNS) {
    throw unsound("columns", `a list of 2 to ${MOST_COLUMNS}`, columns);
  }
  const parts = columns.map((json) => {
    const own = fieldsOf("a column", json, COLUMN);
    const column = text(own, "name");
    if (!column || UNPRINTABLE.test(column)) throw unsound("name", "printable text", column);
    const { labels, other } = labelsOf(own as Fields as Of<"labels">);
    const odd = labels.find((each) => each === ALL || each.includes(CROSS));
    if (odd !== undefined) throw unsound("A label of a column", `neither ${ALL} nor with ${CROSS} in it`, odd);
    return { column, labels, other };
  });
  if (new Set(parts.map(({ column }) => column)).size < parts.length) {
    throw unsound("columns", "of different names", columns);
  }
  const numbers = parts.reduce((product, { labels }) => product * (labels.length + 1), 1) - 1;
  if (numbers > MOST_NUMBERS) throw unsound("Columns", `of at most ${MOST_NUMBERS} cells and sums`, columns);
  const labels = parts
    .map((part) => part.labels)
    .reduce((cells, own) => cells.flatMap((cell) => own.map((each) => cell + CROSS + each)));
  return { parts, labels, size: labels.length, families: NAMING };
}

/** The labels that are told apart: a list of them, or a number k, for 0, ..., k - 1; and that of all others. */
function labelsOf(fields: Of<"labels">): Pick<Domain, "labels" | "other"> {
  if (text(fields, "type") !== "labels") throw unsound("type", "labels", fields.get("type"));
  const listed = fields.get("labels");
  const places = (["other", "missing"] as const).map((name) => optional(fields, name, (of) => whole(of, name, 0)));
  if (!Array.isArray(listed)) {
    if (places.some((place) => place !== null)) throw unsound("other", "null when labels is a number", listed);
    const length = whole(fields, "labels", 2, MOST_LABELS);
    return { labels: Array.from({ length }, (_, value) => String(value)), other: null };
  }
  const labels = listed.map((each) => label("labels", each));
  const seen = new Set(labels.map((each) => each.normalize())); // NFC: what looks alike is the same, as in Python
  if (labels.length < 2 || labels.length > MOST_LABELS || seen.size < labels.length) {
    throw unsound("labels", `a list of 2 to ${MOST_LABELS} that look different`, listed);
  }
  if (places.some((place) => place !== null && place >= labels.length)) {
    throw unsound("other", "the place of a label", fields.get("other"));
  }
  return { labels, other: places[0] === null ? null : labels[places[0]!]! };
}

function label(name: string, json: Json): string {
  if (json instanceof Numeral && json.whole) return json.text;
  if (typeof json === "string" && !UNPRINTABLE.test(json)) return json;
  throw unsound(name, "printable text or whole numbers", json);
}
