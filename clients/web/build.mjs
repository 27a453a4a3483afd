// From the sources here to the bundles that the Python package ships. The same sources and lock file give the same bytes.
import { build } from "esbuild";
import { existsSync } from "node:fs";

const PACKAGE = "../../src/shuffledp/";
const BUNDLES = [
  ["src/participant/main.ts", "collection/network/web/participant.js"],
  ["src/operator/main.ts", "collection/network/web/operator.js"],
  ["src/studio/main.ts", "studio/web/studio.js"],
];

for (const [entry, out] of BUNDLES) {
  if (!existsSync(entry)) continue;
  await build({
    entryPoints: [entry],
    outfile: PACKAGE + out,
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    charset: "utf8",
    legalComments: "linked",
    logLevel: "warning",
  });
}
