// From the sources here to the bundles that the Python package ships. The same sources and lock file give the same
// bytes.
import { build } from "esbuild";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const PACKAGE = "../../src/shuffledp/";
const BUNDLES = [
  ["src/client.ts", "survey/web/client.js"],
  ["src/x25519.ts", "survey/web/x25519.js"],
  ["src/participant/main.ts", "survey/web/participant.js"],
  ["src/operator/main.ts", "survey/web/operator.js"],
  ["src/studio/main.ts", "studio/web/studio.js"],
];

// Pages import the client library as it is shipped, from a file beside theirs: what the tests run is what people run.
const shipped = {
  name: "shipped",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/(client|x25519)\.ts$/ }, ({ kind, path }) =>
      kind === "entry-point" ? undefined : { path: path.replace(/.*(\/.*)\.ts$/, ".$1.js"), external: true },
    ),
};

const licenses = new Map(); // of a folder with bundles: those of the packages in them

for (const [entry, out] of BUNDLES) {
  if (!existsSync(entry)) continue;
  const { metafile } = await build({
    entryPoints: [entry],
    outfile: PACKAGE + out,
    bundle: true,
    plugins: [shipped],
    metafile: true,
    format: "esm",
    target: "es2022",
    minify: true,
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  });
  const folder = licenses.get(dirname(out)) ?? new Map();
  for (const input of Object.keys(metafile.inputs)) {
    const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1];
    if (name) folder.set(name, readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim());
    const comment = name && /\/\*! (.*) \*\//.exec(readFileSync(input, "utf8"))?.[1];
    if (comment) folder.set(`${name}, in part`, comment);
  }
  licenses.set(dirname(out), folder);
}

for (const [folder, held] of licenses) {
  const texts = [...held].sort().map(([name, text]) => `${name}\n\n${text}\n`);
  if (texts.length) writeFileSync(`${PACKAGE}${folder}/LICENSES.txt`, texts.join("\n\n"));
}
