// Reports that the browser's code draws from the tapes of Python, by the same words: node replay.mjs CLIENT < ASKED
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const ARRAYS = { 8: Uint8Array, 16: Uint16Array, 32: Uint32Array, 64: BigUint64Array };
const client = await import(pathToFileURL(process.argv[2]));

function replayed(asks) {
    return {
        left: asks,
        words(count, bits) {
            const [written, words] = this.left.shift() ?? [];
            if (written !== bits || words.length !== count) throw new Error(`asked for ${count} words of ${bits} bits`);
            return ARRAYS[bits].from(words, bits === 64 ? BigInt : Number);
        },
    };
}

const answers = [];
for (const [text, people] of JSON.parse(readFileSync(0, "utf8"))) {
    const { design } = await client.readCollection(new TextEncoder().encode(text));
    answers.push(people.map(([value, asks]) => {
        const source = replayed(asks);
        try {
            return [client.hex(client.encode(design, value, source)), source.left.length];
        } catch (error) {
            return [error.message, source.left.length];
        }
    }));
}
console.log(JSON.stringify(answers));
