// From the published schema of a design to the types and the names that the client reads one by.
import { readFileSync, writeFileSync } from "node:fs";

const { oneOf: tasks, $defs: defs } = JSON.parse(readFileSync("../../docs/schemas/design.json", "utf8"));

/** The TypeScript type of what a schema allows; numbers have no limits there. */
function typeOf(schema) {
  if (schema.$ref) return nameOf(schema.$ref.split("/").at(-1));
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

function nameOf(task) {
  return `Written${task[0].toUpperCase()}${task.slice(1)}`;
}

/** The names of all fields, by what a schema prescribes for one of them; first those that all schemas have. */
function namesBy(field, name, schemas) {
  const names = schemas.map(({ properties }) => Object.keys(properties));
  const common = names[0].filter((each) => names.every((own) => own.includes(each)));
  const listed = (own) => own.map((each) => JSON.stringify(each)).join(", ");
  const rows = schemas.map(({ properties }, at) => {
    const own = names[at].filter((each) => !common.includes(each));
    return `  ${JSON.stringify(properties[field].const)}: [...ANY_${name}, ${listed(own)}],`;
  });
  return `const ANY_${name} = [${listed(common)}] as const;\nexport const ${name} = {\n${rows.join("\n")}\n} as const;`;
}

const designs = tasks.map(({ $ref }) => $ref.split("/").at(-1));
const laws = defs.law.oneOf;
const interfaces = designs.map(
  (task) => `/** ${defs[task].description} */\nexport interface ${nameOf(task)} {\n  ${fieldsOf(defs[task]).join("\n  ")}\n}\n`,
);
const text = `// Written by \`npm run schema\` from docs/schemas/design.json, which \`make schemas\` writes.

${interfaces.join("\n")}
export type Written = ${designs.map(nameOf).join(" | ")};

/** How one report is drawn, by the family of its randomizer. */
export type WrittenLaw =
  | ${laws.map(typeOf).join("\n  | ")};

/** The fields of a design, by its task. */
${namesBy("task", "FIELDS", designs.map((task) => defs[task]))}

/** The fields of a law, by its family. */
${namesBy("randomizer", "PARAMETERS", laws)}
`;
writeFileSync("src/core/schema.ts", text);
