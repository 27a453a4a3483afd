// One record to the shuffler, until it says that it is on disk.
import { Refused } from "./refused.ts";

/** The shuffler refused the record, or could not be reached. The envelope is still on this device. */
export class Unsent extends Refused {
  override name = "Unsent";
  /** ``status`` is that of HTTP; null where nobody answered. */
  constructor(
    sentence: string,
    readonly status: number | null,
  ) {
    super(sentence);
  }

  /** Whether another code may help. */
  get code(): boolean {
    return this.status === 403 || this.status === 409;
  }
}

export interface Ways {
  fetch(url: string, request: RequestInit): Promise<Response>;
  wait(seconds: number): Promise<void>;
  /** Told before each pause: how long it is, and how many attempts are left. */
  paused(seconds: number, left: number): void;
}

export const WAYS: Ways = {
  fetch: (url, request) => fetch(url, request),
  wait: (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds)),
  paused: () => undefined,
};

const ATTEMPTS = 6;
const LONGEST_PAUSE = 60;
const TIMEOUT = 20_000;
const AGAIN = [408, 429, 500, 502, 503, 504];
const KEPT = "Your sealed report is kept on this device, and the same one is sent when you open this page again.";
const STRANGE = "The shuffler did not understand this page's report. Reload the page, or tell the organizer.";
const SENTENCES: Record<number, string> = {
  400: STRANGE,
  403: "The shuffler does not know this code. Compare it with your invitation, and enter it again.",
  404: "The shuffler serves another collection than this page's. Ask the organizer for the right address.",
  405: "The shuffler's address takes no reports. Ask the organizer for the right address.",
  409:
    "The shuffler takes no more reports of this kind: the code was used before, or the collection is full. " +
    "If you have another code, enter that.",
  410: "The collection is closed, and takes no more reports.",
  413: STRANGE,
  415: STRANGE,
  425: `The collection has not opened yet. ${KEPT}`,
  429: `The shuffler has too many requests now. ${KEPT}`,
  503: `The shuffler cannot store reports now. ${KEPT}`,
};

/** Send; the answer is whether the record was new to the shuffler. */
export async function send(url: string, record: Uint8Array<ArrayBuffer>, ways: Ways = WAYS): Promise<boolean> {
  for (let left = ATTEMPTS - 1; ; left--) {
    const answer = await attempt(url, record, ways);
    if (answer.fresh !== undefined) return answer.fresh;
    const again = answer.status === null || AGAIN.includes(answer.status);
    if (!again || !left) throw new Unsent(sentenceOf(answer.status), answer.status);
    const pause = Math.min(LONGEST_PAUSE, Math.max(answer.after, 2 ** (ATTEMPTS - 1 - left)) * (1 + Math.random()));
    ways.paused(pause, left);
    await ways.wait(pause);
  }
}

interface Answer {
  status: number | null;
  fresh?: boolean;
  /** Seconds that the shuffler asks to wait. */
  after: number;
}

/** One request. Only the shuffler's own words are an acknowledgement: a network's sign-in page also answers 200. */
async function attempt(url: string, record: Uint8Array<ArrayBuffer>, ways: Ways): Promise<Answer> {
  const request: RequestInit = {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream" },
    body: record,
    credentials: "omit",
    cache: "no-store",
    redirect: "error",
    referrerPolicy: "no-referrer",
    signal: AbortSignal.timeout?.(TIMEOUT) ?? null, // browsers of 2021 wait as long as they like
  };
  try {
    const response = await ways.fetch(url, request);
    const after = Number(response.headers.get("Retry-After")) || 0;
    if (response.status !== 200 && response.status !== 201) return { status: response.status, after };
    const said: unknown = await response.json();
    const { reports, new: added } = said as { reports?: unknown; new?: unknown };
    if (reports !== 1 || (added !== 0 && added !== 1)) return { status: null, after };
    return { status: response.status, fresh: added === 1, after };
  } catch {
    return { status: null, after: 0 };
  }
}

function sentenceOf(status: number | null): string {
  if (status === null) return `The shuffler cannot be reached. ${KEPT}`;
  return SENTENCES[status] ?? `The shuffler answered with an error (${status}). ${KEPT}`;
}
