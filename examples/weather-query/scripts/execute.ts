import { readFile } from "node:fs/promises";

type Climate = Record<string, { condition: string; celsius: number }>;

class NotFound extends Error {
  code = "DATA_NOT_FOUND";
}

export async function execute(parameters: Record<string, unknown>) {
  const location = parameters.location as string;
  const unit = (parameters.unit as string | undefined) ?? "celsius";
  const text = await readFile(new URL("../references/climate.json", import.meta.url), "utf8");
  const climate: Climate = JSON.parse(text);
  const found = climate[location];
  if (!found) throw new NotFound(`没有“${location}”的数据，可查：${Object.keys(climate).join("、")}`);
  const temperature = unit === "fahrenheit" ? (found.celsius * 9) / 5 + 32 : found.celsius;
  return {
    output: { location, condition: found.condition, temperature, unit },
    format: "object",
    status: "success",
    message: `${location}：${found.condition}`,
  };
}
