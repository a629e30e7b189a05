/** The file of a package, downloaded if it is not installed; null if npm does not have the package. */
export declare function fileOf(part: readonly [name: string, path: string], version?: string): Promise<string | null>;
