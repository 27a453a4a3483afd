// What a page must have before anything else: a browser that can seal, and the collection.
import { readCollection, Refused, type Collection } from "../client.ts";
import { byId, notify, say, show } from "./dom.ts";

/** Where the shuffler answers: this page's own folder, so that a proxy may put it anywhere. */
export const BASE = new URL(".", location.href).href.slice(0, -1);

const PAUSES = [2, 5, 10, 30];
const UNKNOWN =
  "This page’s program failed, and does not know why. Reload the page, or use another browser; what was sealed before " +
  "is sent as it is.";

/** The collection that this shuffler serves; asked for until there is an answer. */
export async function fetchCollection(pinned?: string): Promise<Collection> {
  for (let attempt = 0; ; attempt++) {
    const bytes = await bytesOf(`${BASE}/collection.json`);
    if (bytes) {
      waiting("");
      return readCollection(bytes, pinned);
    }
    const pause = PAUSES[Math.min(attempt, PAUSES.length - 1)]!;
    waiting(`The shuffler cannot be reached. This page tries again in ${pause} seconds.`);
    await pauseFor(pause);
  }
}

/** Wait so long, or until the device is online again, or somebody asks not to wait. */
export function pauseFor(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      byId("again").removeEventListener("click", done);
      show("again", false);
      resolve();
    };
    const timer = setTimeout(done, 1000 * seconds);
    addEventListener("online", done);
    byId("again").addEventListener("click", done);
    show("again");
  });
}

/** What is going on, for everybody to see and hear. */
export function waiting(words: string): void {
  byId("status").classList.toggle("busy", words !== "");
  say("status", words);
}

/** Run a page; whatever stops it is said. */
export async function run(page: () => Promise<void>): Promise<void> {
  try {
    if (!isSecureContext || !globalThis.crypto?.subtle) {
      throw new Refused(
        "Browsers seal reports only on pages that came over a secure connection, and this one did not. Open the " +
          "address that begins with https://.",
      );
    }
    await page();
  } catch (error) {
    waiting("");
    const known = error instanceof Refused;
    notify("This cannot go on", known ? error.message : UNKNOWN);
    if (!known) throw error;
  }
}

async function bytesOf(url: string): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    const response = await fetch(url, { credentials: "omit", cache: "no-store", redirect: "error" });
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
  } catch {
    return null;
  }
}
