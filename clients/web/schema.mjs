// From the published schema of a design to the types and the names that the client reads one by.
import { readFileSync, writeFileSync } from "node:fs";

const { properties, $defs: defs } = JSON.parse(readFileSync("../../docs/schemas/design.json", "utf8"));

/** The TypeScript type of what a schema allows; numbers have no limits there. */
function typeOf(schema) {
  if (schema.$ref) return "WrittenLaw"; // the only thing that holds others of its kind
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return [...new Set(options.map(typeOf))].join(" | ");
  if (schema.type === "array") {
    const item = typeOf(schema.items);
    return item.includes(" ") ? `readonly (${item})[]` : `readonly ${item}[]`;
  }
  if (schema.type === "object") return `{ ${fieldsOf(schema).join(" ")} }`;
  return schema.type === "integer" ? "number" : schema.type;
}

function fieldsOf({ properties }) {
  return Object.entries(properties).map(([name, schema]) => `${name}: ${typeOf(schema)};`);
}

/** The names of all fields, by what a schema prescribes for one of them; first those that all schemas have. */
function namesBy(name, schemas) {
  const names = schemas.map(({ properties }) => Object.keys(properties));
  const common = names[0].filter((each) => names.every((own) => own.includes(each)));
  const listed = (own) => own.map((each) => JSON.stringify(each)).join(", ");
  const rows = schemas.map(({ properties }, at) => {
    const own = names[at].filter((each) => !common.includes(each));
    return `  ${JSON.stringify(properties.type.const)}: [...ANY_${name}, ${listed(own)}],`;
  });
  return `const ANY_${name} = [${listed(common)}] as const;\nexport const ${name} = {\n${rows.join("\n")}\n} as const;`;
}

/** The names of the fields of one schema. */
function namesOf(name, schema) {
  return `export const ${name} = [${Object.keys(schema.properties).map((each) => JSON.stringify(each)).join(", ")}] as const;`;
}

const domains = defs.domain.oneOf;
const laws = defs.mechanism.oneOf;
const cells = domains.find((each) => each.properties.type.const === "cells");
const text = `// Written by \`npm run schema\` from docs/schemas/design.json, which \`make schemas\` writes.

/** ${properties.target.description} */
export interface WrittenTarget {
  ${fieldsOf(properties.target).join("\n  ")}
}

/** How a value becomes a place. */
export type WrittenDomain =
  | ${domains.map(typeOf).join("\n  | ")};

/** How one report is drawn, by the family of its randomizer. */
export type WrittenLaw =
  | ${laws.map(typeOf).join("\n  | ")};

/** The fields of a design, of its target, and of a column of cells. */
${namesOf("DESIGN", { properties })}
${namesOf("TARGET", properties.target)}
${namesOf("COLUMN", cells.properties.columns.items)}

/** The fields of a domain, by its type. */
${namesBy("FIELDS", domains)}

/** The fields of a law, by its type. */
${namesBy("PARAMETERS", laws)}
`;
writeFileSync("src/core/schema.ts", text);
