// Messages in envelopes that the analyst's key alone opens: HPKE (RFC 9180) in base mode, X25519, HKDF-SHA256,
// AES-128-GCM, as shuffledp.survey.envelopes. An envelope is the encapsulated key, the encrypted message and
// its tag.
import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import { fromHex, type Collection } from "./collection.ts";
import { Refused } from "./refused.ts";
import type { Scripted } from "../x25519.ts";

const LABEL = new TextEncoder().encode("shuffledp sealed report 1");
export const OVERHEAD = 48; // bytes of an envelope beyond its message's

export type Curve = "browser" | "script";

/**
 * Which X25519 runs: the browser's own or, before Chrome 133, Firefox 130 and Safari 17, one in script. People do not
 * choose how old their telephone is; the script is a file of its own, so that nobody else loads it.
 */
export async function curveHere(): Promise<Curve> {
  try {
    await crypto.subtle.generateKey({ name: "X25519" }, false, ["deriveBits"]);
    return "browser";
  } catch {
    return "script";
  }
}

/** The envelopes of a report to this collection, one for each of its messages, one after another. */
export async function seal(collection: Collection, report: Uint8Array<ArrayBuffer>, curve?: Curve) {
  const info = joined(LABEL, fromHex(collection.digest));
  const kem = await kemOf(curve ?? (await curveHere()));
  const length = report.length / collection.design.law.messages;
  const envelopes: Uint8Array[] = [];
  try {
    for (let start = 0; start < report.length; start += length) {
      envelopes.push(await hpkeSeal(kem, { key: collection.key, info, plain: report.slice(start, start + length) }));
    }
    return joined(...envelopes);
  } catch {
    throw new Refused(
      "key of a collection must be a public key that can be sealed to, got another. " +
        "Do not take part, and tell the organizer.",
    );
  }
}

export async function kemOf(curve: Curve): Promise<DhkemX25519HkdfSha256 | Scripted> {
  if (curve === "browser") return new DhkemX25519HkdfSha256();
  try {
    return new (await import("../x25519.ts")).Scripted();
  } catch {
    throw new Refused(
      "This browser needs another file of this page to encrypt, and could not load it. Reload the page.",
    );
  }
}

/** One message in base mode. ``ephemeral`` is for test vectors alone: what the sender's key is derived from. */
export async function hpkeSeal(
  kem: DhkemX25519HkdfSha256 | Scripted,
  message: {
    key: Uint8Array<ArrayBuffer>;
    info: Uint8Array<ArrayBuffer>;
    plain: Uint8Array<ArrayBuffer>;
    aad?: Uint8Array<ArrayBuffer>;
    ephemeral?: Uint8Array<ArrayBuffer>;
  },
): Promise<Uint8Array<ArrayBuffer>> {
  const suite = new CipherSuite({ kem, kdf: new HkdfSha256(), aead: new Aes128Gcm() });
  const sender = await suite.createSenderContext({
    recipientPublicKey: await kem.deserializePublicKey(message.key.buffer),
    info: message.info.buffer,
    ...(message.ephemeral ? { ekm: message.ephemeral.buffer } : {}),
  });
  const sealed = await sender.seal(message.plain.buffer, (message.aad ?? new Uint8Array()).buffer);
  return joined(new Uint8Array(sender.enc), new Uint8Array(sealed));
}

export function joined(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}
