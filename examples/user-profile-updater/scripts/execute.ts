enum Field {
  name = "name",
  email = "email",
  city = "city",
  phone = "phone",
}

class InvalidField extends Error {
  code = "INVALID_PARAM";
  constructor(message: string, readonly intermediateSteps: unknown[]) {
    super(message);
  }
}

type Profile = Record<string, string>;

export async function execute(parameters: { updates: Profile; current?: Profile }, context?: { userId?: string }) {
  const { updates, current = {} } = parameters;
  const steps: Record<string, unknown>[] = [];

  let began = performance.now();
  const unknown = Object.keys(updates).filter((field) => !(field in Field));
  const step = { stepId: "validate", stepName: "验证更新", input: updates };
  if (unknown.length) {
    const error = new Error(`不认识的字段：${unknown.join("、")}`);
    steps.push({ ...step, output: null, duration: performance.now() - began, error });
    throw new InvalidField(error.message, steps);
  }
  steps.push({ ...step, output: updates, duration: performance.now() - began });

  began = performance.now();
  const oldValues = Object.fromEntries(Object.keys(updates).filter((f) => f in current).map((f) => [f, current[f]]));
  const updated = { profile: { ...current, ...updates }, oldValues };
  steps.push({
    stepId: "apply",
    stepName: "应用更新",
    input: updates,
    output: updated,
    duration: performance.now() - began,
  });

  const memoryWrites = Object.entries(updates).map(([field, value]) => ({
    ownerType: "user",
    ownerId: context?.userId ?? "anonymous",
    type: "fact",
    importance: field === Field.name || field === Field.email ? 5 : 3,
    content: `用户的${field}改为${value}`,
    metadata: { field, oldValue: oldValues[field], newValue: value },
  }));
  return { output: updated, format: "object", status: "success", memoryWrites, intermediateSteps: steps };
}
