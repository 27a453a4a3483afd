// The participant's page: a question, what leaves the device, and one report.
import { phaseOf, Refused, standing, type Collection } from "../client.ts";
import { byId, notify, say, show } from "../shared/dom.ts";
import { fromNow, moment } from "../shared/moments.ts";
import { BASE, fetchCollection, run, waiting } from "../shared/opening.ts";
import { answersOf, type Answers } from "./answers.ts";
import { Delivery, sentBefore } from "./delivery.ts";
import { explain } from "./explanation.ts";
import { invitation } from "./invitation.ts";
import { pictureOf } from "./picture.ts";

const LONGEST_TIMER = 2 ** 31 - 1; // milliseconds that a browser can wait

async function participant(): Promise<void> {
  const { code, digest } = invitation();
  waiting("Fetching the question.");
  const collection = await fetchCollection(digest);
  explain(collection, digest !== undefined);
  const delivery = new Delivery(collection);
  byId<HTMLInputElement>("code").value = code ?? "";
  waiting("Asking this browser’s storage whether this device has answered.");
  const stand = await standing(collection);
  waiting("");
  if (stand === "sent") return sentBefore();
  if (stand === "waiting") return delivery.resume();
  if (collection.design.epsilon === null) {
    throw new Refused("This collection promises nothing to those who take part. Do not answer: tell the organizer.");
  }
  if (await isClosed(collection)) {
    const closed = "It has been closed for good, and takes no more answers. Nothing was sent.";
    return notify("This collection is closed", closed, "calm");
  }
  ask(collection, delivery);
}

/** Whether the shuffler says so; if it says nothing, the upload will tell. */
async function isClosed({ digest }: Collection): Promise<boolean> {
  try {
    const answer = await fetch(`${BASE}/collections/${digest}/status`, { credentials: "omit", cache: "no-store" });
    return ((await answer.json()) as { state?: unknown }).state === "closed";
  } catch {
    return false;
  }
}

/** Ask now, or say why not. */
function ask(collection: Collection, delivery: Delivery): void {
  const { opens, closes, design } = collection;
  const phase = phaseOf(collection);
  if (phase === "over") {
    const when = `${fromNow(closes!)}, on ${moment(closes!)}`;
    return notify("This collection is over", `It closed ${when}, and takes no more answers. Nothing was sent.`, "calm");
  }
  if (phase === "early") {
    const when = `${fromNow(opens!)}, on ${moment(opens!)}`;
    notify("Not open yet", `It opens ${when}. This page will ask you then, if you leave it open.`, "calm");
    setTimeout(() => ask(collection, delivery), Math.min(1000 * opens! - Date.now(), LONGEST_TIMER));
    return;
  }
  show("notice", false);
  show("form");
  show("code-part", collection.codes);
  const redraw = () => say("picture", ...pictureOf(design, answers.chosen()));
  const answers: Answers = answersOf(design, byId("answers"), redraw);
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const answer = answers.chosen();
    if (answer === null) return answers.demand();
    void run(() => delivery.first(answer));
  });
  addEventListener("visibilitychange", async () => {
    if (document.hidden || byId("form").hidden || (await standing(collection)) !== "sent") return;
    say("answers"); // what was chosen here, in another tab than the one that has sent
    say("picture", ...pictureOf(design, null));
    sentBefore();
  });
}

// Another invitation in the same tab is read as a fresh one is: its digest pins, and its code leaves the address bar.
addEventListener("hashchange", () => location.reload());
// A page that the back button brings again would show what somebody had chosen to whoever has the device now.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && !byId("form").hidden) location.reload();
});
void run(participant);
