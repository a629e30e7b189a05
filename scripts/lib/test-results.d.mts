/** The part of vitest's JSON report that is read. */
export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly ancestorTitles: readonly string[];
      readonly title: string;
    }[];
  }[];
}

export interface Results {
  passed: number;
  readonly failed: string[];
  readonly repeated: string[];
  readonly skipped: string[];
}

export function resultsOf(report: Report, root: string): Results;
export function listOf(word: string, names: readonly string[], limit?: number): string;
