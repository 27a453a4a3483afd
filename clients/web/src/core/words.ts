// Where random words come from. A randomizer asks for them as the Python package does when one person reports, so
// that the same words give the same report in both.

export type Bits = 8 | 16 | 32 | 64;
export type WordArray = Uint8Array | Uint16Array | Uint32Array | BigUint64Array;

/** Independent, uniform words of so many bits. */
export interface Words {
  words(count: number, bits: Bits): WordArray;
}

const ARRAYS = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array, 64: BigUint64Array };
const AT_ONCE = 65536; // bytes that a browser gives for one call

/** The browser's cryptographic generator. */
export const SECURE: Words = {
  words(count, bits) {
    const drawn = new ARRAYS[bits](count);
    for (let start = 0; start < drawn.byteLength; start += AT_ONCE) {
      crypto.getRandomValues(new Uint8Array(drawn.buffer, start, Math.min(AT_ONCE, drawn.byteLength - start)));
    }
    return drawn;
  },
};
