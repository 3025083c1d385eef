export async function execute({ text }) {
  const steps = [];

  async function step(stepId, stepName, input, work) {
    const trace = { stepId, stepName, input, output: null, timestamp: Date.now() };
    const began = performance.now();
    try {
      trace.output = await work();
      return trace.output;
    } catch (error) {
      trace.error = error;
      throw Object.assign(error, { intermediateSteps: steps });
    } finally {
      trace.duration = performance.now() - began;
      steps.push(trace);
    }
  }

  await step("step-1", "验证输入", { text }, () => {
    if (!text.trim()) throw Object.assign(new TypeError("文字不能为空"), { code: "INVALID_PARAM" });
    return { valid: true };
  });
  const characters = await step("step-2", "处理数据", { text }, async () => [...text].length);
  const output = await step("step-3", "生成结果", { characters }, () => ({ characters, upper: text.toUpperCase() }));
  return { output, format: "object", status: "success", tokenUsage: 0, intermediateSteps: steps };
}
