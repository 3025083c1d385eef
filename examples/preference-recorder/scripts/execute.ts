import { tidy } from "./helpers/text.ts";

export async function execute(parameters: Record<string, unknown>, context?: { userId?: string }) {
  const original = parameters.preference as string;
  const category = (parameters.category as string | undefined) ?? "general";
  const content = tidy(original);
  return {
    output: { message: "偏好已记下，等待审阅", preference: { content, category } },
    format: "object",
    status: "success",
    memoryWrites: [
      {
        ownerType: "user",
        ownerId: context?.userId ?? "anonymous",
        type: "preference",
        importance: (parameters.importance as number | undefined) ?? 3,
        content: `用户偏好：${content}`,
        metadata: { category, original },
      },
    ],
  };
}
