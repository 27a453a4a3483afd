// Everything that the page says about a collection before anybody answers.
import { exposureOf, type Collection } from "../client.ts";
import { copies, make, say, show } from "../shared/dom.ts";
import { fromNow, moment } from "../shared/moments.ts";
import { atMost, inDigits, oneIn, whole } from "../shared/numbers.ts";
import { BASE } from "../shared/opening.ts";
import { pictureOf } from "./picture.ts";
import { atLength, briefly, each, questionOf, shownAlone, together } from "./wording.ts";

export function explain(collection: Collection, pinned: boolean): void {
  document.title = questionOf(collection);
  say("question", questionOf(collection));
  say("terms", terms(collection));
  before(collection);
  say("law", atLength(collection.design));
  say("picture", ...pictureOf(collection.design, null));
  if (exposureOf(collection).truthful) unnoised();
  whoSees(collection);
  promise(collection);
  which(collection, pinned);
  show("explain");
  show("which");
}

/** Where an answer is sent as it is, nothing on the page says that noise protects it. */
function unnoised(): void {
  show("picture", false);
  say("law-title", "What is sent");
  say("sees-device", "Knows your answer, and forgets it. What leaves is sealed.");
  say("send", "Seal and send");
}

function terms({ design, closes, round }: Collection): string {
  const rounds = design.rounds > 1 ? [`Round ${whole(round)} of ${whole(design.rounds)}.`] : [];
  const over = closes !== null && closes < Date.now() / 1000;
  const open = over ? "It was open" : "Open";
  const until = closes === null ? [] : [`${open} until ${moment(closes)} (${fromNow(closes)}).`];
  return [...rounds, `${whole(design.n)} people are asked.`, ...until].join(" ");
}

/** What to know before sending, beside the button. */
function before(collection: Collection): void {
  const { factor, much, truthful, messages, epsilon, delta, rounds } = exposureOf(collection);
  const one = messages === 1;
  say("brief", make("strong", {}, briefly(collection.design)));
  if (truthful) {
    const both = "If shuffler and analyst worked together against you, they would know your answer: ";
    say("brief-factor", both, make("strong", {}, "nothing but the seal and the shuffler protects it"), ".");
  } else {
    say(
      "brief-factor",
      "Even if everybody else worked together against you, it would change the odds of any guess about you by ",
      make("strong", {}, `at most a factor of ${atMost(factor)}${each(collection.design)}`),
      `: ${shownAlone(collection.design)}.`,
    );
  }
  show("brief-among", epsilon !== null);
  say(
    "brief-among",
    "As long as shuffler and analyst do not work together, and the shuffler puts no reports of its own in place of " +
      `others’${adds(collection)}, ${one ? "it is" : "they are"} mixed with the reports of others, and ` +
      `${truthful ? "the odds of any guess about you change by at most a factor of" : "that factor is"} ` +
      `${atMost(Math.exp(epsilon ?? 0))}${rounds > 1 ? " for all rounds together" : ""}, plus a probability of ` +
      `${oneIn(delta)}.`,
  );
  show("much", much && !truthful);
  say(
    "much",
    "That is a lot: such a report is nearly the truth, and you would rely on the shuffler and the analyst not " +
      "working together.",
  );
}

/** What a promise takes beyond that, where the shuffler has a part in it. */
function adds({ design }: Collection, who = ""): string {
  return ["dummies", "tree"].includes(design.law.family) ? `, and ${who}adds its dummies` : "";
}

function whoSees(collection: Collection): void {
  const { truthful, messages } = exposureOf(collection);
  const sealed = messages === 1 ? "" : `, in ${whole(messages)} sealed messages`;
  const code = collection.codes ? ", and that your code was used" : "";
  say(
    "sees-shuffler",
    `Sees that you took part, when and from which address${code}. What it stores are ` +
      `${whole(exposureOf(collection).bytes)} bytes that it cannot open${sealed}, and no note of who sent them.`,
  );
  say(
    "sees-analyst",
    "Has the key. Sees all reports at once, in an order that says nothing, and not who sent which, nor when.",
  );
  say(
    "sees-both",
    `They could open your report and know that it is yours. ${truthful ? "Then" : "It is still noisy:"} `,
    make("strong", {}, together(collection)),
  );
}

function promise(collection: Collection): void {
  const { factor, truthful, epsilon0, epsilon, delta, honest, rounds } = exposureOf(collection);
  const people = whole(collection.design.n);
  const guess = `on the odds of any guess about you, at most, whoever reads it (epsilon0 = ${atMost(epsilon0)}): ` + shownAlone(collection.design);
  say("alone", truthful ? "no limit" : `× ${atMost(factor)}`);
  say("alone-under", truthful ? "whoever opens it and knows that it is yours knows your answer" : guess);
  if (epsilon === null) return;
  const among = atMost(Math.exp(epsilon));
  const certified = `(epsilon = ${inDigits(epsilon, 6)}, delta = ${inDigits(delta, 6)})`;
  say("among", `× ${among}`);
  say("among-under", `on the probability of any result, at most, plus ${oneIn(delta)} ${certified}`);
  const all = rounds > 1 ? `, for all ${whole(rounds)} rounds together` : "";
  say(
    "promise",
    "The analyst sees your report among others. Whatever you answer changes the probability of anything that could " +
      `come out by at most a factor of ${among}, plus ${oneIn(delta)}${all}, as long as ${whole(honest)} of the ` +
      `${people} people who are asked, you among them, send honest reports${adds(collection, "the shuffler ")}. With fewer than ${whole(honest)} reports ` +
      "the collection is not closed, and nothing is opened.",
  );
  say(
    "promise-source",
    (truthful ? "The number is" : "The first number was checked on this device. The second is") +
      " the organizer’s promise. It is certified again before anything is published, " +
      "and anybody can certify it from collection.json with shuffledp.",
  );
}

function which({ digest, shuffler }: Collection, pinned: boolean): void {
  const compare = "Compare these letters and digits with those on your invitation. If they differ, do not answer.";
  say("digest-text", pinned ? "Yes: its digest is the one in the link that you followed." : compare);
  say("digest-short", `${digest.slice(0, 16).match(/.{4}/g)!.join(" ")} …`);
  say("digest", digest);
  copies("digest-copy", () => digest);
  const elsewhere = shuffler === BASE ? "" : ` This page came from ${BASE}.`;
  say("terms-address", `The shuffler of this collection is ${shuffler}.${elsewhere}`);
}
