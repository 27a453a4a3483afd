// Everything that the page says about a collection before anybody answers.
import { exposureOf, type Collection } from "../client.ts";
import { copies, make, say, show } from "../shared/dom.ts";
import { fromNow, moment } from "../shared/moments.ts";
import { atMost, inDigits, oneIn, whole } from "../shared/numbers.ts";
import { BASE } from "../shared/opening.ts";
import { pictureOf } from "./picture.ts";
import { atLength, briefly, questionOf, together } from "./wording.ts";

export function explain(collection: Collection, pinned: boolean): void {
  const { design, digest, closes, round } = collection;
  const { factor, epsilon0, much, bytes } = exposureOf(collection);
  document.title = questionOf(collection);
  say("question", questionOf(collection));
  const rounds = design.rounds > 1 ? [`Round ${whole(round)} of ${whole(design.rounds)}.`] : [];
  const over = closes !== null && closes < Date.now() / 1000;
  const until = closes === null ? [] : [`${over ? "It was open" : "Open"} until ${moment(closes)} (${fromNow(closes)}).`];
  say("terms", [...rounds, `${whole(design.n)} people are asked.`, ...until].join(" "));

  say("brief", make("strong", {}, briefly(design)));
  say("brief-factor", "Even if everybody else worked together against you, it would change the odds of any guess about you by ", make("strong", {}, `at most a factor of ${atMost(factor)}`), ".");
  show("brief-among", design.epsilon !== null);
  say("brief-among", `As long as shuffler and analyst do not work together, it is mixed with the reports of others, and that factor is ${atMost(Math.exp(design.epsilon ?? 0))}, plus a probability of ${oneIn(design.delta)}.`);
  show("much", much);
  say("much", "That is a lot: such a report is nearly the truth, and you would rely on the shuffler and the analyst not working together.");

  say("law", atLength(design));
  say("picture", ...pictureOf(design, null));

  const code = collection.codes ? ", and that your code was used" : "";
  say("sees-shuffler", `Sees that you took part, when and from which address${code}. What it stores are ${whole(bytes)} bytes that it cannot open, and no note of who sent them.`);
  say("sees-analyst", "Has the key. Sees all reports at once, in an order that says nothing, and not who sent which, nor when.");
  say("sees-both", "They could open your report and know that it is yours. It is still noisy: ", make("strong", {}, together(collection)));
  promise(collection, factor, epsilon0);

  say("digest-text", pinned ? "Yes: its digest is the one in the link that you followed." : "Compare these letters and digits with those on your invitation. If they differ, do not answer.");
  say("digest-short", `${digest.slice(0, 16).match(/.{4}/g)!.join(" ")} …`);
  say("digest", digest);
  copies("digest-copy", () => digest);
  const elsewhere = collection.shuffler === BASE ? "" : ` This page came from ${BASE}.`;
  say("terms-address", `The shuffler of this collection is ${collection.shuffler}.${elsewhere}`);
  show("explain");
  show("which");
}

function promise({ design }: Collection, factor: number, epsilon0: number): void {
  const { least, n, delta, epsilon, rounds } = design;
  say("alone", `× ${atMost(factor)}`);
  say("alone-under", `on the odds of any guess about you, at most, whoever reads it (epsilon0 = ${atMost(epsilon0)})`);
  if (epsilon === null) return;
  const together = rounds > 1 ? `, for all ${whole(rounds)} rounds together` : "";
  say("among", `× ${atMost(Math.exp(epsilon))}`);
  say("among-under", `on the probability of any result, at most, plus ${oneIn(delta)} (epsilon = ${inDigits(epsilon, 6)}, delta = ${inDigits(delta, 6)})`);
  say(
    "promise",
    `The analyst sees your report among others. Whatever you answer changes the probability of anything that could come out by at most a factor of ${atMost(Math.exp(epsilon))}, plus ${oneIn(delta)}${together}, as long as ${whole(least)} of the ${whole(n)} people who are asked, you among them, send honest reports. With fewer than ${whole(least)} reports the collection is not closed, and nothing is opened.`,
  );
  say("promise-source", "The first number was checked on this device. The second is the organizer’s promise. It is certified again before anything is published, and anybody can certify it from collection.json with shuffledp.");
}
