// From a person's answer to an acknowledged report: drawn once, sealed, kept, sent until it is stored, marked.
import { readCode } from "./codes.ts";
import { phaseOf, type Collection } from "./collection.ts";
import { encode } from "./design.ts";
import { find, keep, mark, recode } from "./outbox.ts";
import { Refused } from "./refused.ts";
import { joined, seal } from "./sealing.ts";
import { send, WAYS, type Ways } from "./sending.ts";

export interface Terms {
  /** The invitation, as it was typed. */
  code?: string;
  /** Where to send, if not to the address in the collection. */
  shuffler?: string;
  ways?: Ways;
}

/** How this device stands to a collection: it has drawn nothing, or a report waits to be sent, or it was sent. */
export async function standing(collection: Collection): Promise<"new" | "waiting" | "sent"> {
  return (await find(collection.digest))?.state ?? "new";
}

/**
 * Draw one report about an answer (a place among the labels, or a number), and send it; true if it was new to the
 * shuffler. If this device has drawn before, whatever the answer now, the report from then is sent.
 */
export async function takePart(collection: Collection, answer: number, terms: Terms = {}): Promise<boolean> {
  const { design, digest } = collection;
  const phase = phaseOf(collection);
  if (phase === "early") throw new Refused("The collection has not opened yet. Come back when it has.");
  if (phase === "over") throw new Refused("The collection is over, and takes no more reports.");
  if (design.epsilon === null) {
    throw new Refused("A design must promise an epsilon to those who report, got none. Ask the organizer for one.");
  }
  const code = codeOf(collection, terms);
  if ((await find(digest)) === undefined) {
    const envelope = await seal(collection, encode(design, answer));
    await keep(digest, { state: "waiting", envelope, code });
  }
  return deliver(collection, terms);
}

/** Send the report that waits on this device; with the new code, if there is one. */
export async function deliver(collection: Collection, terms: Terms = {}): Promise<boolean> {
  const { digest } = collection;
  const entry = await (terms.code === undefined ? find(digest) : recode(digest, codeOf(collection, terms)));
  if (entry === undefined) throw new Refused("No report waits on this device. Answer the question first.");
  if (entry.state === "sent") throw new Refused("This device has sent its report already. Everybody counts once.");
  const url = `${terms.shuffler ?? collection.shuffler}/collections/${digest}/reports`;
  const fresh = await send(url, joined(entry.code ?? new Uint8Array(), entry.envelope), terms.ways ?? WAYS);
  await mark(digest).catch(() => undefined); // without its mark it is sent again, the same bytes: that counts once
  return fresh;
}

function codeOf(collection: Collection, terms: Terms): Uint8Array<ArrayBuffer> | null {
  return collection.codes ? readCode(terms.code ?? "") : null;
}
