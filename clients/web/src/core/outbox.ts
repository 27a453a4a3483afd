// What this device has drawn and sealed, and whether it was sent: one entry for each collection.
//
// The envelope is on disk before the first request, and the same one is sent until it is acknowledged: a second draw
// about the same answer would be a second report. Then a mark takes its place. It is in the browser's database, not in
// its local storage: there two tabs could both find nothing, and both draw.
import { Refused } from "./refused.ts";

export interface Waiting {
  state: "waiting";
  /** Or several, one after another, where a person sends several messages. */
  envelope: Uint8Array<ArrayBuffer>;
  code: Uint8Array<ArrayBuffer> | null;
}
export type Entry = Waiting | { state: "sent" };

const DATABASE = "shuffledp";
const STORE = "outbox";

export function find(digest: string): Promise<Entry | undefined> {
  return change(digest, (entry) => entry);
}

/** Keep an envelope, unless this device has one already, or has sent it: then that entry stays, and is the answer. */
export async function keep(digest: string, waiting: Waiting): Promise<Entry> {
  return (await change(digest, (entry) => entry ?? waiting))!;
}

/** The same envelope with another code. */
export function recode(digest: string, code: Uint8Array<ArrayBuffer> | null): Promise<Entry | undefined> {
  return change(digest, (entry) => (entry?.state === "waiting" ? { ...entry, code } : entry));
}

/** Only a mark stays of what was acknowledged. */
export async function mark(digest: string): Promise<void> {
  await change(digest, () => ({ state: "sent" }));
}

/**
 * One transaction: the entry of a collection becomes what ``made`` makes of it. It is the answer once it is on disk;
 * tabs that try at the same time come one after another.
 */
async function change(
  digest: string,
  made: (entry: Entry | undefined) => Entry | undefined,
): Promise<Entry | undefined> {
  try {
    const database = await opened();
    try {
      return await new Promise((resolve, reject) => {
        const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
        const store = transaction.objectStore(STORE);
        const read: IDBRequest<Entry | undefined> = store.get(digest);
        let entry: Entry | undefined;
        read.onsuccess = () => {
          entry = made(read.result);
          if (entry !== read.result) store.put(entry, digest);
        };
        transaction.oncomplete = () => resolve(entry);
        transaction.onabort = () => reject(transaction.error);
      });
    } finally {
      database.close();
    }
  } catch {
    throw new Refused(
      "This browser must be able to store your sealed report before it is sent, and it does not. Nothing is sent: " +
        "allow this site to store data, free some space, or use another browser.",
    );
  }
}

function opened(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
