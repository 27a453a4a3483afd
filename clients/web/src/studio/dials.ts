// The dials: a slider that snaps to steps, and beside it a field for any other number.
import type { Dial, Plan } from "./plan.ts";
import { nearest, read, STEPS, written } from "./plan.ts";
import { html } from "./drawing.ts";

type Changed = (change: Partial<Plan>) => void;

interface Described { label: string; hint: string }

const DESCRIBED: Record<Dial, Described> = {
  n: { label: "People", hint: "who report" },
  size: { label: "Categories", hint: "that are told apart" },
  rounds: { label: "Rounds", hint: "in which the same people report" },
  honest: { label: "Honest share", hint: "percent who follow the protocol" },
  epsilon: { label: "Promise ε", hint: "for all rounds together" },
  epsilon0: { label: "One report's ε₀", hint: "without a shuffler" },
  delta: { label: "Promise δ", hint: "well below 1 / people" },
};

const LABELS: Record<string, string> = { lower: "Smallest value", upper: "Largest value" };

/** What a field of a plan is called on the page. */
export const labelOf = (name: string): string => DESCRIBED[name as Dial]?.label ?? LABELS[name] ?? name;

const MECHANISMS: Record<string, string> = {
  krr: "k-ary randomized response",
  hadamard: "Hadamard response",
  hash: "local hashing",
  subset: "subset selection",
  oue: "unary encoding",
};

export class Dials {
  #rows = new Map<Dial, { row: HTMLElement; slider: HTMLInputElement; field: HTMLInputElement }>();
  #names = text("names", "optional: tea, coffee, water");
  #bounds = { lower: number("lower", "from"), upper: number("upper", "to") };
  #mechanism = html("select") as HTMLSelectElement;
  #given = choice("given", "Start from", { epsilon: "a promise ε", epsilon0: "one report's ε₀" });
  #form: HTMLFormElement;
  #groups: Record<string, HTMLElement>;

  constructor(form: HTMLFormElement, place: HTMLElement, changed: Changed) {
    this.#form = form;
    for (const dial of Object.keys(DESCRIBED) as Dial[]) this.#rows.set(dial, this.#dial(dial, changed));
    this.#mechanism.id = "mechanism";
    this.#mechanism.append(...Object.entries(MECHANISMS).map(([value, label]) => new Option(label, value)));
    this.#groups = {
      names: labelled("names", "Names", this.#names),
      bounds: html("div", "pair", labelled("lower", labelOf("lower"), this.#bounds.lower), labelled("upper", labelOf("upper"), this.#bounds.upper)),
      mechanism: labelled("mechanism", "Mechanism", this.#mechanism),
    };
    const row = (dial: Dial): HTMLElement => this.#rows.get(dial)!.row;
    place.append(
      row("n"), row("size"), this.#groups["names"]!, this.#groups["bounds"]!, this.#groups["mechanism"]!, row("rounds"), row("honest"),
      this.#given, row("epsilon"), row("epsilon0"), row("delta"),
    );
    this.#names.addEventListener("input", () => changed({ names: this.#names.value }));
    this.#mechanism.addEventListener("change", () => changed({ mechanism: this.#mechanism.value }));
    for (const name of ["lower", "upper"] as const) {
      this.#bounds[name].addEventListener("input", () => changed({ [name]: read(name, this.#bounds[name].value) }));
    }
    form.addEventListener("change", (event) => {
      const chosen = event.target as HTMLInputElement;
      if (chosen.type === "radio") changed({ [chosen.name]: chosen.value } as Partial<Plan>);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** Show a plan; what somebody is typing in is left alone. */
  show(plan: Plan): void {
    for (const [dial, { slider, field }] of this.#rows) {
      const value = plan[dial];
      if (document.activeElement !== field) field.value = Number.isNaN(value) ? field.value : written(dial, value);
      if (Number.isNaN(value)) continue;
      slider.value = String(nearest(dial, value));
      slider.setAttribute("aria-valuetext", written(dial, value));
    }
    for (const input of this.#form.querySelectorAll<HTMLInputElement>("input[type=radio]")) {
      input.checked = plan[input.name as "task" | "given"] === input.value;
    }
    const counting = plan.task !== "mean";
    const named = counting && plan.names.trim() !== "";
    this.#type(this.#names, plan.names);
    this.#type(this.#bounds.lower, String(plan.lower));
    this.#type(this.#bounds.upper, String(plan.upper));
    this.#mechanism.value = plan.mechanism;
    this.#groups["names"]!.hidden = !counting;
    this.#groups["bounds"]!.hidden = counting;
    this.#groups["mechanism"]!.hidden = !counting;
    this.#rows.get("size")!.row.hidden = !counting;
    for (const input of this.#rows.get("size")!.row.querySelectorAll("input")) input.disabled = named;
    this.#given.hidden = !counting;
    this.#rows.get("epsilon")!.row.hidden = plan.given !== "epsilon";
    this.#rows.get("epsilon0")!.row.hidden = plan.given !== "epsilon0";
  }

  #type(input: HTMLInputElement, value: string): void {
    if (document.activeElement !== input && value !== "NaN") input.value = value;
  }

  #dial(dial: Dial, changed: Changed): { row: HTMLElement; slider: HTMLInputElement; field: HTMLInputElement } {
    const { label, hint } = DESCRIBED[dial];
    const slider = html("input") as HTMLInputElement;
    Object.assign(slider, { type: "range", min: "0", max: String(STEPS[dial].length - 1), step: "1" });
    slider.setAttribute("aria-label", `${label}, ${hint}`);
    slider.dataset["dial"] = dial;
    const field = number(dial, hint);
    field.setAttribute("aria-describedby", "problem");
    slider.addEventListener("input", () => changed({ [dial]: STEPS[dial][Number(slider.value)] }));
    field.addEventListener("input", () => changed({ [dial]: read(dial, field.value) }));
    field.addEventListener("blur", () => {
      const value = read(dial, field.value);
      if (!Number.isNaN(value)) field.value = written(dial, value);
    });
    const name = html("label", "", label, " ", html("small", "", hint)) as HTMLLabelElement;
    name.htmlFor = field.id;
    return { row: html("div", "dial", name, field, slider), slider, field };
  }
}

function text(id: string, placeholder: string): HTMLInputElement {
  const input = html("input") as HTMLInputElement;
  Object.assign(input, { type: "text", id, placeholder, spellcheck: false });
  return input;
}

function number(id: string, hint: string): HTMLInputElement {
  const input = text(id, "");
  input.inputMode = "decimal";
  input.title = hint;
  return input;
}

function labelled(id: string, label: string, input: HTMLElement): HTMLElement {
  const name = html("label", "", label) as HTMLLabelElement;
  name.htmlFor = id;
  return html("div", "entry", name, input);
}

function choice(name: string, legend: string, options: Record<string, string>): HTMLElement {
  const made = html("fieldset", "choice", html("legend", "", legend));
  for (const [value, label] of Object.entries(options)) {
    const input = html("input") as HTMLInputElement;
    Object.assign(input, { type: "radio", name, value });
    made.append(html("label", "", input, html("span", "", label)));
  }
  return made;
}
