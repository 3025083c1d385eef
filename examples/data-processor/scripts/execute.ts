import { Steps } from "./helpers/steps.ts";

export async function execute(parameters: Record<string, unknown>) {
  const data = parameters.data as unknown[];
  const steps = new Steps();

  const valid = steps.take("validate", "数据验证", { count: data.length }, () =>
    data.filter((item): item is number => typeof item === "number" && Number.isFinite(item)),
    (kept) => ({ count: kept.length }),
  );
  const clean = steps.take("clean", "数据清洗", { count: valid.length }, () => [...new Set(valid)], (kept) => ({
    count: kept.length,
    removed: valid.length - kept.length,
  }));
  const analyzed = steps.take("analyze", "数据分析", { count: clean.length }, () => ({
    count: clean.length,
    mean: clean.length ? clean.reduce((sum, item) => sum + item, 0) / clean.length : null,
    max: clean.length ? clean.reduce((most, item) => Math.max(most, item)) : null,
  }));
  return { output: analyzed, format: "object", status: "success", intermediateSteps: steps.taken };
}
