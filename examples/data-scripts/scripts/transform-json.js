// Picks fields of an object and gives them other names.
const given = {};
for (let i = 2; i < process.argv.length; i += 2) given[process.argv[i].slice(2)] = process.argv[i + 1];

if (given.value === undefined) {
  console.error("--value is required: an object as JSON");
  process.exit(2);
}
const value = JSON.parse(given.value);
const rename = JSON.parse(given.rename ?? "{}");
const keep = JSON.parse(given.keep ?? "null") ?? Object.keys(value);

const result = {};
for (const field of keep) if (field in value) result[rename[field] ?? field] = value[field];
console.error(`${Object.keys(result).length} of ${Object.keys(value).length} fields kept`);
console.log(JSON.stringify({ result, fields: Object.keys(result).length }));
