// From a given answer to a receipt, through everything that can come between.
import { deliver, hex, readCode, sha256, standing, takePart, Unsent, type Collection, type Terms } from "../client.ts";
import { byId, copies, notify, say, show } from "../shared/dom.ts";
import { moment } from "../shared/moments.ts";
import { whole } from "../shared/numbers.ts";
import { BASE, pauseFor, run, waiting } from "../shared/opening.ts";
import { pictureOf } from "./picture.ts";

const CODE_BYTES = 16;
const LATER = 60; // seconds between two series of attempts
const FINAL = [400, 403, 404, 405, 409, 410, 413, 415];
const KEPT = "Your sealed report is safe on this device: the same bytes are sent again.";
const REASONS: Record<number, string> = {
  425: "The shuffler’s clock says that the collection has not opened yet.",
  429: "The shuffler has too many requests just now.",
  503: "The shuffler cannot store reports just now.",
};

export class Delivery {
  private envelope: Uint8Array<ArrayBuffer> = new Uint8Array();
  private status: number | null = null;
  /** Whether a refusal is about this report's code, and not about the collection. */
  private blamed = false;

  constructor(private readonly collection: Collection) {
    byId("code-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const code = this.code("other-code");
      if (code !== null) void run(() => this.resume(code));
    });
  }

  /** Draw, seal, keep and send. */
  async first(answer: number): Promise<void> {
    const code = this.code("code");
    if (code === null) return;
    await this.until(() => takePart(this.collection, answer, { ...this.terms, code }));
  }

  /** Send what this device keeps since an earlier visit, or with another code. */
  async resume(code?: string): Promise<void> {
    await this.until(() => deliver(this.collection, code === undefined ? this.terms : { ...this.terms, code }));
  }

  /** Attempt until it is stored, or refused for good. */
  private async until(attempt: () => Promise<boolean>): Promise<void> {
    for (const id of ["form", "code-form", "notice"]) show(id, false);
    say("answers"); // the answer is gone from the page, and from its picture
    say("picture", ...pictureOf(this.collection.design, null));
    const noisy = this.collection.design.law.epsilon0 < Infinity ? "noisy, " : "";
    waiting(`Your report is ${noisy}sealed and kept on this device. It is being sent.`);
    byId("status").focus(); // what had the focus is gone
    for (;;) {
      try {
        await attempt();
        return await this.receipt();
      } catch (error) {
        if ((await standing(this.collection)) === "sent") return sentBefore();
        if (!(error instanceof Unsent)) throw error;
        if (FINAL.includes(error.status ?? 0)) return this.refused(error);
      }
      this.pausing(LATER);
      await pauseFor(LATER);
      attempt = () => deliver(this.collection, this.terms);
    }
  }

  private get terms(): Terms {
    const ways = {
      fetch: async (url: string, request: RequestInit) => {
        this.status = null;
        this.envelope = (request.body as Uint8Array<ArrayBuffer>).slice(this.collection.codes ? CODE_BYTES : 0);
        const response = await fetch(url, request);
        this.status = response.status;
        if (response.status === 409) this.blamed = Object.hasOwn(await response.clone().json(), "at");
        return response;
      },
      wait: pauseFor,
      paused: (seconds: number) => this.pausing(seconds),
    };
    return { shuffler: BASE, ways };
  }

  private pausing(seconds: number): void {
    const unreachable = navigator.onLine ? "The shuffler cannot be reached." : "This device is offline.";
    const reason = this.status === null ? unreachable : (REASONS[this.status] ?? "The shuffler has a problem now.");
    const next = `Next attempt in ${whole(Math.ceil(seconds))} seconds; you may also close this page and come back.`;
    waiting(`${reason} ${KEPT} ${next}`);
  }

  /** The code in a field, if one is needed; null if it is none, which is said where it stands. */
  private code(field: "code" | "other-code"): string | null {
    const input = byId<HTMLInputElement>(field);
    let wrong = "";
    try {
      if (this.collection.codes) readCode(input.value);
    } catch (error) {
      wrong = (error as Error).message;
    }
    say(`${field}-error`, wrong);
    input.setAttribute("aria-invalid", String(wrong !== ""));
    if (wrong) input.focus();
    return wrong ? null : input.value;
  }

  private refused(error: Unsent): void {
    waiting("");
    const [title, text] = this.refusal(error);
    const another = error.status === 403 || (error.status === 409 && this.blamed);
    notify(title, text);
    show("code-form", another);
    if (another) byId("other-code").focus();
  }

  private refusal(error: Unsent): [string, string] {
    const most = whole(this.collection.design.n);
    switch (error.status === 409 && !this.blamed ? "full" : error.status) {
      case 403:
        return [
          "The shuffler does not know this code",
          "Compare it letter by letter with your invitation, and enter it again. Your sealed report stays as it is.",
        ];
      case 409:
        return [
          "This code was used before",
          "Each code counts once. If you answered with it on another device, there is nothing more to do; if you " +
            "have another code, enter it here. Nothing of this report was stored.",
        ];
      case "full":
        return [
          "This collection is full",
          `It has the ${most} reports that it was designed for, and takes no more. Nothing of yours was stored.`,
        ];
      case 410:
        return [
          "This collection is closed",
          "It takes no more answers. A report that reached it in time counts, even if its answer did not reach you; " +
            "nothing else of yours was stored.",
        ];
      default:
        return ["Your report was not taken", error.message];
    }
  }

  /** What a receipt is good for. */
  private worth(): string {
    const { messages, epsilon0 } = this.collection.design.law;
    if (messages > 1) return "The hash is of all your messages together, and nobody can find them by it.";
    const noisy = epsilon0 < Infinity ? ", noisy as it is" : "";
    return (
      "Whoever has it can later see whether this very report is among those that the shuffler handed on, and so can " +
      `you; with the analyst’s key they can also read it${noisy}.`
    );
  }

  private async receipt(): Promise<void> {
    waiting("");
    const facts = {
      where: BASE,
      when: `${moment(Date.now() / 1000)}, by this device’s clock`,
      bytes: `${whole(this.envelope.length)} bytes`,
      hash: hex(await sha256(this.envelope)),
      digest: this.collection.digest,
    };
    for (const [name, fact] of Object.entries(facts)) say(`receipt-${name}`, fact);
    copies("receipt-copy", () => Object.entries(facts).map(([name, fact]) => `${name}: ${fact}`).join("\n"));
    say("receipt-gloss", `You need not keep this. ${this.worth()} It is shown once, and not stored.`);
    show("receipt");
    byId("receipt-title").focus();
  }
}

export function sentBefore(): void {
  show("form", false);
  waiting("");
  notify(
    "This device has answered already",
    "Its report is stored by the shuffler, and everybody counts once: there is nothing more to do. Your answer is " +
      "not kept here, and can be neither shown nor changed.",
    "good",
  );
}
