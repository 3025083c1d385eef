export enum Weight {
  ordinary = 1,
  breach = 2,
}

/** 0 到 1，保留两位小数。 */
export function share(points: number, sentences: number): number {
  return sentences ? Math.round(Math.min(1, points / sentences) * 100) / 100 : 0;
}
