// Calls execute(parameters, context, config) of a module and writes its result to descriptor 3.
// Runs on deno (TypeScript) and on node. stdin: {entry, parameters, context, config, tool?};
// with load_only, it calls nothing.
import { open } from "node:fs/promises";
import { Socket } from "node:net";
import { Buffer } from "node:buffer";
import process from "node:process";

const MAX_DEPTH = 100;
const notes = new Set();

function note(text) {
  if (notes.size < 20) notes.add(text);
}

function errorDocument(error) {
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

// The value as JSON data. Drops undefined and functions, as JSON.stringify does; replaces other values that JSON
// lacks, and notes most replacements.
function toJson(value, where, parents) {
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
  if (parents.includes(value)) {
    note(`${where}: a circular reference was cut`);
    return "[circular]";
  }
  if (parents.length >= MAX_DEPTH) {
    note(`${where}: deeper than ${MAX_DEPTH} levels was cut`);
    return "[too deep]";
  }
  return containerToJson(value, where, [...parents, value]);
}

function containerToJson(value, where, parents) {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return errorDocument(value);
  if (value instanceof Map) {
    return object([...value].map(([key, item]) => [text(key), item]), where, parents);
  }
  if (value instanceof Set) return list([...value], where, parents);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    note(`${where}: bytes became base64 text`);
    const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  }
  if (typeof value.toJSON === "function") return toJson(value.toJSON(), where, parents);
  if (Array.isArray(value)) return list(value, where, parents);
  if (value instanceof String || value instanceof Number || value instanceof Boolean) {
    return toJson(value.valueOf(), where, parents);
  }
  return object(Object.entries(value), where, parents);
}

function list(items, where, parents) {
  return Array.from(items, (item, index) => toJson(item, `${where}/${index}`, parents) ?? null);
}

function object(entries, where, parents) {
  const result = Object.create(null);
  for (const [key, item] of entries) {
    const kept = toJson(item, `${where}/${key}`, parents);
    if (kept !== undefined) result[key] = kept;
  }
  return result;
}

// The function with the name of the called tool; undefined if there is none.
function named(exports, tool) {
  if (tool === undefined || exports === null || typeof exports !== "object" || !Object.hasOwn(exports, tool)) return undefined;
  return typeof exports[tool] === "function" ? exports[tool] : undefined;
}

// context.runSkill(skill, parameters, {script | action | tool}): the answer of another skill, or an error. Requests
// are sequential, because there is one request channel.
const channelFds = (process.env.SKILLQUAY_REQUEST_FDS ?? "").split(",").filter(Boolean);
let previous = Promise.resolve();
let channel;

function runSkill(skill, parameters = {}, named = {}) {
  const answer = previous.then(() => sendRequest({ ...named, skill, parameters }));
  previous = answer.catch(() => {});
  return answer;
}

async function sendRequest(request) {
  if (channelFds.length < 2) throw skillError({ code: "CHILD_NOT_REQUIRED", message: "this skill lists no other skill in requires" });
  channel ??= {
    requests: await open(`/proc/self/fd/${channelFds[0]}`, "w"),
    answers: await open(`/proc/self/fd/${channelFds[1]}`, "r"),
  };
  let unsent = Buffer.from(`${JSON.stringify(toJson(request, "runSkill", []))}\n`);
  while (unsent.length) unsent = unsent.subarray((await channel.requests.write(unsent)).bytesWritten);
  const chunks = [];
  do {
    const { bytesRead, buffer } = await channel.answers.read(Buffer.alloc(65536), 0, 65536, null);
    if (!bytesRead) throw skillError({ code: "CHILD_RUNS_CLOSED", message: "the request channel is closed" });
    chunks.push(buffer.subarray(0, bytesRead));
  } while (chunks.at(-1).at(-1) !== 10);
  const answer = JSON.parse(Buffer.concat(chunks).toString());
  if (!answer.ok) throw skillError(answer.error, answer);
  return answer;
}

function skillError(error, answer) {
  return Object.assign(new Error(error.message), { code: error.code, answer });
}

async function outcome(request) {
  const module = await import(new URL(`file://${request.entry.split("/").map(encodeURIComponent).join("/")}`));
  const standard = module.default;
  const execute = named(module, request.tool) ?? named(standard, request.tool) ?? module.execute ??
    standard?.execute ?? (typeof standard === "function" ? standard : undefined);
  if (typeof execute !== "function") return { missing: Object.keys(module).slice(0, 20) };
  if (request.load_only) return { returned: null };
  Object.defineProperty(request.context, "runSkill", { value: runSkill });
  const returned = await execute(request.parameters, request.context, request.config);
  return { returned: toJson(returned, "", []) ?? null };
}

async function answer(request) {
  try {
    return { ...(await outcome(request)), notes: [...notes] };
  } catch (error) {
    const steps = toJson(error?.intermediateSteps ?? error?.steps ?? [], "intermediateSteps", []);
    return { thrown: errorDocument(error), steps, notes: [...notes] };
  }
}

// Reads in chunks, because a pipe may be empty for a moment before its end.
async function readRequest() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

const request = await readRequest();
const result = JSON.stringify(await answer(request));
new Socket({ fd: 3, readable: false, writable: true }).end(result, () => process.exit(0));
