import { readFile } from "node:fs/promises";

export async function getWeather(parameters: { location: string; unit?: string }) {
  const text = await readFile(new URL("../references/climate.json", import.meta.url), "utf8");
  const climate = JSON.parse(text);
  const found = climate[parameters.location];
  if (!found) throw new Error(`没有数据，可查：${Object.keys(climate).join("、")}`);
  const unit = parameters.unit ?? "celsius";
  const temperature = unit === "fahrenheit" ? (found.celsius * 9) / 5 + 32 : found.celsius;
  return { location: parameters.location, condition: found.condition, temperature, unit };
}

export async function execute(parameters: { location: string; unit?: string }) {
  return { output: await getWeather(parameters), format: "object", status: "success" };
}
