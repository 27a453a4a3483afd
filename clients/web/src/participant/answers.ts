// Where an answer is given: one of a few, one of many, a number, a word, or one about each of several things. It is
// never stored.
import { cellOf, type Design, type Level } from "../client.ts";
import { byId, make } from "../shared/dom.ts";
import { inDigits } from "../shared/numbers.ts";
import { finder } from "./finder.ts";

export interface Answers {
  /** A place among the labels, or a number; null while there is none that fits. */
  chosen(): number | null;
  /** Say what is wrong, and go there. */
  demand(): void;
}

/** What is asked in one place: answers to choose from, their title, and a mark that tells its parts from others'. */
export interface Choice {
  labels: readonly string[];
  other: string | null;
  title: string;
  mark: string;
}

const FEW = 12;

export function answersOf(design: Design, place: HTMLElement, changed: () => void): Answers {
  if (design.bounds) return aNumber(design.bounds, place, changed);
  if (design.level) return aWord(design.level, place, changed);
  if (!design.parts.length) return oneOf({ ...design, title: "Your answer", mark: "" }, place, changed);
  const asked = design.parts.map(({ column, labels, other }, at) =>
    oneOf({ labels, other, title: column, mark: `-${at}` }, place, changed),
  );
  return {
    chosen: () => {
      const places = asked.map((each) => each.chosen());
      return places.includes(null) ? null : cellOf(design, places as number[]);
    },
    demand: () => asked.find((each) => each.chosen() === null)?.demand(),
  };
}

function oneOf(choice: Choice, place: HTMLElement, changed: () => void): Answers {
  return choice.labels.length <= FEW ? oneOfFew(choice, place, changed) : finder(choice, place, changed);
}

function oneOfFew({ labels, other, title, mark }: Choice, place: HTMLElement, changed: () => void): Answers {
  const options = labels.map((label, index) => {
    const input = make("input", { type: "radio", name: `answer${mark}`, value: index, autocomplete: "off" });
    const more = label === other ? [make("small", {}, "or anything that is not listed")] : [];
    return make("label", { class: "choice" }, input, make("span", { dir: "auto" }, label), ...more);
  });
  const mistake = make("p", { class: "mistake", id: `answer-error${mark}`, role: "alert" });
  const legend = make("legend", { dir: "auto" }, title);
  const field = make("fieldset", { "aria-describedby": `answer-error${mark}` }, legend, ...options, mistake);
  place.append(field);
  field.addEventListener("change", () => {
    mistake.textContent = "";
    changed();
  });
  return {
    chosen: () => {
      const checked = field.querySelector<HTMLInputElement>(":checked");
      return checked ? Number(checked.value) : null;
    },
    demand: () => {
      mistake.textContent = "Choose an answer.";
      field.querySelector("input")?.focus();
    },
  };
}

/** A word of one's own: what is reported is the value that it counts as at this level. */
function aWord(level: Level, place: HTMLElement, changed: () => void): Answers {
  const input = make("input", {
    id: "word",
    type: "text",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    dir: "auto",
    "aria-describedby": "word-hint word-error",
  });
  const mistake = make("p", { class: "mistake", id: "word-error", role: "alert" });
  const hint = "It stays on this device: what is sent says at most how it begins, and that with noise.";
  const labelled = make("label", { for: "word" }, "Your word");
  place.append(make("div", { class: "field" }, labelled, make("p", { class: "hint", id: "word-hint" }, hint), input, mistake));
  const wrong = (words: string) => {
    mistake.textContent = words;
    input.setAttribute("aria-invalid", String(words !== ""));
  };
  input.addEventListener("input", () => {
    wrong("");
    changed();
  });
  return {
    chosen: () => (input.value === "" ? null : level.place(input.value)),
    demand: () => {
      wrong("Enter a word.");
      input.focus();
    },
  };
}

function aNumber([lower, upper]: readonly [number, number], place: HTMLElement, changed: () => void): Answers {
  const [least, most] = [inDigits(lower, 12), inDigits(upper, 12)];
  const input = make("input", {
    id: "number",
    type: "number",
    inputmode: "decimal",
    step: "any",
    min: lower,
    max: upper,
    autocomplete: "off",
    "aria-describedby": "number-hint number-error",
  });
  place.append(
    make(
      "div",
      { class: "field" },
      make("label", { for: "number" }, "Your number"),
      make("p", { class: "hint", id: "number-hint" }, `From ${least} to ${most}.`),
      input,
      make("p", { class: "mistake", id: "number-error", role: "alert" }),
    ),
  );
  const chosen = () => (input.valueAsNumber >= lower && input.valueAsNumber <= upper ? input.valueAsNumber : null);
  input.addEventListener("input", () => {
    if (chosen() !== null) wrong("");
    changed();
  });
  const wrong = (words: string) => {
    byId("number-error").textContent = words;
    input.setAttribute("aria-invalid", String(words !== ""));
  };
  return {
    chosen,
    demand: () => {
      wrong(`Enter a number from ${least} to ${most}.`);
      input.focus();
    },
  };
}
