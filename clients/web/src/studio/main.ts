// The planner's page: dials in, answers out.
import type { Bound, Curve, Interval, Numbers, Published } from "./asking.ts";
import { Conversation, post } from "./asking.ts";
import { drawBounds } from "./bounds.ts";
import { drawCurve } from "./curve.ts";
import { Dials, labelOf } from "./dials.ts";
import { copy, html } from "./drawing.ts";
import { drawModels } from "./models.ts";
import type { Plan } from "./plan.ts";
import { fromFragment, toFragment } from "./plan.ts";

const QUIET = 900; // milliseconds of rest before a screen reader is told

const find = <Kind extends HTMLElement = HTMLElement>(id: string): Kind => document.getElementById(id) as Kind;
const write = (name: string, text: string): void => {
  for (const each of document.querySelectorAll<HTMLElement>(`[data-text="${name}"]`)) each.textContent = text;
};

let plan: Plan = fromFragment(location.hash.slice(1));
let curve: Curve | null = null;
let bounds: readonly Bound[] = [];
let promised = "";
let telling = 0;

const dials = new Dials(find<HTMLFormElement>("plan"), find("dials"), (change) => move({ ...plan, ...change }));
const conversation = new Conversation({ numbers, interval, published, refused, moved });

function move(next: Plan): void {
  plan = next.task === "mean" ? { ...next, given: "epsilon" } : next;
  dials.show(plan);
  const wrong = unread(plan);
  if (wrong) return refused(`${labelOf(wrong)} must be a number. Write it as 10000, 0.5 or 1e-6.`);
  conversation.want(plan);
}

/** The first field that holds no number. */
function unread(of: Plan): string | undefined {
  return Object.entries(of).find(([, value]) => Number.isNaN(value))?.[0];
}

function moved(): void {
  find("answer").setAttribute("aria-busy", "true");
  find("done").textContent = "";
  for (const id of ["curve", "bounds"]) find(id).classList.add("stale");
  clearTimeout(telling);
}

function refused(sentence: string): void {
  find("problem").textContent = sentence;
  find("answer").classList.add("refused");
  find("answer").inert = true; // nothing of the plan before may be copied or saved as if it were this one
}

function numbers(found: Numbers, asked: Plan): void {
  if (unread(plan)) return; // an answer to what was there before
  find("problem").textContent = "";
  const answer = find("answer");
  answer.classList.remove("refused");
  answer.inert = false;
  document.body.classList.toggle("forecast", !found.certified);
  answer.setAttribute("aria-busy", String(!found.certified));
  const shuffled = found.errors.find((each) => each.model === "shuffled");
  const counting = asked.task !== "mean";
  write("error", shuffled?.text ?? "");
  write("local", found.errors.find((each) => each.model === "local")?.text ?? "");
  write("unit", counting ? `people per count, ${shuffled?.share}` : `of the mean, ${shuffled?.share} of its range`);
  write("epsilon0", found.epsilon0.text);
  write("bits", `${found.bits} ${found.bits === "1" ? "bit" : "bits"} a report; ${found.alone}`);
  write("epsilon", found.epsilon.text);
  write("interval", `at δ = ${found.delta.text}${found.only && `, ${found.only}`}`);
  promised = found.epsilon.text;
  write("meaning", found.meaning);
  write("gain", found.gain);
  write("error-means", `The error is the ${found.error}, of one round.`);
  write("colluding", found.colluding);
  write("cautions", found.cautions.join(" "));
  document.querySelector<HTMLElement>('[data-text="cautions"]')!.hidden = found.cautions.length === 0;
  find("save").hidden = asked.given !== "epsilon";
  find("promise").hidden = asked.given === "epsilon";
  drawModels(find("models"), found);
  showCommands(found.commands);
  if (!found.curve) return;
  draw(found.curve);
  history.replaceState(null, "", `#${toFragment(asked)}`);
  telling = window.setTimeout(() => {
    const said = found.errors.map((each) => `${each.model} ${each.text}`).join(", ");
    find("said").textContent = `epsilon0 ${found.epsilon0.text}. Error: ${said}.`;
  }, QUIET);
}

function interval(found: Interval): void {
  const { lower, upper } = found.interval;
  write("interval", `in [${lower.text}, ${upper.text}] at δ = ${found.curve.delta.text}${found.only && `, ${found.only}`}`);
  draw(found.curve);
}

function draw(found: Curve): void {
  curve = found;
  bounds = [];
  drawCurve(find("curve"), found, bounds);
  find("curve").classList.remove("stale");
}

function published(found: Published, complete: boolean): void {
  bounds = found.rows;
  drawBounds(find("bounds"), find("reasons"), found);
  const papers = found.rows.filter((row) => row.name !== "shuffledp");
  const wrong = papers.filter((row) => row.verdict === "refuted").length;
  const waiting = complete ? "" : ` ${found.skipped.length} more are being computed.`;
  write("counted", `${papers.length} bounds say something here${wrong ? `, ${wrong} of them something false` : ""}.${waiting}`);
  write("silent", `${found.silent.length + found.skipped.length} say nothing here, and why`);
  find("bounds").classList.remove("stale");
  if (curve) drawCurve(find("curve"), curve, bounds);
}

function showCommands(commands: Record<string, string>): void {
  const place = find("commands");
  const names = Object.keys(commands);
  if (place.dataset["names"] !== names.join()) {
    place.dataset["names"] = names.join();
    place.replaceChildren(...names.map(commandBox));
  }
  names.forEach((name) => {
    place.querySelector(`#command-${name}`)!.textContent = commands[name]!;
  });
}

function commandBox(name: string): HTMLElement {
  const code = html("code");
  code.id = `command-${name}`;
  const button = html("button", "quiet", "Copy") as HTMLButtonElement;
  button.type = "button";
  button.setAttribute("aria-label", `Copy the ${name} command`);
  button.addEventListener("click", () => void handOver(code.textContent ?? "", "The command is copied."));
  return html("div", "command", html("pre", "", code), button);
}

async function handOver(text: string, done: string): Promise<void> {
  find("done").textContent = (await copy(text)) ? done : "The browser does not let a page copy: select the text instead.";
}

/** What opens this plan on another machine; encoded text has no quotes in it. */
function shared(): string {
  return `shuffledp plan --web --plan '${toFragment(plan).replaceAll("'", "%27")}'`;
}

async function save(): Promise<void> {
  try {
    const file = await (await post("design", plan)).blob();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = "design.json";
    link.click();
    URL.revokeObjectURL(link.href);
    find("done").textContent = "Saved as design.json: give it to clients, shuffler and analyst.";
  } catch (error) {
    find("done").textContent = (error as Error).message;
  }
}

find("save").addEventListener("click", () => void save());
find("promise").addEventListener("click", () => move({ ...plan, given: "epsilon", epsilon: Number(promised) }));
find("share").addEventListener("click", () => void handOver(shared(), "The command that opens this plan is copied."));
window.addEventListener("hashchange", () => move(fromFragment(location.hash.slice(1))));
window.addEventListener("resize", () => curve && drawCurve(find("curve"), curve, bounds));
move(plan);
