/** 去掉首尾空白和句末标点，把连续空白合成一个。 */
export function tidy(text: string): string {
  return text.trim().replace(/\s+/g, " ").replace(/[。．.!！\s]+$/u, "");
}
