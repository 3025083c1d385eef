// Calls execute(parameters, context, config) of one module and answers on descriptor 3.
// Runs on deno (TypeScript) and on node. stdin: {entry, parameters, context, config, tool?}.
import { open } from "node:fs/promises";
import { Socket } from "node:net";
import { Buffer } from "node:buffer";
import process from "node:process";

const DEEPEST = 100;
const notes = new Set();

function note(text) {
  if (notes.size < 20) notes.add(text);
}

function fault(error) {
  if (!(error instanceof Error) && typeof error?.message !== "string") {
    return { name: "Error", message: text(error), stack: "" };
  }
  const code = typeof error.code === "string" ? { code: error.code } : {};
  return { name: text(error.name ?? "Error"), message: text(error.message), stack: text(error.stack ?? ""), ...code };
}

function text(value) {
  try {
    return typeof value === "string" ? value : String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

// undefined and functions vanish as in JSON; what JSON cannot say is replaced by the stated rules and noted.
function plain(value, where, above) {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    note(`${where}: ${value} became null`);
    return null;
  }
  if (typeof value === "bigint") {
    note(`${where}: a BigInt became text`);
    return value.toString();
  }
  if (typeof value !== "object") return undefined;
  if (above.includes(value)) {
    note(`${where}: a circular reference was cut`);
    return "[circular]";
  }
  if (above.length >= DEEPEST) {
    note(`${where}: deeper than ${DEEPEST} levels was cut`);
    return "[too deep]";
  }
  return composite(value, where, [...above, value]);
}

function composite(value, where, above) {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return fault(value);
  if (value instanceof Map) {
    return object([...value].map(([key, item]) => [text(key), item]), where, above);
  }
  if (value instanceof Set) return list([...value], where, above);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    note(`${where}: bytes became base64 text`);
    const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  }
  if (typeof value.toJSON === "function") return plain(value.toJSON(), where, above);
  if (Array.isArray(value)) return list(value, where, above);
  if (value instanceof String || value instanceof Number || value instanceof Boolean) {
    return plain(value.valueOf(), where, above);
  }
  return object(Object.entries(value), where, above);
}

function list(items, where, above) {
  return Array.from(items, (item, index) => plain(item, `${where}/${index}`, above) ?? null);
}

function object(entries, where, above) {
  const result = Object.create(null);
  for (const [key, item] of entries) {
    const kept = plain(item, `${where}/${key}`, above);
    if (kept !== undefined) result[key] = kept;
  }
  return result;
}

// The function of a tool's name, where a tool is called.
function named(exports, tool) {
  if (tool === undefined || exports === null || typeof exports !== "object" || !Object.hasOwn(exports, tool)) return undefined;
  return typeof exports[tool] === "function" ? exports[tool] : undefined;
}

// context.runSkill(skill, parameters, {script | action | tool}): the answer of another skill, an error where it has
// none. One at a time: there is one door.
const door = (process.env.SKILLQUAY_DOOR ?? "").split(",").filter(Boolean);
let turn = Promise.resolve();
let ends;

function runSkill(skill, parameters = {}, named = {}) {
  const answered = turn.then(() => asked({ ...named, skill, parameters }));
  turn = answered.catch(() => {});
  return answered;
}

async function asked(request) {
  if (door.length < 2) throw refusal({ code: "CHILD_NOT_REQUIRED", message: "this skill names no other one in requires" });
  ends ??= { to: await open(`/proc/self/fd/${door[0]}`, "w"), from: await open(`/proc/self/fd/${door[1]}`, "r") };
  let unsaid = Buffer.from(`${JSON.stringify(plain(request, "runSkill", []))}\n`);
  while (unsaid.length) unsaid = unsaid.subarray((await ends.to.write(unsaid)).bytesWritten);
  const heard = [];
  do {
    const { bytesRead, buffer } = await ends.from.read(Buffer.alloc(65536), 0, 65536, null);
    if (!bytesRead) throw refusal({ code: "CHILD_DOOR_SHUT", message: "the door is shut" });
    heard.push(buffer.subarray(0, bytesRead));
  } while (heard.at(-1).at(-1) !== 10);
  const answer = JSON.parse(Buffer.concat(heard).toString());
  if (!answer.ok) throw refusal(answer.error, answer);
  return answer;
}

function refusal(error, answer) {
  return Object.assign(new Error(error.message), { code: error.code, answer });
}

async function outcome(request) {
  const module = await import(new URL(`file://${request.entry.split("/").map(encodeURIComponent).join("/")}`));
  const standard = module.default;
  const execute = named(module, request.tool) ?? named(standard, request.tool) ?? module.execute ??
    standard?.execute ?? (typeof standard === "function" ? standard : undefined);
  if (typeof execute !== "function") return { missing: Object.keys(module).slice(0, 20) };
  Object.defineProperty(request.context, "runSkill", { value: runSkill });
  const returned = await execute(request.parameters, request.context, request.config);
  return { returned: plain(returned, "", []) ?? null };
}

async function answer(request) {
  try {
    return { ...(await outcome(request)), notes: [...notes] };
  } catch (error) {
    const steps = plain(error?.intermediateSteps ?? error?.steps ?? [], "intermediateSteps", []);
    return { thrown: fault(error), steps, notes: [...notes] };
  }
}

// Not read at once: a pipe may be empty for a moment before its end.
async function whole() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

const request = await whole();
const found = JSON.stringify(await answer(request));
new Socket({ fd: 3, readable: false, writable: true }).end(found, () => process.exit(0));
