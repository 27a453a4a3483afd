// One answer of very many: a field to type in, and a list of what fits (the combobox of the ARIA practices).
import { byId, make } from "../shared/dom.ts";
import { plural, whole } from "../shared/numbers.ts";
import type { Answers, Choice } from "./answers.ts";

const SHOWN = 50;
const QUIET = 400; // milliseconds without a key before a screen reader is told how many fit

export function finder({ labels, other, title, mark }: Choice, place: HTMLElement, changed: () => void): Answers {
  const folded = labels.map(fold);
  const input = make("input", {
    id: `find${mark}`,
    type: "text",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": `found${mark}`,
    "aria-describedby": `find-hint${mark} find-error${mark}`,
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
  });
  const list = make("ul", {
    id: `found${mark}`,
    class: "found",
    role: "listbox",
    "aria-label": "Answers",
    hidden: true,
  });
  const mistake = make("p", { class: "mistake", id: `find-error${mark}`, role: "alert" });
  const rest = other === null ? "" : ` If yours is not there, choose “${other}”.`;
  const hint = `Type to search ${whole(labels.length)} answers, and choose one.${rest}`;
  place.append(
    make(
      "div",
      { class: "field" },
      make("label", { for: `find${mark}`, dir: "auto" }, title),
      make("p", { class: "hint", id: `find-hint${mark}`, dir: "auto" }, hint),
      make("div", { class: "finder" }, input, list),
      mistake,
    ),
  );

  let answer: number | null = null;
  let fitting: number[] = [];
  let active = -1;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** The answer that was typed, then those that begin so, then those that hold it. */
  const search = () => {
    const typed = fold(input.value);
    const ranked: number[][] = [[], [], []];
    folded.forEach((label, index) => {
      if (label === typed) ranked[0]!.push(index);
      else if (label.startsWith(typed)) ranked[1]!.push(index);
      else if (label.includes(typed)) ranked[2]!.push(index);
    });
    fitting = ranked.flat();
    const options = fitting.slice(0, SHOWN).map((index, row) =>
      make("li", { id: `option${mark}-${row}`, role: "option", "aria-selected": "false", dir: "auto" }, labels[index]!),
    );
    options.forEach((option, row) => option.addEventListener("click", () => choose(row)));
    const more = fitting.length - options.length;
    const rows = more > 0 ? `and ${whole(more)} more: type to narrow` : "No answer fits.";
    const note = make("li", { class: "more", role: "presentation" }, rows);
    list.replaceChildren(...options, ...(more > 0 || !fitting.length ? [note] : []));
    clearTimeout(timer);
    const heard = `${plural(fitting.length, "answer fits", "answers fit")}.`;
    timer = setTimeout(() => (byId("said").textContent = heard), QUIET);
  };
  const open = (shown: boolean) => {
    list.hidden = !shown;
    input.setAttribute("aria-expanded", String(shown));
    if (!shown) move(-1);
  };
  const move = (row: number) => {
    list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    active = row;
    const option = row < 0 ? null : list.children[row];
    if (!option) return input.removeAttribute("aria-activedescendant");
    option.setAttribute("aria-selected", "true");
    input.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  };
  const choose = (row: number) => {
    answer = fitting[row]!;
    input.value = labels[answer]!;
    mistake.textContent = "";
    open(false);
    changed();
  };
  const keys: Record<string, (last: number) => void> = {
    ArrowDown: (last) => move(Math.min(active + 1, last)),
    ArrowUp: (last) => move(active <= 0 ? last : active - 1),
    Home: () => move(0),
    End: (last) => move(last),
    Enter: () => choose(Math.max(active, 0)),
  };
  const searching = () => {
    search();
    open(true);
  };
  input.addEventListener("input", () => {
    const exact = labels.indexOf(input.value.trim());
    answer = exact < 0 ? null : exact;
    searching();
    changed();
  });
  input.addEventListener("click", searching);
  input.addEventListener("blur", () => open(false));
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return open(false);
    const inList = !list.hidden && fitting.length > 0;
    if (!inList && event.key === "ArrowDown") searching();
    else if (!inList || !(event.key in keys)) return;
    else if ((event.key === "Home" || event.key === "End") && active < 0) return; // in the text, not in the list
    event.preventDefault();
    keys[event.key]!(Math.min(fitting.length, SHOWN) - 1);
  });
  return {
    chosen: () => answer,
    demand: () => {
      mistake.textContent = "Choose an answer from the list.";
      input.focus();
    },
  };
}

/** Without case and accents. */
function fold(text: string): string {
  const trimmed = text.trim();
  const plain = /^[\0-\x7f]*$/.test(trimmed); // of millions, most are: it is four times as quick
  return (plain ? trimmed : trimmed.normalize("NFKD").replace(/\p{M}/gu, "")).toLowerCase();
}
