interface Step {
  stepId: string;
  stepName: string;
  input: unknown;
  output: unknown;
  duration: number;
  timestamp: number;
}

/** 依次执行并记录每一步。 */
export class Steps {
  readonly taken: Step[] = [];

  take<T>(stepId: string, stepName: string, input: unknown, work: () => T, shown: (value: T) => unknown = (v) => v): T {
    const timestamp = Date.now();
    const began = performance.now();
    const value = work();
    this.taken.push({ stepId, stepName, input, output: shown(value), duration: performance.now() - began, timestamp });
    return value;
  }
}
