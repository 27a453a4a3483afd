// The client library: from a collection file to an acknowledged report. The participant's page is built on it, and
// shipped beside it as the same bytes that the tests run.
export { readCode } from "./core/codes.ts";
export { hex, phaseOf, readCollection, sha256, SKEW, type Collection } from "./core/collection.ts";
export { cellOf, encode, type Design, type Part } from "./core/design.ts";
export { exposureOf, type Exposure } from "./core/exposure.ts";
export type { Law } from "./core/laws.ts";
export { Refused } from "./core/refused.ts";
export { curveHere, hpkeSeal, kemOf, seal } from "./core/sealing.ts";
export { Unsent, type Ways } from "./core/sending.ts";
export { deliver, standing, takePart, type Terms } from "./core/taking_part.ts";
export type { Level } from "./core/top_words.ts";
export { SECURE, type Words } from "./core/words.ts";
