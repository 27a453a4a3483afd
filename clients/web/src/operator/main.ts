// The operator's page: how far the collection is, what that would give, and its end.
import type { Collection } from "../client.ts";
import { byId, copies, notify, say, show } from "../shared/dom.ts";
import { moment } from "../shared/moments.ts";
import { whole } from "../shared/numbers.ts";
import { BASE, fetchCollection, run, waiting } from "../shared/opening.ts";
import { board, commandsFor, sentence } from "./board.ts";
import type { Outlook } from "./outlook.ts";

const REFRESH = 15; // seconds
const SLOWER = 60; // when the last answer was none

class Desk {
  private token = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private outlook: Outlook | null = null;

  constructor(private readonly collection: Collection) {
    byId("login").addEventListener("submit", (event) => {
      event.preventDefault();
      const field = byId<HTMLInputElement>("token");
      this.token = field.value.trim();
      if (!this.token) return this.wrongToken("Enter the token.");
      field.value = ""; // from here on it is in this object alone
      void this.refresh();
    });
    byId("close").addEventListener("click", () => this.askOnceMore());
    byId("sure-no").addEventListener("click", () => byId<HTMLDialogElement>("sure").close());
    byId("sure-yes").addEventListener("click", () => void this.close());
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.timer);
      if (!document.hidden && this.token) void this.refresh();
    });
    copies("commands-copy", () => commandsFor(collection));
  }

  /** Ask how far it is, and again in a while; nobody asks for a tab that nobody sees. */
  private async refresh(): Promise<void> {
    clearTimeout(this.timer);
    const answer = await this.ask("outlook");
    const unknown = answer?.status === 401 || (answer?.status === 429 && !this.outlook);
    if (answer && unknown) return this.wrongToken(await sentenceOf(answer));
    if (answer?.ok) {
      const first = this.outlook === null;
      this.outlook = (await answer.json()) as Outlook;
      board(this.collection, this.outlook);
      say("status", "");
      show("login", false);
      show("board");
      if (first) byId("progress-title").focus();
      const again = ` It is asked again every ${REFRESH} seconds while this tab is seen.`;
      say("refreshed", `As of ${moment(Date.now() / 1000)}.${this.outlook.state === "closed" ? "" : again}`);
    } else {
      const reason = answer ? await sentenceOf(answer) : "The shuffler cannot be reached.";
      say("status", `${reason} This page asks again in ${SLOWER} seconds.`);
    }
    if (this.outlook?.state === "closed" || document.hidden) return;
    clearTimeout(this.timer); // another look may have been begun meanwhile
    this.timer = setTimeout(() => void this.refresh(), 1000 * (answer?.ok ? REFRESH : SLOWER));
  }

  /** The end is final: it is asked for twice, and why not is said where it is refused. */
  private askOnceMore(): void {
    if (!this.outlook?.may_close) {
      say("status", byId("close-why").textContent ?? "");
      return;
    }
    const early = " It is still open: whoever has not answered by now cannot answer any more.";
    say(
      "sure-text",
      "No report is taken after that, and it cannot be opened again; nor can it be closed a second time with other " +
        `reports.${this.outlook.state === "open" ? early : ""}`,
    );
    byId<HTMLDialogElement>("sure").showModal();
    byId("sure-no").focus();
  }

  private async close(): Promise<void> {
    clearTimeout(this.timer);
    byId<HTMLDialogElement>("sure").close();
    say("status", "Closing: the shuffler writes everything anew, in an order that says nothing.");
    const answer = await this.ask("close", "POST");
    await this.refresh();
    if (!answer) return say("status", "The shuffler cannot be reached. Whether it is closed, the next look will tell.");
    if (!answer.ok) return say("status", await sentenceOf(answer));
    const { reports } = (await answer.json()) as { reports: number };
    notify("The collection is closed", `${whole(reports)} reports wait for the analyst.`, "good");
  }

  private async ask(what: string, method = "GET"): Promise<Response | null> {
    const url = `${BASE}/collections/${this.collection.digest}/${what}`;
    const headers = { Authorization: `Bearer ${this.token}` };
    try {
      return await fetch(url, { method, headers, credentials: "omit", cache: "no-store", redirect: "error" });
    } catch {
      return null;
    }
  }

  private wrongToken(words: string): void {
    this.token = "";
    this.outlook = null;
    show("board", false);
    show("login");
    say("status", "");
    say("token-error", words);
    byId("token").setAttribute("aria-invalid", "true");
    byId("token").focus();
  }
}

/** The shuffler's own sentence, where it sent one. */
async function sentenceOf(answer: Response): Promise<string> {
  const said: unknown = await answer.json().catch(() => null);
  const { error } = (said ?? {}) as { error?: unknown };
  return typeof error === "string" ? sentence(error) : `The shuffler answered with an error (${answer.status}).`;
}

async function operator(): Promise<void> {
  waiting("Fetching the collection.");
  const collection = await fetchCollection();
  new Desk(collection);
  if (collection.question !== null) say("question", collection.question);
  waiting("");
  say("terms", `Collection ${collection.digest.slice(0, 16)} …`);
  show("login");
  byId("token").focus();
}

// The back button brings no token again.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
void run(operator);
