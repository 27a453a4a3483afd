// What the operator sees of a collection.
import { hex, type Collection } from "../client.ts";
import { byId, draw, make, say, show } from "../shared/dom.ts";
import { fromNow, timed } from "../shared/moments.ts";
import { atMost, inDigits, whole } from "../shared/numbers.ts";
import type { Outlook } from "./outlook.ts";

const STATES: Record<Outlook["state"], [string, string]> = {
  open: ["Open", "reports are taken"],
  "not open yet": ["Not open yet", "reports are refused until it opens"],
  expired: ["Time is over", "no more reports are taken"],
  closed: ["Closed", "for good"],
};

const MOST_CUTS = 80; // more of them are a gray bar

export function board(collection: Collection, outlook: Outlook): void {
  const { reports, promise, most, step } = outlook;
  const closed = outlook.state === "closed";
  const needed = `of the ${whole(promise)} that the promise needs and the ${whole(most)} that are asked for`;
  say("progress-text", `At least ${whole(reports)} reports, ${needed}.`);
  byId("progress").replaceChildren(progress(outlook));
  say(
    "coarse",
    `The number grows in steps of about ${whole(step)}, on purpose, and for you too: whoever saw an exact count ` +
      "could add all reports but one, wait for the last, and know whose it is.",
  );
  say("outlook-title", closed ? "What it gives" : "If it were closed now");
  forecast(collection, outlook);
  const [title, under] = STATES[outlook.state];
  say("state", title);
  say("state-under", under);
  say("close-why", ...reason(collection, outlook));
  byId("close").setAttribute("aria-disabled", String(!outlook.may_close));
  show("close", !closed);
  show("next", closed);
  say("commands", commandsFor(collection));
  facts(collection);
}

function forecast({ design }: Collection, { epsilon, promised, delta, stderr, reports, promise }: Outlook): void {
  if (epsilon === null || stderr === null) {
    for (const id of ["epsilon", "error"]) say(id, "–");
    for (const id of ["epsilon-under", "error-under"]) say(id, "too few reports to say");
    return;
  }
  const goal = promised === null ? "" : `; promised is ${inDigits(promised, 6)} with ${whole(promise)}`;
  say("epsilon", atMost(epsilon));
  say("epsilon-under", `at delta = ${inDigits(delta, 6)}, if all ${whole(reports)} are honest${goal}`);
  say("error", `± ${atMost(stderr)}`);
  const share = `${atMost((100 * stderr) / reports, 2)} %`;
  const counted = `people: standard error of one answer’s count, ${share} of the reports`;
  const below = `people: standard error of the count below a number, ${share} of the reports`;
  const number = design.edges ? below : "standard error of the mean";
  say("error-under", design.bounds ? number : counted);
}

/** Why it may not be closed, or what closing means. */
function reason({ closes }: Collection, { state: now, may_close, why, promise }: Outlook): (Node | string)[] {
  if (now === "closed") return ["The shuffler holds what it collected, sorted by content, for whoever has the token."];
  if (may_close) {
    const until = now === "open" && closes !== null ? [" Reports are taken until ", timed(closes), "."] : [];
    return ["There are enough reports for the promise. Closing is final.", ...until];
  }
  if (now === "expired") {
    const few = `the time is over, and fewer than the ${whole(promise)} reports of the promise came`;
    return [`Refused for good: ${few}. Nothing of it may be opened; ask again in a new collection.`];
  }
  return ["Still refused: ", why ?? "there are too few reports."];
}

/** What the analyst types. The address is somebody else's text, and a shell must not read more than that in it. */
export function commandsFor({ shuffler }: Collection): string {
  const address = /^[\w.:/~-]+$/.test(shuffler) ? shuffler : `'${shuffler.replaceAll("'", "'\\''")}'`;
  const fetching = `shuffledp survey fetch ${address} --collection study/collection.json --token token.txt`;
  return `${fetching} --out sealed.bin\nshuffledp survey open study sealed.bin --out result`;
}

function facts({ design, digest, opens, closes, codes, shuffler, round, key }: Collection): void {
  const time = (seconds: number | null, none: string) =>
    seconds === null ? [none] : [timed(seconds), ` (${fromNow(seconds)})`];
  const rows: [string, (Node | string)[]][] = [
    ["Opens", time(opens, "at once")],
    ["Closes", time(closes, "when you close it")],
    ["Invitation codes", [codes ? "asked for: one report for each" : "none: whoever has the address may report"]],
    ["Round", [`${whole(round)} of ${whole(design.rounds)}`]],
    ["Shuffler", [shuffler]],
    ["Digest", [make("code", {}, digest)]],
    ["Analyst’s key", [make("code", {}, hex(key))]],
  ];
  const lines = rows.map(([term, fact]) => make("div", {}, make("dt", {}, term), make("dd", {}, ...fact)));
  say("facts", ...lines);
}

/** A bar as long as all who are asked, filled as far as reports came, with the promise marked on it. */
function progress({ reports, promise, most, step }: Outlook): SVGElement {
  const at = (count: number) => `${Math.min(100, (100 * count) / most)}%`;
  const between = Math.ceil(most / step) - 1;
  const steps = Array.from({ length: between < MOST_CUTS ? between : 0 }, (_, place) => (place + 1) * step);
  const anchor = ["start", "middle", "end"][Math.round((2 * promise) / most)]!;
  const cut = (count: number) => draw("line", { class: "cut", x1: at(count), x2: at(count), y1: 30, y2: 56 });
  const label = `A bar: at least ${whole(reports)} of ${whole(most)}, the promise at ${whole(promise)}.`;
  return draw(
    "svg",
    { class: "progress", role: "img", "aria-label": label, width: "100%", height: 84 },
    draw("rect", { class: "track", x: 0, y: 30, width: "100%", height: 26, rx: 5 }),
    draw("rect", { class: "speaks", x: 0, y: 30, width: at(reports), height: 26, rx: 5 }),
    ...steps.map(cut),
    draw("line", { class: "goal", x1: at(promise), x2: at(promise), y1: 22, y2: 62 }),
    draw("text", { x: at(promise), y: 15, "text-anchor": anchor }, `the promise: ${whole(promise)}`),
    draw("text", { class: "tick", x: 0, y: 78 }, "0"),
    draw("text", { class: "tick", x: "100%", y: 78, "text-anchor": "end" }, whole(most)),
  );
}

/** A sentence of the shuffler, as one begins on a page. */
export function sentence(said: string): string {
  return said.charAt(0).toUpperCase() + said.slice(1);
}
